#include "weft/nn/loss.hpp"

#include "../../words.hpp"
#include "weft/nn/norm.hpp"

using namespace words;
using namespace weft::nn;

void wrong(weft::scope s) {
  // error: nn::cross_entropy: the logits have no such axis of classes
  weft::nn::cross_entropy<Vocab>(x, tokens);
  // error: nn::cross_entropy: the targets are not int32
  weft::nn::cross_entropy<Embed>(x, floats<Batch, Pos>{});
  // error: nn::cross_entropy: the logits are not float; convert with weft::cast<float>
  weft::nn::cross_entropy<Pos>(tokens, tokens, {.label_smoothing = 0.1});
  // error: nn::cross_entropy: the targets have the axis of classes
  weft::nn::cross_entropy<Pos>(x, tokens);
  // error: nn::cross_entropy: the operands have more than 8 axes between them
  weft::nn::cross_entropy<Level<4>>(five_more<float>,
                                    integers<Level<0>, Level<1>, Level<2>, Level<3>>{});
  // errors: nn::binary_cross_entropy_with_logits: the elements are not float; convert with
  // weft::cast<float>
  binary_cross_entropy_with_logits(x, integers<Batch, Pos, Embed>{});
  binary_cross_entropy_with_logits(x, x, integers<Embed>{});
  // error: nn::binary_cross_entropy_with_logits: logits and targets differ in their axes
  binary_cross_entropy_with_logits(x, floats<Batch, Pos>{});
  // errors: nn::binary_cross_entropy_with_logits: pos_weight has an axis that the logits lack
  binary_cross_entropy_with_logits(x, x, floats<Heads>{});
  binary_cross_entropy_with_logits(x, x, floats<Embed>{}, floats<Embed>{});
  // errors: nn::batch_norm: the operand has no such axis
  batch_norm<Heads>(s, x);
  batch_norm<Heads>(s, x, {.epsilon = 1e-3});
  // error: nn::batch_norm: the elements are not float; convert with weft::cast<float>
  batch_norm<Pos>(s, tokens);
  // error: nn::batch_norm: it is called as batch_norm<Embed>(s, x, {.epsilon = 1e-5})
  batch_norm<Embed>(s, x, x);
}
