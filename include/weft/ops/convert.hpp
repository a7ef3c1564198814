// Conversion of dtypes, and broadcasting to more axes.
#pragma once

#include "weft/ops/elementwise.hpp"

namespace weft {

namespace detail {

enum class broadcast_fault { none, kind, twice, rank };

template <class X, class... Axes>
constexpr broadcast_fault fault_of_broadcast() {
  if (!(axis_like<Axes> && ...)) return broadcast_fault::kind;
  if (!distinct<shape<Axes...>>) return broadcast_fault::twice;
  constexpr int rank = united_rank<shape_t<X>, shape<Axes...>>;
  if (rank > max_rank) return broadcast_fault::rank;
  return broadcast_fault::none;
}

}  // namespace detail

// x as dtype T, elementwise, with the same axes. float to int32 truncates towards zero, saturates
// at the ends of int32's range, and gives 0 for NaN; bool becomes 0 or 1; x to bool is x != 0,
// which is true for NaN. Gradients pass from float to float only.
template <class T, expression X>
requires is_dtype<T>
constexpr auto cast(const X& x) {
  return detail::elementwise<op::cast, T>(x);
}
template <class T, expression X>
requires(!is_dtype<T>)
    WEFT_REJECT("cast: the new elements are float, std::int32_t or bool, as in cast<float>(x)",
                cast(const X&))

// x repeated along those of Axes that it does not have: [axes of x..., the others of Axes...], with
// x's dtype (torch.Tensor.expand).
template <class... Axes, expression X>
constexpr auto broadcast(const X& x) {
  return append<element_t<X>, united<shape_t<X>, shape<Axes...>>>(make_node(op::copy), x);
}
template <class... Axes, expression X>
requires(detail::fault_of_broadcast<X, Axes...>() == detail::broadcast_fault::kind)
    WEFT_REJECT("broadcast: name axes, as in broadcast<Batch, Pos>(x)", broadcast(const X&))
template <class... Axes, expression X>
requires(detail::fault_of_broadcast<X, Axes...>() == detail::broadcast_fault::twice)
    WEFT_REJECT("broadcast: an axis is named twice", broadcast(const X&))
template <class... Axes, expression X>
requires(detail::fault_of_broadcast<X, Axes...>() == detail::broadcast_fault::rank)
    WEFT_REJECT("broadcast: the result has more than 8 axes", broadcast(const X&))

}  // namespace weft
