#include "weft/ops/view.hpp"

#include "../../words.hpp"

using namespace words;

struct OtherPos : weft::axis<weft::up_to<512>> {};
struct OpenInner : weft::axis<weft::up_to<64>> {};
struct Eight : weft::axis<8> {};
constexpr floats<Pos> positions{};
struct Three : weft::axis<3> {};
struct Two : weft::axis<2> {};
constexpr floats<Batch, Pos, Embed, Vocab, Level<0>, Level<1>, Level<2>, Heads> eight{};

void wrong() {
  // error: rename: the operand has no such axis
  weft::rename<Heads, HeadDim>(x);
  // error: rename: the operand has an axis of the new name already
  weft::rename<Pos, Embed>(x);
  // error: rename: the two axes' lengths differ; declare one as weft::alias of the other
  weft::rename<Embed, Heads>(x);
  // error: rename: the two axes' lengths differ; declare one as weft::alias of the other
  weft::rename<Pos, OtherPos>(x);
  // error: split: the operand has no such axis
  weft::split<Vocab, Heads, HeadDim>(x);
  // error: split: a new axis is named twice, or the operand has it already
  weft::split<Embed, Heads, HeadDim>(w);
  // error: split: a new axis is named twice, or the operand has it already
  weft::split<Embed, Heads, Heads>(x);
  // error: split: the product of the new axes' extents is not the axis's extent
  weft::split<Embed, Heads, Vocab>(x);
  // error: split: where the length is known at run time, the outermost new axis has it, and no
  // other
  weft::split<Pos, Batch, OpenInner>(positions);
  // error: split: where the length is known at run time, the outermost new axis has it, and no
  // other
  weft::split<Pos, Eight, HeadDim>(positions);
  // error: merge: the operand has no such axis
  weft::merge<Embed, Heads, HeadDim>(x);
  // error: merge: name the axes to join, as in merge<Embed, Heads, HeadDim>(x)
  weft::merge<Embed>(x);
  // error: merge: an axis is named twice, or the operand has the new axis already
  weft::merge<Embed, Heads, HeadDim>(w);
  // error: merge: an axis is named twice, or the operand has the new axis already
  weft::merge<Embed, Heads, Heads>(query);
  // error: merge: the new axis's extent is not the product of the others'
  weft::merge<Vocab, Heads, HeadDim>(query);
  // error: merge: where a length is known at run time, it is the outermost axis's, and the new
  // one's
  weft::merge<Pos, Batch, OpenInner>(floats<Batch, OpenInner>{});
  // error: slice: the operand has no such axis
  weft::slice<Heads, Batch>(x);
  // error: slice: the operand has an axis of the new name already
  weft::slice<Embed, Heads>(w);
  // error: slice: the operand has an axis of the new name already
  weft::slice<Heads, HeadDim>(query);
  // error: slice: the part ends beyond the axis
  weft::slice<Embed, HeadDim, 321>(x);
  // error: slice: the part ends beyond the axis
  weft::slice<Embed, Vocab>(x);
  // error: slice: a part whose length is known at run time takes the rest of such an axis
  weft::slice<Pos, OpenInner>(x);
  // error: slice: a part whose length is known at run time takes the rest of such an axis
  weft::slice<Embed, OpenInner, 320>(x);
  // error: rename: the new name is not an axis
  weft::rename<Embed, int>(x);
  // error: rename: the operand has no such axis
  weft::rename<int, Embed>(x);
  // error: split: name the new axes, as in split<Embed, Heads, HeadDim>(x)
  weft::split<Embed>(x);
  // error: split: name the new axes, as in split<Embed, Heads, HeadDim>(x)
  weft::split<Heads>(x);
  // error: split: what is to be new is not an axis
  weft::split<Embed, int, HeadDim>(x);
  // error: split: what is to be new is not an axis
  weft::split<Embed, weft::shape<Heads, HeadDim>>(x);
  // error: split: the result has more than 8 axes
  weft::split<Heads, Two, Three>(eight);
  // error: merge: what is to be new is not an axis
  weft::merge<int, Heads, HeadDim>(query);
  // error: slice: what is to be new is not an axis
  weft::slice<Embed, int>(x);
  // error: slice: the part ends beyond the axis
  weft::slice<Embed, HeadDim, static_cast<std::size_t>(-64)>(x);
}
