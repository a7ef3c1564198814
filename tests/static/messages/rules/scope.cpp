#include "weft/graph/scope.hpp"

#include "../../words.hpp"

using namespace words;

void wrong(weft::scope s) {
  // errors: param: an axis is named twice; give the second role a name of its own with weft::alias
  s.param<"weight", Embed, Embed>();
  s.param<"weight", Embed, Heads, Embed>(weft::init::zeros());
  s.param<"weight", weft::shape<Embed, Heads>, Embed>();
  // errors: input: an axis is named twice; give the second role a name of its own with weft::alias
  s.input<"x", float, Pos, Pos>();
  // errors: input: elements are float, std::int32_t, bool or weft::bfloat16, named before the axes
  s.input<"x", Batch, Pos>();
  s.input<"x", double, Pos, Pos>();
  // errors: param: what stands for an axis is none; derive from weft::axis or weft::alias
  s.param<"weight", int>();
  s.param<"weight", weft::shape<Embed, int>>();
  // errors: input: what stands for an axis is none; derive from weft::axis or weft::alias
  s.input<"x", float, int>();
  // errors: param: a tensor has at most 8 axes
  s.param<"x", Batch, Pos, KeyPos, Embed, Heads, HeadDim, Vocab, Level<0>, Level<1>>();
  // errors: input: a tensor has at most 8 axes
  s.input<"x", bool, Batch, Pos, KeyPos, Embed, Heads, HeadDim, Vocab, Level<0>, Level<1>>();
  // errors: state: an axis is named twice; give the second role a name of its own with weft::alias
  s.state<"x", float, Pos, Pos>();
  // errors: state: elements are float, std::int32_t, bool or weft::bfloat16, named before the axes
  s.state<"x", Batch, Pos>();
  // errors: state: what stands for an axis is none; derive from weft::axis or weft::alias
  s.state<"x", float, int>();
  // errors: state: a tensor has at most 8 axes
  s.state<"x", bool, Batch, Pos, KeyPos, Embed, Heads, HeadDim, Vocab, Level<0>, Level<1>>();
  // error: update: the value's elements are not those of the state; convert with weft::cast
  s.update(integers<Batch>{}, floats<Batch>{});
  // error: update: the value's axes are not those of the state, in their order
  s.update(floats<Batch, Pos>{}, floats<Pos, Batch>{});
}
