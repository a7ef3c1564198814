#include "weft/ops/normalize.hpp"

#include "../../words.hpp"

using namespace words;

void wrong() {
  // error: softmax: name the axis it runs along, as in softmax<KeyPos>(x)
  weft::softmax(x);
  // error: softmax: the operand has no such axis
  weft::softmax<KeyPos>(x);
  // error: softmax: the operand has no such axis
  weft::softmax<Embed>(tokens);
  // error: softmax: the elements are not float; convert with weft::cast<float>
  weft::softmax<Pos>(tokens);
  // error: cumulative_sum: name the one axis it runs along, as in cumulative_sum<Pos>(x)
  weft::cumulative_sum(x);
  // error: cumulative_sum: name the one axis it runs along, as in cumulative_sum<Pos>(x)
  weft::cumulative_sum<Batch, Pos>(x);
  // error: cumulative_sum: the elements are not float; convert with weft::cast<float>
  weft::cumulative_sum<Pos>(tokens);
  // error: log_softmax: name the axis it runs along, as in log_softmax<KeyPos>(x)
  weft::log_softmax(x);
  // error: log_softmax: the operand has no such axis
  weft::log_softmax<KeyPos>(x);
  // error: log_softmax: the operand has no such axis
  weft::log_softmax<Embed>(tokens);
  // error: log_softmax: the elements are not float; convert with weft::cast<float>
  weft::log_softmax<Pos>(tokens);
  // error: normalize: name the axis it runs along, as in normalize<KeyPos>(x)
  weft::normalize(x);
  // error: normalize: the operand has no such axis
  weft::normalize<KeyPos>(x);
  // error: normalize: the operand has no such axis
  weft::normalize<Embed>(tokens);
  // error: normalize: the elements are not float; convert with weft::cast<float>
  weft::normalize<Pos>(tokens);
  // error: layer_norm: name the axes it runs along, as in layer_norm<Embed>(x, gain, bias)
  weft::layer_norm(x, gain, gain);
  // error: layer_norm: name the axes it runs along, as in layer_norm<Embed>(x, gain, bias)
  weft::layer_norm(x, w, gain);
  // error: layer_norm: the operand has no such axis
  weft::layer_norm<Heads>(x, gain, gain);
  // error: layer_norm: the operand has no such axis
  weft::layer_norm<Heads>(x, w, gain);
  // error: layer_norm: gain or bias has an axis that the operand has not
  weft::layer_norm<Embed>(x, w, gain);
  // error: layer_norm: gain or bias has an axis that the operand has not
  weft::layer_norm<Embed>(x, gain, w);
  // error: softmax: an axis is named twice
  weft::softmax<Embed, Embed>(x);
  // error: log_softmax: an axis is named twice
  weft::log_softmax<Embed, Embed>(x);
  // error: normalize: an axis is named twice
  weft::normalize<Embed, Embed>(x);
  // error: softmax: an axis is named twice
  weft::softmax<Pos, Batch, Pos>(tokens);
  // error: log_softmax: an axis is named twice
  weft::log_softmax<Pos, Batch, Pos>(tokens);
  // error: normalize: an axis is named twice
  weft::normalize<Pos, Batch, Pos>(tokens);
  // error: layer_norm: an axis is named twice
  weft::layer_norm<Embed, Embed>(x, gain, gain);
  // error: layer_norm: the elements are not float; convert with weft::cast<float>
  weft::layer_norm<Pos>(tokens, gain, gain);
  // error: layer_norm: gain or bias is not float; convert with weft::cast<float>
  weft::layer_norm<Embed>(x, integers<Embed>{}, gain);
  // error: layer_norm: gain or bias is not float; convert with weft::cast<float>
  weft::layer_norm<Embed>(x, w, integers<Embed>{});
  // error: rms_norm: name the axes it runs along, as in rms_norm<Embed>(x, weight)
  weft::rms_norm(x);
  // error: rms_norm: name the axes it runs along, as in rms_norm<Embed>(x, weight)
  weft::rms_norm(x, gain);
  // error: rms_norm: the operand has no such axis
  weft::rms_norm<Heads>(x);
  // error: rms_norm: the operand has no such axis
  weft::rms_norm<Heads>(x, gain);
  // error: rms_norm: an axis is named twice
  weft::rms_norm<Embed, Embed>(x);
  // error: rms_norm: an axis is named twice
  weft::rms_norm<Embed, Embed>(x, gain);
  // error: rms_norm: the elements are not float; convert with weft::cast<float>
  weft::rms_norm<Pos>(tokens);
  // error: rms_norm: the elements are not float; convert with weft::cast<float>
  weft::rms_norm<Pos>(tokens, gain);
  // error: rms_norm: the weight is not float; convert with weft::cast<float>
  weft::rms_norm<Embed>(x, integers<Embed>{});
  // error: rms_norm: the weight has an axis that the operand has not
  weft::rms_norm<Embed>(x, w);
}
