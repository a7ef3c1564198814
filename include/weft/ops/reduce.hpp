// Reductions over the axes K: x float [..., K..., ...] to float with the other axes, in x's order.
// No axes, an axis that x does not have or that is named twice, and other dtypes do not compile.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/reject.hpp"
#include "weft/graph/tensor.hpp"
#include "weft/ops/functions.hpp"
#include "weft/ops/view.hpp"

namespace weft {

namespace detail {

// The first rule that an operation along the axes K of X, whose elements have to be T, breaks.
template <class T, class X, class... K>
constexpr rule rule_along() {
  if (sizeof...(K) == 0) return rule::no_axes;
  if (!(has_axis<K, operand_axes_t<X>> && ...)) return rule::missing;
  if (!distinct<shape<K...>>) return rule::twice;
  if (has_elements<X, T>) return rule::none;
  return std::same_as<T, bool> ? rule::condition : rule::elements;
}
template <class X, class... K>
inline constexpr auto rule_of_axes = &rule_along<float, X, K...>;

template <op Kind, class... K, expression X>
constexpr auto reduce(const X& x) {
  node n = make_node(Kind, axes_of(shape<K...>{}));
  return append<element_t<X>, without<shape_t<X>, shape<K...>>>(n, x);
}

}  // namespace detail

// The sum over the axes K (torch.sum); 0 where one of them has length 0.
template <class... K, expression X>
constexpr auto sum(const X& x) {
  return detail::reduce<op::sum, K...>(x);
}
WEFT_REJECT_ALONG(sum, float)

// The greatest element over the axes K (torch.amax); NaN where one is NaN, -infinity where an axis
// has length 0. Equal greatest elements share the gradient evenly.
template <class... K, expression X>
constexpr auto max(const X& x) {
  return detail::reduce<op::max, K...>(x);
}
WEFT_REJECT_ALONG(max, float)

// The least element over the axes K (torch.amin); NaN where one is NaN, infinity where an axis has
// length 0. Equal least elements share the gradient evenly.
template <class... K, expression X>
constexpr auto min(const X& x) {
  return -max<K...>(-x);
}
WEFT_REJECT_ALONG(min, float)

// Whether a boolean over the axes K is true (torch.any); false where an axis has length 0.
template <class... K, expression X>
constexpr auto any(const X& x) {
  return 0 < max<K...>(cast<float>(x));
}
WEFT_REJECT_ALONG(any, bool)

// Whether all booleans over the axes K are true (torch.all), as where an axis has length 0.
template <class... K, expression X>
constexpr auto all(const X& x) {
  return !any<K...>(!x);
}
WEFT_REJECT_ALONG(all, bool)

// The mean over the axes K (torch.mean); NaN where one of them has length 0.
template <class... K, expression X>
constexpr auto mean(const X& x) {
  return sum<K...>(x) / length<K...>();
}
WEFT_REJECT_ALONG(mean, float)

// The variance over the axes K (torch.var): the sum of (x - mean)² over the number of elements less
// `correction`; NaN or infinite where that is not positive.
template <class... K, expression X>
constexpr auto variance(const X& x, double correction = 1) {
  const auto apart = x - stop_gradient(mean<K...>(x));  // whose sum has a gradient of 0
  return sum<K...>(apart * apart) / maximum(length<K...>() - correction, 0);
}
WEFT_REJECT_ALONG(variance, float, double = 1)

// log(sum over K of exp(x)) (torch.logsumexp), computed from x - max(x). A row of which every
// element is -infinity, or that has no element, is -infinity, with a gradient of 0.
template <class... K, expression X>
constexpr auto logsumexp(const X& x) {
  const auto most = max<K...>(x);
  const auto base = stop_gradient(where(isfinite(most), most, 0));
  const auto total = sum<K...>(exp(x - base));
  return where(total == 0, -infinity, log(where(total == 0, 1, total)) + base);
}
WEFT_REJECT_ALONG(logsumexp, float)

}  // namespace weft
#include "weft/header_end.hpp"
