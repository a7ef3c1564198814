// Conversion of dtypes, and broadcasting to more axes.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/ops/elementwise.hpp"

namespace weft {

namespace detail {

template <class X, class... Axes>
constexpr rule rule_of_broadcast() {
  if (!(axis_like<Axes> && ...)) return rule::not_an_axis;
  if (!distinct<shape<Axes...>>) return rule::twice;
  constexpr int rank = united_rank<operand_axes_t<X>, shape<Axes...>>;
  if (rank > max_rank) return rule::rank;
  return rule::none;
}

}  // namespace detail

// x as dtype T, elementwise, with the same axes. float to int32 truncates towards zero, saturates
// at the ends of int32's range, and gives 0 for NaN; bool becomes 0 or 1; x to bool is x != 0,
// which is true for NaN. float to bfloat16 rounds to the nearest, ties to even; other conversions
// to or from bfloat16 go by way of float. Gradients pass from float to float only.
template <class T, expression X>
requires is_dtype<T>
constexpr auto cast(const X& x) {
  return detail::elementwise<op::cast, T>(x);
}
template <class T, expression X>
requires(!is_dtype<T>) WEFT_REJECT((rule::elements), cast(const X&),
                                   (elements,
                                    "cast: the new elements are float, std::int32_t, bool or "
                                    "weft::bfloat16, as in cast<float>(x)"))

// x repeated along those of Axes that it does not have: [axes of x..., the others of Axes...], with
// x's dtype (torch.Tensor.expand).
template <class... Axes, expression X>
constexpr auto broadcast(const X& x) {
  return append<element_t<X>, united<shape_t<X>, shape<Axes...>>>(make_node(op::copy), x);
}
WEFT_REJECT_IF((class... Axes, expression X), (detail::rule_of_broadcast<X, Axes...>()),
               broadcast(const X&),
               (not_an_axis, "broadcast: name axes, as in broadcast<Batch, Pos>(x)"),
               (twice, "broadcast: an axis is named twice"),
               (rank, "broadcast: the result has more than 8 axes"))

}  // namespace weft
#include "weft/header_end.hpp"
