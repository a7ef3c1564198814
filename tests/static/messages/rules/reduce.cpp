#include "weft/ops/reduce.hpp"

#include "../../words.hpp"

using namespace words;

void wrong() {
  // error: sum: name the axes to reduce, as in sum<Pos>(x)
  weft::sum(x);
  // error: sum: name the axes to reduce, as in sum<Pos>(x)
  weft::sum(tokens);
  // error: sum: the operand has no such axis
  weft::sum<KeyPos>(x);
  // error: sum: the operand has no such axis
  weft::sum<Embed>(tokens);
  // error: sum: the elements are not float; convert with weft::cast<float>
  weft::sum<Pos>(tokens);
  // error: max: name the axes to reduce, as in max<Pos>(x)
  weft::max(x);
  // error: max: name the axes to reduce, as in max<Pos>(x)
  weft::max(tokens);
  // error: max: the operand has no such axis
  weft::max<KeyPos>(x);
  // error: max: the operand has no such axis
  weft::max<Embed>(tokens);
  // error: max: the elements are not float; convert with weft::cast<float>
  weft::max<Pos>(tokens);
  // error: mean: name the axes to reduce, as in mean<Pos>(x)
  weft::mean(x);
  // error: mean: name the axes to reduce, as in mean<Pos>(x)
  weft::mean(tokens);
  // error: mean: the operand has no such axis
  weft::mean<KeyPos>(x);
  // error: mean: the operand has no such axis
  weft::mean<Embed>(tokens);
  // error: mean: the elements are not float; convert with weft::cast<float>
  weft::mean<Pos>(tokens);
  // error: sum: an axis is named twice
  weft::sum<Embed, Embed>(x);
  // error: max: an axis is named twice
  weft::max<Embed, Embed>(x);
  // error: mean: an axis is named twice
  weft::mean<Embed, Embed>(x);
  // error: sum: an axis is named twice
  weft::sum<Pos, Batch, Pos>(tokens);
  // error: max: an axis is named twice
  weft::max<Pos, Batch, Pos>(tokens);
  // error: mean: an axis is named twice
  weft::mean<Pos, Batch, Pos>(tokens);
}
