// Comparisons of each element by itself.
#pragma once

#include "weft/ops/elementwise.hpp"

namespace weft {

// Comparisons give booleans: positions<KeyPos>() <= positions<Pos>() is a causal mask [KeyPos,
// Pos]. Those of floats are IEEE's: -0 equals 0, and NaN is unequal to everything, itself too, and
// neither less nor greater than anything; x != x is where x is NaN.
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
