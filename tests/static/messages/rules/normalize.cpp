#include "weft/ops/normalize.hpp"

#include "../../words.hpp"

using namespace words;

void wrong() {
  // error: softmax: name the axes it runs along, as in softmax<Pos>(x)
  weft::softmax(x);
  // errors: softmax: the operand has no such axis
  weft::softmax<KeyPos>(x);
  weft::softmax<Embed>(tokens);
  // errors: softmax: the elements are not float; convert with weft::cast<float>
  weft::softmax<Pos>(tokens);
  weft::softmax<Pos>(causal);
  // errors: cumulative_sum: name the one axis it runs along, as in cumulative_sum<Pos>(x)
  weft::cumulative_sum(x);
  weft::cumulative_sum<Batch, Pos>(x);
  // error: cumulative_sum: the elements are not float; convert with weft::cast<float>
  weft::cumulative_sum<Pos>(tokens);
  // error: log_softmax: name the axes it runs along, as in log_softmax<Pos>(x)
  weft::log_softmax(x);
  // errors: log_softmax: the operand has no such axis
  weft::log_softmax<KeyPos>(x);
  weft::log_softmax<Embed>(tokens);
  // error: log_softmax: the elements are not float; convert with weft::cast<float>
  weft::log_softmax<Pos>(tokens);
  // error: normalize: name the axes it runs along, as in normalize<Pos>(x)
  weft::normalize(x);
  // errors: normalize: the operand has no such axis
  weft::normalize<KeyPos>(x);
  weft::normalize<Embed>(tokens);
  // error: normalize: the elements are not float; convert with weft::cast<float>
  weft::normalize<Pos>(tokens);
  // errors: layer_norm: name the axes it runs along, as in layer_norm<Embed>(x, gain, bias)
  weft::layer_norm(x, gain, gain);
  weft::layer_norm(x, w, gain);
  // errors: layer_norm: the operand has no such axis
  weft::layer_norm<Heads>(x, gain, gain);
  weft::layer_norm<Heads>(x, w, gain);
  // errors: layer_norm: gain or bias has an axis that the operand lacks
  weft::layer_norm<Embed>(x, w, gain);
  weft::layer_norm<Embed>(x, gain, w);
  // errors: softmax: an axis is named twice
  weft::softmax<Embed, Embed>(x);
  weft::softmax<Pos, Batch, Pos>(tokens);
  // errors: log_softmax: an axis is named twice
  weft::log_softmax<Embed, Embed>(x);
  weft::log_softmax<Pos, Batch, Pos>(tokens);
  // errors: normalize: an axis is named twice
  weft::normalize<Embed, Embed>(x);
  weft::normalize<Pos, Batch, Pos>(tokens);
  // error: layer_norm: an axis is named twice
  weft::layer_norm<Embed, Embed>(x, gain, gain);
  // errors: layer_norm: the elements are not float; convert with weft::cast<float>
  weft::layer_norm<Pos>(tokens, gain, gain);
  // errors: layer_norm: gain or bias is not float; convert with weft::cast<float>
  weft::layer_norm<Embed>(x, integers<Embed>{}, gain);
  weft::layer_norm<Embed>(x, gain, integers<Embed>{});
  // error: rms_norm: name the axes it runs along, as in rms_norm<Pos>(x)
  weft::rms_norm(x);
  // error: rms_norm: name the axes it runs along, as in rms_norm<Embed>(x, weight)
  weft::rms_norm(x, gain);
  // errors: rms_norm: the operand has no such axis
  weft::rms_norm<Heads>(x);
  weft::rms_norm<Heads>(x, gain);
  // errors: rms_norm: an axis is named twice
  weft::rms_norm<Embed, Embed>(x);
  weft::rms_norm<Embed, Embed>(x, gain);
  // errors: rms_norm: the elements are not float; convert with weft::cast<float>
  weft::rms_norm<Pos>(tokens);
  weft::rms_norm<Pos>(tokens, gain);
  // error: rms_norm: the weight is not float; convert with weft::cast<float>
  weft::rms_norm<Embed>(x, integers<Embed>{});
  // errors: rms_norm: the weight has an axis that the operand lacks
  weft::rms_norm<Embed>(x, w);
}
