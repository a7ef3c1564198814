// Reductions over the axes K: x float [..., K..., ...] to float with the other axes, in x's order.
// No axes, an axis that x does not have or that is named twice, and other dtypes do not compile.
#pragma once

#include "weft/graph/reject.hpp"
#include "weft/graph/tensor.hpp"
#include "weft/ops/arithmetic.hpp"

namespace weft {

namespace detail {

enum class axis_fault { none, nothing, missing, twice, elements };

// The first rule that an operation along the axes K of X breaks.
template <class X, class... K>
constexpr axis_fault fault_of_axes() {
  if (sizeof...(K) == 0) return axis_fault::nothing;
  if (!(has_axis<K, shape_t<X>> && ...)) return axis_fault::missing;
  if (!distinct<shape<K...>>) return axis_fault::twice;
  if (!floating<X>) return axis_fault::elements;
  return axis_fault::none;
}

template <op Kind, class... K, expression X>
constexpr auto reduce(const X& x) {
  node n = make_node(Kind);
  n.named = axes_of(shape<K...>{});
  return append<element_t<X>, without<shape_t<X>, shape<K...>>>(n, x);
}

}  // namespace detail

// The sum over the axes K (torch.sum); 0 where one of them has length 0.
template <class... K, expression X>
constexpr auto sum(const X& x) {
  return detail::reduce<op::sum, K...>(x);
}
template <class... K, expression X>
requires(detail::fault_of_axes<X, K...>() == detail::axis_fault::nothing)
    WEFT_REJECT("sum: name the axes to reduce, as in sum<Pos>(x)", sum(const X&))
template <class... K, expression X>
requires(detail::fault_of_axes<X, K...>() == detail::axis_fault::missing)
    WEFT_REJECT("sum: the operand has no such axis", sum(const X&))
template <class... K, expression X>
requires(detail::fault_of_axes<X, K...>() == detail::axis_fault::twice)
    WEFT_REJECT("sum: an axis is named twice", sum(const X&))
template <class... K, expression X>
requires(detail::fault_of_axes<X, K...>() == detail::axis_fault::elements)
    WEFT_REJECT("sum: the elements are not float; convert with weft::cast<float>", sum(const X&))

// The greatest element over the axes K (torch.amax); NaN where one is NaN, -infinity where an axis
// has length 0. Equal greatest elements share the gradient evenly.
template <class... K, expression X>
constexpr auto max(const X& x) {
  return detail::reduce<op::max, K...>(x);
}
template <class... K, expression X>
requires(detail::fault_of_axes<X, K...>() == detail::axis_fault::nothing)
    WEFT_REJECT("max: name the axes to reduce, as in max<Pos>(x)", max(const X&))
template <class... K, expression X>
requires(detail::fault_of_axes<X, K...>() == detail::axis_fault::missing)
    WEFT_REJECT("max: the operand has no such axis", max(const X&))
template <class... K, expression X>
requires(detail::fault_of_axes<X, K...>() == detail::axis_fault::twice)
    WEFT_REJECT("max: an axis is named twice", max(const X&))
template <class... K, expression X>
requires(detail::fault_of_axes<X, K...>() == detail::axis_fault::elements)
    WEFT_REJECT("max: the elements are not float; convert with weft::cast<float>", max(const X&))

// The mean over the axes K (torch.mean); NaN where one of them has length 0.
template <class... K, expression X>
constexpr auto mean(const X& x) {
  return sum<K...>(x) / length<K...>();
}
template <class... K, expression X>
requires(detail::fault_of_axes<X, K...>() == detail::axis_fault::nothing)
    WEFT_REJECT("mean: name the axes to reduce, as in mean<Pos>(x)", mean(const X&))
template <class... K, expression X>
requires(detail::fault_of_axes<X, K...>() == detail::axis_fault::missing)
    WEFT_REJECT("mean: the operand has no such axis", mean(const X&))
template <class... K, expression X>
requires(detail::fault_of_axes<X, K...>() == detail::axis_fault::twice)
    WEFT_REJECT("mean: an axis is named twice", mean(const X&))
template <class... K, expression X>
requires(detail::fault_of_axes<X, K...>() == detail::axis_fault::elements)
    WEFT_REJECT("mean: the elements are not float; convert with weft::cast<float>", mean(const X&))

}  // namespace weft
