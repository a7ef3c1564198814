// Rows put into a buffer: what the states of caches are updated with.
#pragma once

#include "weft/graph/reject.hpp"
#include "weft/graph/tensor.hpp"

namespace weft {

namespace detail {

enum class write_fault { none, buffer, rows, elements, others, number, places, place_axes };

template <class A, class P, class X, class R, class... I>
constexpr write_fault fault_of_write() {
  if (!has_axis<A, shape_t<X>>) return write_fault::buffer;
  using Rest = without<shape_t<X>, shape<A>>;
  if (!has_axis<P, shape_t<R>> || has_axis<P, Rest>) return write_fault::rows;
  if (!std::same_as<element_t<X>, element_t<R>>) return write_fault::elements;
  if (!subset<without<shape_t<R>, shape<P>>, Rest>) return write_fault::others;
  if (sizeof...(I) < 1 || sizeof...(I) > 2) return write_fault::number;
  if (!(std::same_as<element_t<I>, std::int32_t> && ...)) return write_fault::places;
  if (!(subset<shape_t<I>, Rest> && ...)) return write_fault::place_axes;
  return write_fault::none;
}

}  // namespace detail

// The buffer [..., A, ...] with the rows [..., P, ...] put in along A: row p at place at + p, for
// each index of the other axes. `at` is int32 over any of these; rows may lack some of them. With
// `count`, int32 as well, only the rows p < count are put in:
//
//   auto keys = write<Cache, Pos>(past, k, filled);     // k [Batch, Pos, Heads, HeadDim]
//   s.update(past, keys);
//
// A state that this is the new value of is written to where it lies, and nothing but the rows
// moves, if nothing reads the state's old value after that: read it before, or read the new one.
//
// Where `at` is a state or an input, and `count` an input or none, a run begins with weft::error
// if a row would lie outside of A, and says whose number is wrong. Else such a row is left out.
//
// Constraints on packs are never more special than one another, so here the right use too says
// that it is right.
template <class A, class P, expression X, expression R, expression... I>
requires(detail::fault_of_write<A, P, X, R, I...>() ==
         detail::write_fault::none) constexpr auto write(const X& buffer, const R& rows,
                                                         const I&... at_and_count) {
  node n = make_node(op::update_rows);
  n.named = axes_of(shape<A, P>{});
  return append<element_t<X>, shape_t<X>>(n, buffer, rows, at_and_count...);
}
template <class A, class P, expression X, expression R, expression... I>
requires(detail::fault_of_write<A, P, X, R, I...>() == detail::write_fault::buffer)
    WEFT_REJECT("write: the buffer has no such axis", write(const X&, const R&, const I&...))
template <class A, class P, expression X, expression R, expression... I>
requires(detail::fault_of_write<A, P, X, R, I...>() == detail::write_fault::rows)
    WEFT_REJECT("write: the rows have no such axis, or the buffer has it already",
                write(const X&, const R&, const I&...))
template <class A, class P, expression X, expression R, expression... I>
requires(detail::fault_of_write<A, P, X, R, I...>() == detail::write_fault::elements)
    WEFT_REJECT("write: the rows' elements are not those of the buffer; convert with weft::cast",
                write(const X&, const R&, const I&...))
template <class A, class P, expression X, expression R, expression... I>
requires(detail::fault_of_write<A, P, X, R, I...>() == detail::write_fault::others)
    WEFT_REJECT("write: the rows have an axis that the buffer has not",
                write(const X&, const R&, const I&...))
template <class A, class P, expression X, expression R, expression... I>
requires(detail::fault_of_write<A, P, X, R, I...>() == detail::write_fault::number)
    WEFT_REJECT("write: name a buffer, rows, their place and, if any, their count",
                write(const X&, const R&, const I&...))
template <class A, class P, expression X, expression R, expression... I>
requires(detail::fault_of_write<A, P, X, R, I...>() == detail::write_fault::places)
    WEFT_REJECT("write: the places and counts are not int32",
                write(const X&, const R&, const I&...))
template <class A, class P, expression X, expression R, expression... I>
requires(detail::fault_of_write<A, P, X, R, I...>() == detail::write_fault::place_axes) WEFT_REJECT(
    "write: the places or counts have an axis that the buffer has not, or the one "
    "that rows are put along",
    write(const X&, const R&, const I&...))

}  // namespace weft
