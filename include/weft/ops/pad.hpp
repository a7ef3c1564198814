// Padding and reversal along an axis. Misuse does not compile: see the WEFT_REJECT overloads.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/ops/functions.hpp"
#include "weft/ops/gather.hpp"
#include "weft/ops/view.hpp"

namespace weft {

// What stands outside of a padded axis, by torch.nn.functional.pad's modes.
enum class padding_mode : std::uint8_t {
  zeros,      // 'constant': 0, or the value that pad is given
  reflected,  // 'reflect': the axis mirrored at its first and last element, which stand there once
  replicated  // 'replicate': its first and its last element
};

// What pad adds to an axis, in elements.
struct padding {
  std::size_t left = 0;                     // before its first element
  std::size_t right = 0;                    // and after its last one
  padding_mode mode = padding_mode::zeros;  // what they are
};

namespace detail {

// The index of an axis's last element: int32, without axes.
template <class A>
constexpr auto last_of() {
  return append<std::int32_t, shape<>>(make_node(op::length, axes_of(shape<A>{}))) - 1;
}
// x [..., A, ...] at int32 indices [To] along A, with the axes S: [..., To, ...].
template <class A, class S, expression X, expression I>
constexpr auto at_indices(const X& x, const I& indices) {
  node n = make_node(op::gather, axes_of(shape<A>{}));
  refuses_outside(n) = true;
  return append<element_t<X>, S>(n, x, indices);
}
// The same axis, in the other direction.
template <class A>
struct reversed : alias<A> {};

// Where pad is given no value.
struct zero {};
template <class X, class Pos, class To, padding P, class V>
constexpr rule rule_of_pad() {
  if constexpr (!has_axis<Pos, shape_t<X>>) {
    return rule::missing;
  } else if constexpr (!axis_like<To>) {
    return rule::not_an_axis;
  } else {
    if (has_axis<To, shape_t<X>>) return rule::taken;
    if (To::extent != P.left + Pos::extent + P.right) return rule::extent;
    if (To::bounded != Pos::bounded) return rule::bounded;
    if constexpr (!std::same_as<V, zero>)
      if (!number<V> || !fits<V, element_t<X>> || P.mode != padding_mode::zeros)
        return rule::number;
    const bool is_short = P.left >= Pos::extent || P.right >= Pos::extent;
    return is_short && P.mode == padding_mode::reflected ? rule::count : rule::none;
  }
}

// The extents of the padded axis, for the compiler's message.
template <std::size_t HasToBe, std::size_t Is>
struct pad_extent {};
template <class X, class Pos, class To, padding P, class V>
constexpr auto extent_of_pad() {
  if constexpr (rule_of_pad<X, Pos, To, P, V>() == rule::extent)
    return pad_extent<P.left + Pos::extent + P.right, To::extent>();
}

}  // namespace detail

// x with more elements along Pos, which becomes To (torch.nn.functional.pad): x [..., Pos, ...] to
// [..., To, ...] of x's dtype, element t = x[t - left], and outside of x as padding_mode says, or
// `value` instead of zeros. To's length is left + Pos's length + right. A run in which Pos is too
// short for what is reflected, or empty where it is replicated, throws weft::error. A copy.
//
//   pad<Pos, Whole, weft::padding{.left = 2, .mode = weft::padding_mode::reflected}>(x)
template <class Pos, class To, padding P, expression X, class V = detail::zero>
requires(detail::rule_of_pad<X, Pos, To, P, V>() ==
         rule::none) constexpr auto pad(const X& x, [[maybe_unused]] V value = {}) {
  using Axes = replaced<shape_t<X>, Pos, shape<To>>;
  if constexpr (!std::same_as<V, detail::zero>) {
    return where(pad<Pos, To, P>(broadcast<Pos>(constant(true))), pad<Pos, To, P>(x), value);
  } else if constexpr (P.mode == padding_mode::zeros) {
    node n = make_node(op::pad, axes_of(shape<To>{}));
    slice_offset(n) = static_cast<std::int64_t>(P.left);
    return append<element_t<X>, Axes>(n, x);
  } else {
    // The padded positions are at most those in To, to which they give its length.
    const auto inside = pad<Pos, To, padding{P.left, P.right}>(positions<Pos>());
    const auto at = maximum(inside, positions<To>()) - static_cast<std::int32_t>(P.left);
    const auto last = detail::last_of<Pos>();
    if constexpr (P.mode == padding_mode::replicated)
      return detail::at_indices<Pos, Axes>(x, minimum(maximum(at, 0), last));
    else  // beyond the other end where the axis is too short
      return detail::at_indices<Pos, Axes>(x, where(last < at, last + last - at, maximum(at, -at)));
  }
}
WEFT_REJECT_IF((class Pos, class To, padding P, expression X, class V = detail::zero,
                class Extent = decltype(detail::extent_of_pad<X, Pos, To, P, V>())),
               (detail::rule_of_pad<X, Pos, To, P, V>()), pad(const X&, V = {}),
               WEFT_NO_SUCH_AXIS("pad"), WEFT_NEW_IS_NO_AXIS("pad"),
               (taken, "pad: the operand has the new axis already"),
               (extent,
                "pad: the new axis's extent is not left + extent + right; see "
                "pad_extent<has to be, is>"),
               (bounded, "pad: a length known at run time only gives such a length"),
               (count, "pad: fewer elements are reflected than the axis has"),
               (number, "pad: a value is a number of the operand's elements, instead of zeros"))

// x with the elements along A in reverse order (torch.flip). A copy.
template <class A, expression X>
constexpr auto flip(const X& x) {
  using Back = detail::reversed<A>;
  const auto from = detail::last_of<A>() - positions<Back>();
  return rename<Back, A>(detail::at_indices<A, replaced<shape_t<X>, A, shape<Back>>>(x, from));
}
WEFT_REJECT_IF((class A, expression X), (has_axis<A, shape_t<X>> ? rule::none : rule::missing),
               flip(const X&), WEFT_NO_SUCH_AXIS("flip"))

}  // namespace weft
#include "weft/header_end.hpp"
