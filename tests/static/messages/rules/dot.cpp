#include "weft/ops/dot.hpp"

#include "../../words.hpp"

using namespace words;

template <int N>
struct Level : weft::axis<N + 2> {};
constexpr floats<Level<0>, Level<1>, Level<2>, Level<3>, Level<4>> five{};
constexpr floats<Level<4>, Level<5>, Level<6>, Level<7>, Level<8>> five_more{};

void wrong() {
  // error: dot: the left operand has no such axis to contract
  dot<Heads>(x, w);
  // error: dot: the left operand has no such axis to contract
  dot<Embed, Heads>(x, w);
  // error: dot: the left operand has no such axis to contract
  dot<Vocab>(x, w);
  // error: dot: the right operand has no such axis to contract
  dot<Pos>(query, key);
  // error: dot: name the axes to contract, as in dot<Embed>(x, w)
  weft::dot(x, w);
  // error: dot: the operands' elements are not float; convert with weft::cast<float>
  dot<Pos>(tokens, x);
  // error: dot: the operands' elements are not float; convert with weft::cast<float>
  dot<Vocab>(x, causal);
  // error: dot: the operands have more than 8 axes between them
  dot<Level<4>>(five, five_more);
}
