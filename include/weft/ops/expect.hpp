// Compile-time assertion of a tensor's axes.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/reject.hpp"
#include "weft/graph/scope.hpp"
#include "weft/graph/tensor.hpp"

namespace weft {

namespace detail {

// Types whose names the compiler prints in its message.
template <class... Axes>
struct missing {};
template <class... Axes>
struct surplus {};

template <class S, class T>
inline constexpr bool same_axes = subset<S, T>&& subset<T, S>;

template <class S>
inline constexpr bool is_list_of_axes = false;
template <class... Axes>
inline constexpr bool is_list_of_axes<shape<Axes...>> =
    (axis_like<Axes> && ...) && distinct<shape<Axes...>>;

template <class X, class Axes>
constexpr rule rule_of_expect() {
  if constexpr (!is_list_of_axes<Axes>)
    return rule::list;
  else
    return same_axes<Axes, shape_t<X>> ? rule::none : rule::other_axes;
}

}  // namespace detail

// Returns x, which has these axes and no others, in any order; otherwise the model does not
// compile, and the message names the missing and the surplus axes. A sum or a mask takes the axes
// of both operands; where that is not meant, as in a residual connection, assert the axes:
//
//   return expect<Batch, Pos, Embed>(x + attention(s, x, mask));
//
// A weft::shape among the axes stands for its own: expect<shape_t<X>>(y) has the axes of an X.
template <class... Axes, expression X>
requires(detail::rule_of_expect<X, detail::joined<Axes...>>() == rule::none) constexpr X
    expect(const X& x) {
  return x;
}
WEFT_REJECT_IF(
    (class... Axes, expression X,
     class Missing = axes_in<detail::missing, without<detail::joined<Axes...>, shape_t<X>>>,
     class Surplus = axes_in<detail::surplus, without<shape_t<X>, detail::joined<Axes...>>>),
    (detail::rule_of_expect<X, detail::joined<Axes...>>()), expect(const X&),
    (other_axes, "expect: the axes are not those that are named; see missing<> and surplus<>"),
    (list, "expect: name each axis once, as in expect<Batch, Pos, Embed>(x)"))

}  // namespace weft
#include "weft/header_end.hpp"
