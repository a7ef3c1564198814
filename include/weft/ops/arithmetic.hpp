// Elementwise arithmetic of float or int32 operands, broadcast by axis as elementwise.hpp says; the
// result has their dtype, and int32 wraps modulo 2^32. Misuse does not compile: see the WEFT_REJECT
// overloads.
#pragma once

#include "weft/ops/elementwise.hpp"

namespace weft {

// l + r, elementwise (torch.add).
template <class L, class R>
requires detail::operands<L, R>
constexpr auto operator+(const L& l, const R& r) {
  return detail::binary<op::add>(l, r);
}
template <class L, class R>
requires detail::mixed<L, R> WEFT_REJECT(
    "add: the operands' elements differ; convert one with weft::cast", operator+(const L&,
                                                                                 const R&))
template <class L, class R>
requires detail::crowded<L, R> WEFT_REJECT(
    "add: the operands have more than 8 axes between them", operator+(const L&, const R&))
template <class L, class R>
requires detail::both_logical<L, R> WEFT_REJECT(
    "add: booleans have no arithmetic; choose with weft::where", operator+(const L&, const R&))
// l - r, elementwise (torch.sub).
template <class L, class R>
requires detail::operands<L, R>
constexpr auto operator-(const L& l, const R& r) {
  return detail::binary<op::subtract>(l, r);
}
template <class L, class R>
requires detail::mixed<L, R> WEFT_REJECT(
    "subtract: the operands' elements differ; convert one with weft::cast", operator-(const L&,
                                                                                      const R&))
template <class L, class R>
requires detail::crowded<L, R> WEFT_REJECT(
    "subtract: the operands have more than 8 axes between them", operator-(const L&, const R&))
template <class L, class R>
requires detail::both_logical<L, R> WEFT_REJECT(
    "subtract: booleans have no arithmetic; choose with weft::where", operator-(const L&, const R&))
// l * r, elementwise (torch.mul).
template <class L, class R>
requires detail::operands<L, R>
constexpr auto operator*(const L& l, const R& r) {
  return detail::binary<op::multiply>(l, r);
}
template <class L, class R>
requires detail::mixed<L, R> WEFT_REJECT(
    "multiply: the operands' elements differ; convert one with weft::cast", operator*(const L&,
                                                                                      const R&))
template <class L, class R>
requires detail::crowded<L, R> WEFT_REJECT(
    "multiply: the operands have more than 8 axes between them", operator*(const L&, const R&))
template <class L, class R>
requires detail::both_logical<L, R> WEFT_REJECT(
    "multiply: booleans have no arithmetic; choose with weft::where", operator*(const L&, const R&))
// l / r, elementwise, of float only (torch.div).
template <class L, class R>
requires detail::operands<L, R>
constexpr auto operator/(const L& l, const R& r) {
  return detail::binary<op::divide>(l, r);
}
template <class L, class R>
requires detail::mixed<L, R> WEFT_REJECT(
    "divide: the operands' elements differ; convert one with weft::cast", operator/(const L&,
                                                                                    const R&))
template <class L, class R>
requires detail::crowded<L, R> WEFT_REJECT(
    "divide: the operands have more than 8 axes between them", operator/(const L&, const R&))
template <class L, class R>
requires detail::both_logical<L, R> WEFT_REJECT(
    "divide: booleans have no arithmetic; choose with weft::where", operator/(const L&, const R&))
template <class L, class R>
requires(detail::operands<L, R> && !detail::crowded<L, R> && detail::same_elements<L, R> &&
         std::same_as<typename detail::common_element<L, R>::type, std::int32_t>)
    WEFT_REJECT(
        "divide: integers are not divided; convert with weft::cast<float>", operator/(const L&,
                                                                                      const R&))
// The greater of two, elementwise (torch.maximum): NaN where either is, with gradients of 0 there.
// Equal operands get half of the gradient each.
template <class L, class R>
requires detail::operands<L, R>
constexpr auto maximum(const L& l, const R& r) {
  return detail::binary<op::maximum>(l, r);
}
template <class L, class R>
requires detail::mixed<L, R> WEFT_REJECT(
    "maximum: the operands' elements differ; convert one with weft::cast",
    maximum(const L&, const R&))
template <class L, class R>
requires detail::crowded<L, R> WEFT_REJECT(
    "maximum: the operands have more than 8 axes between them", maximum(const L&, const R&))
template <class L, class R>
requires detail::both_logical<L, R> WEFT_REJECT(
    "maximum: booleans have no arithmetic; choose with weft::where", maximum(const L&, const R&))
// The lesser of two, elementwise (torch.minimum): NaN where either is, with gradients of 0 there.
// Equal operands get half of the gradient each.
template <class L, class R>
requires detail::operands<L, R>
constexpr auto minimum(const L& l, const R& r) {
  return detail::binary<op::minimum>(l, r);
}
template <class L, class R>
requires detail::mixed<L, R> WEFT_REJECT(
    "minimum: the operands' elements differ; convert one with weft::cast",
    minimum(const L&, const R&))
template <class L, class R>
requires detail::crowded<L, R> WEFT_REJECT(
    "minimum: the operands have more than 8 axes between them", minimum(const L&, const R&))
template <class L, class R>
requires detail::both_logical<L, R> WEFT_REJECT(
    "minimum: booleans have no arithmetic; choose with weft::where", minimum(const L&, const R&))

// -x, elementwise (torch.neg): x float or int32 [...] to the same axes.
template <expression X>
constexpr auto operator-(const X& x) {
  return detail::unary<op::negate>(x);
}
template <expression X>
requires detail::logical<X> WEFT_REJECT(
    "negate: a mask is turned round with !", operator-(const X&))

}  // namespace weft
