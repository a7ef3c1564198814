#include "weft/ops/gather.hpp"

#include "../../words.hpp"

using namespace words;

constexpr floats<Vocab, Embed> table{};

void wrong() {
  // error: gather: the indices are not int32
  weft::gather<Vocab>(table, x);
  // error: gather: the indices are not int32
  weft::gather<Heads>(table, causal);
  // error: gather: the table has no such axis
  weft::gather<Heads>(table, tokens);
  // error: gather: the indices have the axis that they pick from
  weft::gather<Pos>(x, tokens);
  // error: cross_entropy: the logits have no such axis of classes
  weft::cross_entropy<Vocab>(x, tokens);
  // error: cross_entropy: the logits have no such axis of classes
  weft::cross_entropy<Vocab>(x, x);
  // error: cross_entropy: the targets are not int32
  weft::cross_entropy<Embed>(x, x);
}
