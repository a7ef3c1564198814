// Normalizations with parameters: x float [..., Embed, ...] to the same axes.
#pragma once

#include "weft/graph/scope.hpp"
#include "weft/nn/layer_rules.hpp"
#include "weft/ops/normalize.hpp"

namespace weft::nn {

// (x - mean) / sqrt(variance + epsilon) · weight + bias over Embed (Ba et al. 2016, equation 4), as
// torch.nn.LayerNorm. Parameters: weight [Embed], initially ones, and bias [Embed], zeros.
template <class Embed, expression X>
constexpr auto layer_norm(scope s, const X& x, norm_options options = {}) {
  const auto weight = s.param<"weight", Embed>(init::ones());
  const auto bias = s.param<"bias", Embed>(init::zeros());
  return weft::layer_norm<Embed>(x, weight, bias, options);
}
WEFT_REJECT_IF((class Embed, expression X), (weft::detail::rule_of_axes<X, Embed>()),
               layer_norm(scope, const X&, norm_options = {}), WEFT_NO_SUCH_AXIS("nn::layer_norm"),
               WEFT_NOT_FLOAT("nn::layer_norm"))

// x / sqrt(mean(x²) + epsilon) · weight over Embed (Zhang and Sennrich 2019, equation 4, with an
// epsilon as in Llama), as torch.nn.RMSNorm. Parameter: weight [Embed], initially ones.
template <class Embed, expression X>
constexpr auto rms_norm(scope s, const X& x, norm_options options = {}) {
  return weft::rms_norm<Embed>(x, s.param<"weight", Embed>(init::ones()), options);
}
WEFT_REJECT_IF((class Embed, expression X), (weft::detail::rule_of_axes<X, Embed>()),
               rms_norm(scope, const X&, norm_options = {}), WEFT_NO_SUCH_AXIS("nn::rms_norm"),
               WEFT_NOT_FLOAT("nn::rms_norm"))

WEFT_REJECT_OTHER_CALLS(layer_norm, "layer_norm<Embed>(s, x, {.epsilon = 1e-5})")

WEFT_REJECT_OTHER_CALLS(rms_norm, "rms_norm<Embed>(s, x, {.epsilon = 1e-5})")

}  // namespace weft::nn
