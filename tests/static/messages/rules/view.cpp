#include "weft/ops/view.hpp"

#include "../../words.hpp"

using namespace words;

struct OtherPos : weft::axis<weft::up_to<512>> {};
struct OpenInner : weft::axis<weft::up_to<64>> {};
struct Eight : weft::axis<8> {};
constexpr floats<Pos> positions{};
struct Channels : weft::axis<384> {};
struct Blocks : weft::axis<weft::up_to<128>> {};
struct FixedBlocks : weft::axis<128> {};
struct InnerPos : weft::axis<weft::up_to<4>> {};
struct Tail : weft::axis<weft::up_to<412>> {};
struct Four : weft::axis<4> {};
struct Three : weft::axis<3> {};
struct Two : weft::axis<2> {};
struct One : weft::axis<1> {};
struct AtMostOne : weft::axis<weft::up_to<1>> {};
constexpr floats<Batch, Pos, Embed, Vocab, Level<0>, Level<1>, Level<2>, Heads> eight{};

void wrong() {
  // errors: rename: the operand has no such axis
  weft::rename<Heads, HeadDim>(x);
  weft::rename<int, Embed>(x);
  weft::rename<KeyPos, Pos>(x);
  // errors: rename: the operand has an axis of the new name already
  weft::rename<Pos, Embed>(x);
  weft::rename<Pos, KeyPos>(floats<Pos, KeyPos>{});
  // errors: rename: the two axes' lengths differ; declare one as weft::alias of the other
  weft::rename<Embed, Heads>(x);
  weft::rename<Pos, OtherPos>(x);
  weft::rename<Pos, Channels>(x);
  // errors: split: the operand has no such axis
  weft::split<Vocab, Heads, HeadDim>(x);
  weft::split<int, Heads, HeadDim>(x);
  weft::split<Embed, Heads, HeadDim>(query);
  // errors: split: a new axis is named twice, or the operand has it already
  weft::split<Embed, Heads, HeadDim>(w);
  weft::split<Embed, Heads, Heads>(x);
  // errors: split: the product of the new axes' extents is not the axis's extent
  weft::split<Embed, Heads, Vocab>(x);
  weft::split<Embed, Heads, Four>(x);
  // errors: split: where the length is known at run time, the outermost new axis has it, and no
  // other
  weft::split<Pos, Batch, OpenInner>(positions);
  weft::split<Pos, Eight, HeadDim>(positions);
  weft::split<Pos, FixedBlocks, InnerPos>(x);
  weft::split<Pos, Blocks, InnerPos>(x);
  weft::split<Pos, FixedBlocks, Four>(x);
  // error: merge: the operand has no such axis
  weft::merge<Embed, Heads, HeadDim>(x);
  // errors: merge: name the axes to join, as in merge<Embed, Heads, HeadDim>(x)
  weft::merge<Embed>(x);
  // errors: merge: an axis is named twice, or the operand has the new axis already
  weft::merge<Embed, Heads, HeadDim>(w);
  weft::merge<Embed, Heads, Heads>(query);
  // error: merge: the new axis's extent is not the product of the others'
  weft::merge<Vocab, Heads, HeadDim>(query);
  // errors: merge: where a length is known at run time, it is the outermost axis's, and the new
  // one's
  weft::merge<Pos, Batch, OpenInner>(floats<Batch, OpenInner>{});
  weft::merge<Pos, Four, Blocks>(floats<Four, Blocks>{});
  weft::merge<Pos, FixedBlocks, Four>(floats<FixedBlocks, Four>{});
  // errors: slice: the operand has no such axis
  weft::slice<Heads, Batch>(x);
  // errors: slice: the operand has an axis of the new name already
  weft::slice<Embed, Heads>(w);
  weft::slice<Heads, HeadDim>(query);
  // errors: slice: the part ends beyond the axis
  weft::slice<Embed, HeadDim, 321>(x);
  weft::slice<Embed, Vocab>(x);
  weft::slice<Embed, HeadDim, static_cast<std::size_t>(-64)>(x);
  // errors: slice: a part whose length is known at run time takes the rest of such an axis
  weft::slice<Pos, OpenInner>(x);
  weft::slice<Embed, OpenInner, 320>(x);
  weft::slice<Pos, Tail, 99>(x);
  weft::slice<Embed, InnerPos, 380>(x);
  // error: rename: the new name is not an axis
  weft::rename<Embed, int>(x);
  // errors: split: name the new axes, as in split<Embed, Heads, HeadDim>(x)
  weft::split<Embed>(x);
  weft::split<Heads>(x);
  // errors: split: what is to be new is not an axis
  weft::split<Embed, int, HeadDim>(x);
  weft::split<Embed, weft::shape<Heads, HeadDim>>(x);
  // error: split: the result has more than 8 axes
  weft::split<Heads, Two, Three>(eight);
  // error: merge: what is to be new is not an axis
  weft::merge<int, Heads, HeadDim>(query);
  // error: slice: what is to be new is not an axis
  weft::slice<Embed, int>(x);
  // errors: squeeze: the operand has no such axis
  weft::squeeze<Heads>(x);
  weft::squeeze<int>(x);
  // errors: squeeze: the axis does not always have one element
  weft::squeeze<Embed>(x);
  weft::squeeze<AtMostOne>(floats<AtMostOne>{});
  // error: unsqueeze: the operand has the axis already
  weft::unsqueeze<One>(floats<One>{});
  // errors: unsqueeze: what is to be new is no axis of one element
  weft::unsqueeze<int>(x);
  weft::unsqueeze<AtMostOne>(x);
  // error: unsqueeze: the result has more than 8 axes
  weft::unsqueeze<One>(eight);
  // error: unstack: the operand has no such axis
  weft::unstack<Heads>(x);
  // error: unstack: the length of the axis is known at run time only
  weft::unstack<Pos>(x);
}
