#include "weft/ops/dot.hpp"

#include "../../words.hpp"

using namespace words;

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
  dot<Level<4>>(five<float>, five_more<float>);
  // error: dot: an axis to contract is named twice
  dot<Embed, Embed>(x, w);
}
