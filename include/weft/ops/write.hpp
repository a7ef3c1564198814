// Rows written into a buffer at a dynamic offset, as for the states of caches.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/reject.hpp"
#include "weft/graph/tensor.hpp"

namespace weft {

namespace detail {

template <class A, class P, class X, class R, class... I>
constexpr rule rule_of_write() {
  if (!has_axis<A, shape_t<X>>) return rule::buffer;
  using Rest = without<shape_t<X>, shape<A>>;
  if (!has_axis<P, shape_t<R>> || has_axis<P, Rest>) return rule::rows;
  if (!std::same_as<element_t<X>, element_t<R>>) return rule::elements;
  if (!subset<without<shape_t<R>, shape<P>>, Rest>) return rule::surplus;
  if (sizeof...(I) < 1 || sizeof...(I) > 2) return rule::count;
  if (!(std::same_as<element_t<I>, std::int32_t> && ...)) return rule::positions;
  if (!(subset<shape_t<I>, Rest> && ...)) return rule::position_axes;
  return rule::none;
}

// write; where Ring is not 0, rows beyond the end of A wrap around, Ring elements back.
template <class A, class P, std::size_t Ring, expression X, expression R, expression... I>
constexpr auto write_in_ring(const X& buffer, const R& rows, const I&... at_and_count) {
  node n = make_node(op::update_rows, axes_of(shape<A, P>{}));
  ring_length(n) = static_cast<std::int64_t>(Ring);
  if constexpr (sizeof...(I) > 1) mark(n, role::count);
  return append<element_t<X>, shape_t<X>>(n, buffer, rows, at_and_count...);
}

}  // namespace detail

// The buffer [..., A, ...] with the rows [..., P, ...] written along A: row p at index at + p, for
// each index of the other axes (jax.lax.dynamic_update_slice, without its clamping). The result has
// the buffer's axes, and its dtype, which is that of the rows. `at` is int32 over any of the other
// axes; rows may lack some of them. With `count`, int32 as well, only the rows p < count are
// written:
//
//   auto keys = write<Cache, Pos>(past, k, filled);     // k [Batch, Pos, Heads, HeadDim]
//   s.update(past, keys);
//
// Where the result becomes a state's new value, the state is updated in place and only the rows are
// moved, if nothing reads the state's old value afterwards: read it before, or read the new one.
//
// Where `at`, and `count` if there is one, are states or inputs, a run in which a row would be
// outside of A throws weft::error before it begins, naming the state or argument that is wrong; so
// does such a `count` that is negative or more than P's length. Computed ones are checked when they
// are used, so that the states are then those of a run that was not completed.
//
// Constraints on packs do not subsume one another, so the accepted use is constrained, too.
template <class A, class P, expression X, expression R, expression... I>
requires(detail::rule_of_write<A, P, X, R, I...>() ==
         rule::none) constexpr auto write(const X& buffer, const R& rows,
                                          const I&... at_and_count) {
  return detail::write_in_ring<A, P, 0>(buffer, rows, at_and_count...);
}
WEFT_REJECT_IF((class A, class P, expression X, expression R, expression... I),
               (detail::rule_of_write<A, P, X, R, I...>()), write(const X&, const R&, const I&...),
               (buffer, "write: the buffer has no such axis"),
               (rows, "write: the rows have no such axis, or the buffer has it already"),
               (elements,
                "write: the rows' elements are not those of the buffer; convert with weft::cast"),
               (surplus, "write: the rows have an axis that the buffer lacks"),
               (count, "write: name a buffer, rows, their place and, if any, their count"),
               (positions, "write: the places and counts are not int32"),
               (position_axes,
                "write: the places or counts have an axis that the buffer lacks, or the one "
                "that rows are put along"))

}  // namespace weft
#include "weft/header_end.hpp"
