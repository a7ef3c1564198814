#include "weft/ops/dot.hpp"

#include "../../words.hpp"

using namespace words;

void wrong() {
  // errors: dot: the left operand has no such axis to contract
  dot<Heads>(x, w);
  dot<Embed, Heads>(x, w);
  dot<Vocab>(x, w);
  weft::dot<KeyPos>(query, key);
  // errors: dot: the right operand has no such axis to contract
  dot<Pos>(query, key);
  weft::dot<Pos>(x, w);
  // error: dot: name the axes to contract, as in dot<Embed>(x, w)
  weft::dot(x, w);
  // errors: dot: the operands' elements are not float; convert with weft::cast<float>
  dot<Pos>(tokens, x);
  dot<Vocab>(x, causal);
  weft::dot<Pos>(x, tokens);
  weft::dot<Pos>(causal, x);
  // error: dot: the operands have more than 8 axes between them
  dot<Level<4>>(five<float>, five_more<float>);
  // error: dot: an axis to contract is named twice
  dot<Embed, Embed>(x, w);
}
