// Reductions over the axes K: x float [..., K..., ...] to float with the other axes, in x's order.
// No axes, an axis that x does not have or that is named twice, and other dtypes do not compile.
#pragma once

#include "weft/graph/reject.hpp"
#include "weft/graph/tensor.hpp"
#include "weft/ops/arithmetic.hpp"

namespace weft {

namespace detail {

// The first rule that an operation along the axes K of X breaks.
template <class X, class... K>
constexpr rule rule_of_axes() {
  if (sizeof...(K) == 0) return rule::no_axes;
  if (!(has_axis<K, operand_axes_t<X>> && ...)) return rule::missing;
  if (!distinct<shape<K...>>) return rule::twice;
  if (!floating<X>) return rule::elements;
  return rule::none;
}

template <op Kind, class... K, expression X>
constexpr auto reduce(const X& x) {
  node n = make_node(Kind, axes_of(shape<K...>{}));
  return append<element_t<X>, without<shape_t<X>, shape<K...>>>(n, x);
}

}  // namespace detail

// The rules of functions that run along axes K.
#define WEFT_ALONG_RULES(name) \
  WEFT_NO_SUCH_AXIS(name), (twice, name ": an axis is named twice"), WEFT_NOT_FLOAT(name)

// The sum over the axes K (torch.sum); 0 where one of them has length 0.
template <class... K, expression X>
constexpr auto sum(const X& x) {
  return detail::reduce<op::sum, K...>(x);
}
WEFT_REJECT_IF((class... K, expression X), (detail::rule_of_axes<X, K...>()), sum(const X&),
               (no_axes, "sum: name the axes to reduce, as in sum<Pos>(x)"),
               WEFT_ALONG_RULES("sum"))

// The greatest element over the axes K (torch.amax); NaN where one is NaN, -infinity where an axis
// has length 0. Equal greatest elements share the gradient evenly.
template <class... K, expression X>
constexpr auto max(const X& x) {
  return detail::reduce<op::max, K...>(x);
}
WEFT_REJECT_IF((class... K, expression X), (detail::rule_of_axes<X, K...>()), max(const X&),
               (no_axes, "max: name the axes to reduce, as in max<Pos>(x)"),
               WEFT_ALONG_RULES("max"))

// The mean over the axes K (torch.mean); NaN where one of them has length 0.
template <class... K, expression X>
constexpr auto mean(const X& x) {
  return sum<K...>(x) / length<K...>();
}
WEFT_REJECT_IF((class... K, expression X), (detail::rule_of_axes<X, K...>()), mean(const X&),
               (no_axes, "mean: name the axes to reduce, as in mean<Pos>(x)"),
               WEFT_ALONG_RULES("mean"))

}  // namespace weft
