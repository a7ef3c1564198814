#include "weft/ops/reduce.hpp"

#include "../../words.hpp"

using namespace words;

void wrong() {
  // errors: sum: name the axes it runs along, as in sum<Pos>(x)
  weft::sum(x);
  weft::sum(tokens);
  // errors: sum: the operand has no such axis
  weft::sum<KeyPos>(x);
  weft::sum<Embed>(tokens);
  weft::sum<Pos, KeyPos>(x);
  // errors: sum: the elements are not float; convert with weft::cast<float>
  weft::sum<Pos>(tokens);
  weft::sum<Pos>(causal);
  // errors: max: name the axes it runs along, as in max<Pos>(x)
  weft::max(x);
  weft::max(tokens);
  // errors: max: the operand has no such axis
  weft::max<KeyPos>(x);
  weft::max<Embed>(tokens);
  weft::max<Pos, KeyPos>(x);
  // errors: max: the elements are not float; convert with weft::cast<float>
  weft::max<Pos>(tokens);
  weft::max<Pos>(causal);
  // errors: mean: name the axes it runs along, as in mean<Pos>(x)
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
  // error: min: name the axes it runs along, as in min<Pos>(x)
  weft::min(x);
  // error: min: the operand has no such axis
  weft::min<KeyPos>(x);
  // error: min: an axis is named twice
  weft::min<Embed, Embed>(x);
  // error: min: the elements are not float; convert with weft::cast<float>
  weft::min<Pos>(tokens);
  // error: variance: name the axes it runs along, as in variance<Pos>(x)
  weft::variance(x);
  // error: variance: the operand has no such axis
  weft::variance<KeyPos>(x);
  // error: variance: an axis is named twice
  weft::variance<Embed, Embed>(x);
  // error: variance: the elements are not float; convert with weft::cast<float>
  weft::variance<Pos>(tokens);
  // error: logsumexp: name the axes it runs along, as in logsumexp<Pos>(x)
  weft::logsumexp(x);
  // error: logsumexp: the operand has no such axis
  weft::logsumexp<KeyPos>(x);
  // error: logsumexp: an axis is named twice
  weft::logsumexp<Embed, Embed>(x);
  // error: logsumexp: the elements are not float; convert with weft::cast<float>
  weft::logsumexp<Pos>(tokens);
  // error: any: name the axes it runs along, as in any<Pos>(x)
  weft::any(causal);
  // error: any: the operand has no such axis
  weft::any<Embed>(causal);
  // error: any: an axis is named twice
  weft::any<Pos, Pos>(causal);
  // errors: any: the operand is no mask of booleans
  weft::any<Pos>(x);
  weft::any<Pos>(tokens);
  // error: all: name the axes it runs along, as in all<Pos>(x)
  weft::all(causal);
  // error: all: the operand has no such axis
  weft::all<Embed>(causal);
  // error: all: an axis is named twice
  weft::all<Pos, Pos>(causal);
  // errors: all: the operand is no mask of booleans
  weft::all<Pos>(x);
  weft::all<Pos>(tokens);
}
