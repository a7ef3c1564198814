#include "weft/ops/reduce.hpp"

#include "../../words.hpp"

using namespace words;

void wrong() {
  // errors: sum: name the axes to reduce, as in sum<Pos>(x)
  weft::sum(x);
  weft::sum(tokens);
  // errors: sum: the operand has no such axis
  weft::sum<KeyPos>(x);
  weft::sum<Embed>(tokens);
  weft::sum<Pos, KeyPos>(x);
  // errors: sum: the elements are not float; convert with weft::cast<float>
  weft::sum<Pos>(tokens);
  weft::sum<Pos>(causal);
  // errors: max: name the axes to reduce, as in max<Pos>(x)
  weft::max(x);
  weft::max(tokens);
  // errors: max: the operand has no such axis
  weft::max<KeyPos>(x);
  weft::max<Embed>(tokens);
  weft::max<Pos, KeyPos>(x);
  // errors: max: the elements are not float; convert with weft::cast<float>
  weft::max<Pos>(tokens);
  weft::max<Pos>(causal);
  // errors: mean: name the axes to reduce, as in mean<Pos>(x)
  weft::mean(x);
  weft::mean(tokens);
  // errors: mean: the operand has no such axis
  weft::mean<KeyPos>(x);
  weft::mean<Embed>(tokens);
  weft::mean<Pos, KeyPos>(x);
  // errors: mean: the elements are not float; convert with weft::cast<float>
  weft::mean<Pos>(tokens);
  weft::mean<Pos>(causal);
  // errors: sum: an axis is named twice
  weft::sum<Embed, Embed>(x);
  weft::sum<Pos, Batch, Pos>(tokens);
  // errors: max: an axis is named twice
  weft::max<Embed, Embed>(x);
  weft::max<Pos, Batch, Pos>(tokens);
  // errors: mean: an axis is named twice
  weft::mean<Embed, Embed>(x);
  weft::mean<Pos, Batch, Pos>(tokens);
}
