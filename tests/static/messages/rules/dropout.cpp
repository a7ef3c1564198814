#include "weft/ops/dropout.hpp"

#include "../../words.hpp"

using namespace words;

void wrong() {
  // error: dropout: the elements are not float; convert with weft::cast<float>
  weft::dropout(tokens, 0.1);
  // error: dropout: the elements are not float; convert with weft::cast<float>
  weft::dropout(causal, 0.1);
  // error: dropout: the operand depends on no input and no parameter
  weft::dropout(weft::length<Batch, Pos>(), 0.1);
}
