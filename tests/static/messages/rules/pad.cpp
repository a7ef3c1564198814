#include "weft/ops/pad.hpp"

#include "../../words.hpp"

using namespace words;
using weft::pad, weft::padding, weft::padding_mode;

struct Whole : weft::axis<weft::up_to<515>> {};
struct Fixed : weft::axis<515> {};
struct OfHeads : weft::axis<12> {};
constexpr padding some{.left = 1, .right = 2};

void wrong() {
  // error: pad: the operand has no such axis
  pad<Heads, Whole, some>(x);
  // error: pad: what is to be new is not an axis
  pad<Pos, int, some>(x);
  // errors: pad: the operand has the new axis already
  pad<Pos, Pos, some>(x);
  pad<Pos, Embed, some>(x);
  // error: pad: the new axis's extent is not left + extent + right; see pad_extent<has to be, is>
  // note: pad_extent<514, 515>
  pad<Pos, Whole, padding{.left = 2}>(x);
  // error: pad: a length known at run time only gives such a length
  pad<Pos, Fixed, some>(x);
  // error: pad: fewer elements are reflected than the axis has
  pad<Heads, OfHeads, padding{.left = 6, .mode = padding_mode::reflected}>(w);
  // errors: pad: a value is a number of the operand's elements, instead of zeros
  pad<Pos, Whole, some>(tokens, 0.5);
  pad<Pos, Whole, some>(x, x);
  pad<Pos, Whole, padding{.left = 1, .right = 2, .mode = padding_mode::replicated}>(x, 1);
  // error: flip: the operand has no such axis
  weft::flip<Heads>(x);
}
