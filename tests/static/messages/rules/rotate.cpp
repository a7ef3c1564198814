#include "weft/ops/rotate.hpp"

#include "../../words.hpp"

using namespace words;

struct Half : weft::axis<32> {};
struct Many : weft::axis<33> {};

constexpr floats<Pos, Half> angle{};

void wrong() {
  // error: rotate: the operand has no such axis
  weft::rotate<HeadDim, Half>(x, angle, angle);
  // errors: rotate: the elements are not float; convert with weft::cast<float>
  weft::rotate<HeadDim, Half>(query, angle, masks<Half>{});
  weft::rotate<HeadDim, Half>(integers<HeadDim>{}, angle, angle);
  // error: rotate: the cosines or the sines lack the axis of the pairs
  weft::rotate<HeadDim, Half>(query, angle, floats<Pos>{});
  // error: rotate: the number of pairs is known while compiling
  weft::rotate<HeadDim, Pos>(query, angle, angle);
  // error: rotate: there are more pairs than half of the axis
  weft::rotate<HeadDim, Many>(query, floats<Many>{}, floats<Many>{});
  // errors: rotate: the operand has the axis of the pairs, or an angle that of the numbers
  weft::rotate<HeadDim, Half>(floats<Half, HeadDim>{}, angle, angle);
  weft::rotate<Level<4>, Level<0>>(five_more<float>, five<float>, five<float>);
  // error: rotate: the operands have more than 8 axes between them
  weft::rotate<HeadDim, Half>(
      floats<Level<0>, Level<1>, Level<2>, Level<3>, Level<4>, Level<5>, HeadDim>{},
      floats<Half, Level<6>, Level<7>>{}, floats<Half>{});
}
