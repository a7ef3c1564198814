#include "weft/graph/scope.hpp"

#include "../../words.hpp"

using namespace words;

void wrong(weft::scope s) {
  // error: param: an axis is named twice; give the second role a name of its own with weft::alias
  s.param<"weight", Embed, Embed>();
  // error: param: an axis is named twice; give the second role a name of its own with weft::alias
  s.param<"weight", Embed, Heads, Embed>(weft::init::zeros());
  // error: input: an axis is named twice; give the second role a name of its own with weft::alias
  s.input<"x", float, Pos, Pos>();
  // error: input: elements are float, std::int32_t, bool or weft::bfloat16, named before the axes
  s.input<"x", Batch, Pos>();
  // error: input: elements are float, std::int32_t, bool or weft::bfloat16, named before the axes
  s.input<"x", double, Pos, Pos>();
  // error: param: what stands for an axis is none; derive from weft::axis or weft::alias
  s.param<"weight", int>();
  // error: param: what stands for an axis is none; derive from weft::axis or weft::alias
  s.param<"weight", weft::shape<Embed, int>>();
  // error: input: what stands for an axis is none; derive from weft::axis or weft::alias
  s.input<"x", float, int>();
  // error: param: a tensor has at most 8 axes
  s.param<"x", Batch, Pos, KeyPos, Embed, Heads, HeadDim, Vocab, Level<0>, Level<1>>();
  // error: input: a tensor has at most 8 axes
  s.input<"x", bool, Batch, Pos, KeyPos, Embed, Heads, HeadDim, Vocab, Level<0>, Level<1>>();
  // error: state: an axis is named twice; give the second role a name of its own with weft::alias
  s.state<"x", float, Pos, Pos>();
  // error: state: elements are float, std::int32_t, bool or weft::bfloat16, named before the axes
  s.state<"x", Batch, Pos>();
  // error: state: what stands for an axis is none; derive from weft::axis or weft::alias
  s.state<"x", float, int>();
  // error: state: a tensor has at most 8 axes
  s.state<"x", bool, Batch, Pos, KeyPos, Embed, Heads, HeadDim, Vocab, Level<0>, Level<1>>();
  // error: update: the value's elements are not those of the state; convert with weft::cast
  s.update(integers<Batch>{}, floats<Batch>{});
  // error: update: the value's axes are not those of the state, in their order
  s.update(floats<Batch, Pos>{}, floats<Pos, Batch>{});
}
