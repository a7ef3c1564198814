// Normalisations with parameters: x float [..., Embed, ...] to the same axes.
#pragma once

#include "weft/graph/reject.hpp"
#include "weft/graph/scope.hpp"
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
template <class Embed, expression X>
requires(weft::detail::rule_of_axes<X, Embed>() != rule::none)
    WEFT_REJECT((weft::detail::rule_of_axes<X, Embed>()),
                layer_norm(scope, const X&, norm_options = {}),
                (missing, "nn::layer_norm: the operand has no such axis"),
                (elements,
                 "nn::layer_norm: the elements are not float; convert with weft::cast<float>"))

// x / sqrt(mean(x²) + epsilon) · weight over Embed (Zhang and Sennrich 2019, equation 4, with an
// epsilon as in Llama), as torch.nn.RMSNorm. Parameter: weight [Embed], initially ones.
template <class Embed, expression X>
constexpr auto rms_norm(scope s, const X& x, norm_options options = {}) {
  return weft::rms_norm<Embed>(x, s.param<"weight", Embed>(init::ones()), options);
}
template <class Embed, expression X>
requires(weft::detail::rule_of_axes<X, Embed>() != rule::none)
    WEFT_REJECT((weft::detail::rule_of_axes<X, Embed>()),
                rms_norm(scope, const X&, norm_options = {}),
                (missing, "nn::rms_norm: the operand has no such axis"),
                (elements,
                 "nn::rms_norm: the elements are not float; convert with weft::cast<float>"))

template <class... Axes, class... Args>
WEFT_REJECT((rule::no_axes), layer_norm(scope, const Args&...),
            (no_axes, "nn::layer_norm: it is called as layer_norm<Embed>(s, x, {.epsilon = 1e-5})"))

template <class... Axes, class... Args>
WEFT_REJECT((rule::no_axes), rms_norm(scope, const Args&...),
            (no_axes, "nn::rms_norm: it is called as rms_norm<Embed>(s, x, {.epsilon = 1e-5})"))

}  // namespace weft::nn
