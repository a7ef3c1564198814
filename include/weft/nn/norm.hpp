// Normalizations with parameters: x float [..., Embed, ...] to the same axes.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/scope.hpp"
#include "weft/nn/layer_rules.hpp"
#include "weft/ops/functions.hpp"
#include "weft/ops/normalize.hpp"
#include "weft/ops/view.hpp"

namespace weft::nn {

// (x - mean) / sqrt(variance + epsilon) · weight + bias over Embed (Ba et al. 2016, equation 4), as
// torch.nn.LayerNorm. Parameters: weight [Embed], initially ones, and with options.bias, bias
// [Embed], zeros.
template <class Embed, expression X>
constexpr auto layer_norm(scope s, const X& x, norm_options options = {}) {
  const auto y = normalize<Embed>(x, options) * s.param<"weight", Embed>(init::ones());
  return options.bias ? y + s.param<"bias", Embed>(init::zeros()) : y;
}

// x / sqrt(mean(x²) + epsilon) · weight over Embed (Zhang and Sennrich 2019, equation 4, with an
// epsilon as in Llama), as torch.nn.RMSNorm. Parameter: weight [Embed], initially ones.
template <class Embed, expression X>
constexpr auto rms_norm(scope s, const X& x, norm_options options = {}) {
  return weft::rms_norm<Embed>(x, s.param<"weight", Embed>(init::ones()), options);
}

// (x - running_mean) / sqrt(running_var + epsilon) · weight + bias for each of Channels (Ioffe and
// Szegedy 2015, algorithm 2), as torch.nn.BatchNorm1d and BatchNorm2d in evaluation: x times a
// scale plus a shift, which are computed once for each channel. Parameters, all [Channels]: weight
// and running_var, initially ones, bias and running_mean, zeros. The statistics get no gradient.
// weft::folded_batch_norm adds all of it to the layer before.
template <class Channels, expression X>
constexpr auto batch_norm(scope s, const X& x, norm_options options = {}) {
  const auto weight = s.param<"weight", Channels>(init::ones());
  const auto bias = s.param<"bias", Channels>(init::zeros());
  const auto mean = stop_gradient(s.param<"running_mean", Channels>(init::zeros()));
  const auto variance = stop_gradient(s.param<"running_var", Channels>(init::ones()));
  const auto scale = weight / sqrt(variance + options.epsilon);
  return x * scale + (bias - mean * scale);
}

#define WEFT_REJECT_NORM(norm)                                                              \
  WEFT_REJECT_IF((class Embed, expression X), (weft::detail::rule_of_axes<X, Embed>()),     \
                 norm(scope, const X&, norm_options = {}), WEFT_NO_SUCH_AXIS("nn::" #norm), \
                 WEFT_NOT_FLOAT("nn::" #norm))                                              \
  WEFT_REJECT_OTHER_CALLS(norm, #norm "<Embed>(s, x, {.epsilon = 1e-5})")

WEFT_REJECT_NORM(layer_norm)
WEFT_REJECT_NORM(rms_norm)
WEFT_REJECT_NORM(batch_norm)
#undef WEFT_REJECT_NORM

}  // namespace weft::nn
#include "weft/header_end.hpp"
