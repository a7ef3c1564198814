// Normalizations over the axes K jointly, which stay: x float [..., K..., ...] to float of the same
// axes. No axes, an axis that x does not have or that is named twice, and other dtypes do not
// compile.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/reject.hpp"
#include "weft/graph/tensor.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/reduce.hpp"

namespace weft {

// Options of normalizations.
struct norm_options {
  double epsilon = 1e-5;  // added to the variance, or to the mean square
  bool bias = true;       // whether nn::layer_norm adds one
};

namespace detail {

template <op Kind, class... K, expression X>
constexpr auto along(const X& x) {
  return append<float, shape_t<X>>(make_node(Kind, axes_of(shape<K...>{})), x);
}
template <op Kind, class... K, expression X>
constexpr auto along(const X& x, double epsilon) {
  node n = make_node(Kind, axes_of(shape<K...>{}));
  typename of<Kind>::scalar{}(n) = epsilon;
  return append<float, shape_t<X>>(n, x);
}

// As rule_of_axes, with a gain G and a bias B.
template <expression X, expression G, expression B, class... K>
constexpr rule rule_of_scaled() {
  if (rule_of_axes<X, K...>() != rule::none) return rule_of_axes<X, K...>();
  if (!floating<G> || !floating<B>) return rule::gain;
  if (!subset<shape_t<G>, shape_t<X>> || !subset<shape_t<B>, shape_t<X>>) return rule::surplus;
  return rule::none;
}

// As rule_of_axes, of an operation that runs along a single axis.
template <class X, class... K>
constexpr rule rule_along_one() {
  return sizeof...(K) == 1 ? rule_of_axes<X, K...>() : rule::no_axes;
}

}  // namespace detail

// exp(x) / sum over K of exp(x) (torch.softmax), computed from x - max(x). A row of which every
// element is -infinity, or that has no element, is 0 (ONNX's rule; PyTorch gives NaN). A row with
// NaN or +infinity is all NaN.
template <class... K, expression X>
constexpr auto softmax(const X& x) {
  return detail::along<op::softmax, K...>(x);
}
WEFT_REJECT_ALONG(softmax, float)

// log(softmax<K...>(x)) (torch.log_softmax), computed as x - max - log(sum exp(x - max)). A row of
// which every element is -infinity is -infinity.
template <class... K, expression X>
constexpr auto log_softmax(const X& x) {
  return detail::along<op::log_softmax, K...>(x);
}
WEFT_REJECT_ALONG(log_softmax, float)

// (x - mean) / sqrt(variance + epsilon), with the mean and the biased variance over K (Ba et al.
// 2016, equation 3, without gain and bias).
template <class... K, expression X>
constexpr auto normalize(const X& x, norm_options options = {}) {
  return detail::along<op::normalize, K...>(x, options.epsilon);
}
WEFT_REJECT_ALONG(normalize, float, norm_options = {})

// normalize<K...>(x) * gain + bias (Ba et al. 2016, equation 4); gain and bias are float and have
// axes of x only, usually K. torch.nn.functional.layer_norm with gain as its weight.
template <class... K, expression X, expression G, expression B>
constexpr auto layer_norm(const X& x, const G& gain, const B& bias, norm_options options = {}) {
  return normalize<K...>(x, options) * gain + bias;
}
WEFT_REJECT_IF((class... K, expression X, expression G, expression B),
               (detail::rule_of_scaled<X, G, B, K...>()),
               layer_norm(const X&, const G&, const B&, norm_options = {}),
               (no_axes,
                "layer_norm: name the axes it runs along, as in layer_norm<Embed>(x, gain, bias)"),
               WEFT_ALONG_RULES("layer_norm"),
               (gain, "layer_norm: gain or bias is not float; convert with weft::cast<float>"),
               (surplus, "layer_norm: gain or bias has an axis that the operand lacks"))

// x / sqrt(mean of x² + epsilon) over K (Zhang and Sennrich 2019, equation 4, without gain).
template <class... K, expression X>
constexpr auto rms_norm(const X& x, norm_options options = {}) {
  return detail::along<op::rms_normalize, K...>(x, options.epsilon);
}
WEFT_REJECT_ALONG(rms_norm, float, norm_options = {})

// rms_norm<K...>(x) * weight (the same equation); weight is float and has axes of x only, usually
// K. torch.nn.functional.rms_norm, whose default eps is 2^-23.
template <class... K, expression X, expression G>
constexpr auto rms_norm(const X& x, const G& weight, norm_options options = {}) {
  return rms_norm<K...>(x, options) * weight;
}
WEFT_REJECT_IF((class... K, expression X, expression G), (detail::rule_of_scaled<X, G, G, K...>()),
               rms_norm(const X&, const G&, norm_options = {}),
               (no_axes, "rms_norm: name the axes it runs along, as in rms_norm<Embed>(x, weight)"),
               WEFT_ALONG_RULES("rms_norm"),
               (gain, "rms_norm: the weight is not float; convert with weft::cast<float>"),
               (surplus, "rms_norm: the weight has an axis that the operand lacks"))

// The sum of the elements up to and including each one along A, which stays (torch.cumsum): x float
// [..., A, ...] to float of the same axes. NaN and infinity reach all that follows. Long rows are
// summed in double.
template <class... A, expression X>
constexpr auto cumulative_sum(const X& x) {
  return detail::along<op::cumulative_sum, A...>(x);
}
WEFT_REJECT_IF((class... A, expression X), (detail::rule_along_one<X, A...>()),
               cumulative_sum(const X&),
               (no_axes,
                "cumulative_sum: name the one axis it runs along, as in cumulative_sum<Pos>(x)"),
               WEFT_ALONG_RULES("cumulative_sum"))

}  // namespace weft
#include "weft/header_end.hpp"
