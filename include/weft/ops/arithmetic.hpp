// Elementwise arithmetic of float or int32 operands, broadcast by axis as elementwise.hpp says; the
// result has their dtype, and int32 wraps modulo 2^32. Misuse does not compile: see the WEFT_REJECT
// overloads.
#pragma once

#include "weft/ops/elementwise.hpp"

namespace weft {

#define WEFT_ARITHMETIC_RULES(name)                                                     \
  (tensor, name                                                                         \
   ": an operand is no tensor and no number; what comes with a run is an input, as in " \
   "s.input<\"x\", float, Embed>()"),                                                   \
      (elements, name ": the operands' elements differ; convert one with weft::cast"),  \
      (rank, name ": the operands have more than 8 axes between them"),                 \
      (booleans, name ": booleans have no arithmetic; choose with weft::where"),        \
      (narrow, name ": bfloat16 has no arithmetic; convert with weft::cast<float>")
#define WEFT_FLOAT_ARITHMETIC_RULES(name) \
  WEFT_ARITHMETIC_RULES(name),            \
      (integers, name ": the elements are integers; convert with weft::cast<float>")

// l + r, elementwise (torch.add).
template <class L, class R>
requires(detail::some_operand<L, R>&& detail::rule_of_operands<L, R, bool>() ==
         rule::none) constexpr auto
operator+(const L& l, const R& r) {
  return detail::binary<op::add>(l, r);
}
template <class L, class R>
requires(detail::some_operand<L, R>&& detail::rule_of_operands<L, R, bool>() != rule::none)
    WEFT_REJECT((detail::rule_of_operands<L, R, bool>()), operator+(const L&, const R&),
                WEFT_ARITHMETIC_RULES("add"))
// l - r, elementwise (torch.sub).
template <class L, class R>
requires(detail::some_operand<L, R>&& detail::rule_of_operands<L, R, bool>() ==
         rule::none) constexpr auto
operator-(const L& l, const R& r) {
  return detail::binary<op::subtract>(l, r);
}
template <class L, class R>
requires(detail::some_operand<L, R>&& detail::rule_of_operands<L, R, bool>() != rule::none)
    WEFT_REJECT((detail::rule_of_operands<L, R, bool>()), operator-(const L&, const R&),
                WEFT_ARITHMETIC_RULES("subtract"))
// l * r, elementwise (torch.mul).
template <class L, class R>
requires(detail::some_operand<L, R>&& detail::rule_of_operands<L, R, bool>() ==
         rule::none) constexpr auto
operator*(const L& l, const R& r) {
  return detail::binary<op::multiply>(l, r);
}
template <class L, class R>
requires(detail::some_operand<L, R>&& detail::rule_of_operands<L, R, bool>() != rule::none)
    WEFT_REJECT((detail::rule_of_operands<L, R, bool>()), operator*(const L&, const R&),
                WEFT_ARITHMETIC_RULES("multiply"))
// l / r, elementwise, of float only (torch.div).
template <class L, class R>
requires(detail::some_operand<L, R>&& detail::rule_of_operands<L, R, bool, std::int32_t>() ==
         rule::none) constexpr auto
operator/(const L& l, const R& r) {
  return detail::binary<op::divide>(l, r);
}
template <class L, class R>
requires(detail::some_operand<L, R>&& detail::rule_of_operands<L, R, bool, std::int32_t>() !=
         rule::none)
    WEFT_REJECT(
        (detail::rule_of_operands<L, R, bool, std::int32_t>()), operator/(const L&, const R&),
        WEFT_FLOAT_ARITHMETIC_RULES("divide"))
// The greater of two, elementwise (torch.maximum): NaN where either is, with gradients of 0 there.
// Equal operands get half of the gradient each.
template <class L, class R>
requires(detail::some_operand<L, R>&& detail::rule_of_operands<L, R, bool>() ==
         rule::none) constexpr auto maximum(const L& l, const R& r) {
  return detail::binary<op::maximum>(l, r);
}
template <class L, class R>
requires(detail::some_operand<L, R>&& detail::rule_of_operands<L, R, bool>() != rule::none)
    WEFT_REJECT((detail::rule_of_operands<L, R, bool>()), maximum(const L&, const R&),
                WEFT_ARITHMETIC_RULES("maximum"))
// The lesser of two, elementwise (torch.minimum): NaN where either is, with gradients of 0 there.
// Equal operands get half of the gradient each.
template <class L, class R>
requires(detail::some_operand<L, R>&& detail::rule_of_operands<L, R, bool>() ==
         rule::none) constexpr auto minimum(const L& l, const R& r) {
  return detail::binary<op::minimum>(l, r);
}
template <class L, class R>
requires(detail::some_operand<L, R>&& detail::rule_of_operands<L, R, bool>() != rule::none)
    WEFT_REJECT((detail::rule_of_operands<L, R, bool>()), minimum(const L&, const R&),
                WEFT_ARITHMETIC_RULES("minimum"))
// x to the power of y, elementwise, of float only (torch.pow): as C's pow, so that NaN and 1 to the
// power of anything follow IEEE 754, and a negative x has a power only where y is an integer.
// Within 1.2 ulp. The gradient for y is NaN where x is negative.
template <class X, class Y>
requires detail::operands<X, Y>
constexpr auto pow(const X& x, const Y& y) {
  return detail::binary<op::pow>(x, y);
}
template <class X, class Y>
requires(detail::operands<X, Y>&& detail::rule_of_operands<X, Y, bool, std::int32_t>() !=
         rule::none) WEFT_REJECT((detail::rule_of_operands<X, Y, bool, std::int32_t>()),
                                 pow(const X&, const Y&), WEFT_FLOAT_ARITHMETIC_RULES("pow"))

// -x, elementwise (torch.neg): x float or int32 [...] to the same axes.
template <expression X>
constexpr auto operator-(const X& x) {
  return detail::unary<op::negate>(x);
}
template <expression X>
requires(detail::logical<X> || detail::narrow<X>)
    WEFT_REJECT((detail::logical<X> ? rule::booleans : rule::narrow), operator-(const X&),
                (booleans, "negate: a mask is turned round with !"),
                (narrow, "negate: bfloat16 has no arithmetic; convert with weft::cast<float>"))

#undef WEFT_ARITHMETIC_RULES
#undef WEFT_FLOAT_ARITHMETIC_RULES

}  // namespace weft
