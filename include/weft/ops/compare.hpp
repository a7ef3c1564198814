// Elementwise comparisons.
#pragma once

#include "weft/ops/elementwise.hpp"

namespace weft {

// <, <=, >, >=, == and != of two operands of one dtype, broadcast by axis as elementwise.hpp says,
// give booleans: positions<KeyPos>() <= positions<Pos>() is a causal mask [KeyPos, Pos]. Booleans
// have == and != only. l > r is r < l, and l >= r is r <= l, so the axes of r come first in the
// result. Comparisons of floats are IEEE 754's: -0 equals 0, and NaN is unequal to everything,
// itself included, and neither less nor greater than anything; x != x is true where x is NaN.
// Misuse does not compile: see the WEFT_REJECT overloads.
template <class L, class R>
requires detail::operands<L, R>
constexpr auto operator<(const L& l, const R& r) {
  return detail::comparison<op::less>(l, r);
}
template <class L, class R>
requires detail::mixed<L, R> WEFT_REJECT(
    "less: the operands' elements differ; convert one with weft::cast", operator<(const L&,
                                                                                  const R&))
template <class L, class R>
requires detail::crowded<L, R> WEFT_REJECT(
    "less: the operands have more than 8 axes between them", operator<(const L&, const R&))
template <class L, class R>
requires detail::both_logical<L, R> WEFT_REJECT(
    "less: booleans have no order; combine masks with && and ||", operator<(const L&, const R&))
// l <= r (torch.le).
template <class L, class R>
requires detail::operands<L, R>
constexpr auto operator<=(const L& l, const R& r) {
  return detail::comparison<op::less_equal>(l, r);
}
template <class L, class R>
requires detail::mixed<L, R> WEFT_REJECT(
    "less_equal: the operands' elements differ; convert one with weft::cast", operator<=(const L&,
                                                                                         const R&))
template <class L, class R>
requires detail::crowded<L, R> WEFT_REJECT(
    "less_equal: the operands have more than 8 axes between them", operator<=(const L&, const R&))
template <class L, class R>
requires detail::both_logical<L, R> WEFT_REJECT(
    "less_equal: booleans have no order; combine masks with && and ||", operator<=(const L&,
                                                                                   const R&))
// l > r (torch.gt).
template <class L, class R>
requires detail::operands<L, R>
constexpr auto operator>(const L& l, const R& r) {
  return detail::comparison<op::less>(r, l);
}
template <class L, class R>
requires detail::mixed<L, R> WEFT_REJECT(
    "greater: the operands' elements differ; convert one with weft::cast", operator>(const L&,
                                                                                     const R&))
template <class L, class R>
requires detail::crowded<L, R> WEFT_REJECT(
    "greater: the operands have more than 8 axes between them", operator>(const L&, const R&))
template <class L, class R>
requires detail::both_logical<L, R> WEFT_REJECT(
    "greater: booleans have no order; combine masks with && and ||", operator>(const L&, const R&))
// l >= r (torch.ge).
template <class L, class R>
requires detail::operands<L, R>
constexpr auto operator>=(const L& l, const R& r) {
  return detail::comparison<op::less_equal>(r, l);
}
template <class L, class R>
requires detail::mixed<L, R> WEFT_REJECT(
    "greater_equal: the operands' elements differ; convert one with weft::cast", operator>=(
                                                                                     const L&,
                                                                                     const R&))
template <class L, class R>
requires detail::crowded<L, R> WEFT_REJECT(
    "greater_equal: the operands have more than 8 axes between them", operator>=(const L&,
                                                                                 const R&))
template <class L, class R>
requires detail::both_logical<L, R> WEFT_REJECT(
    "greater_equal: booleans have no order; combine masks with && and ||", operator>=(const L&,
                                                                                      const R&))
// l == r (torch.eq).
template <class L, class R>
requires detail::operands<L, R>
constexpr auto operator==(const L& l, const R& r) {
  return detail::comparison<op::equal>(l, r);
}
template <class L, class R>
requires detail::mixed<L, R> WEFT_REJECT(
    "equal: the operands' elements differ; convert one with weft::cast", operator==(const L&,
                                                                                    const R&))
template <class L, class R>
requires detail::crowded<L, R> WEFT_REJECT(
    "equal: the operands have more than 8 axes between them", operator==(const L&, const R&))
// l != r (torch.ne).
template <class L, class R>
requires detail::operands<L, R>
constexpr auto operator!=(const L& l, const R& r) {
  return detail::comparison<op::not_equal>(l, r);
}
template <class L, class R>
requires detail::mixed<L, R> WEFT_REJECT(
    "not_equal: the operands' elements differ; convert one with weft::cast", operator!=(const L&,
                                                                                        const R&))
template <class L, class R>
requires detail::crowded<L, R> WEFT_REJECT(
    "not_equal: the operands have more than 8 axes between them", operator!=(const L&, const R&))

}  // namespace weft
