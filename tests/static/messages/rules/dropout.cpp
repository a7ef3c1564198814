#include "weft/ops/dropout.hpp"

#include "../../words.hpp"

using namespace words;

constexpr auto length = weft::length<Batch, Pos>();

void wrong() {
  // errors: dropout: the elements are not float; convert with weft::cast<float>
  weft::dropout(tokens, 0.1);
  weft::dropout(causal, 0.1);
  // error: dropout: the operand depends on no input and no parameter
  weft::dropout(length, 0.1);
}
