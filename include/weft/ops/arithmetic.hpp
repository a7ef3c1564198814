// Elementwise arithmetic of float or int32 operands, broadcast by axis as elementwise.hpp says; the
// result has their dtype, and int32 wraps modulo 2^32. Misuse does not compile: see the WEFT_REJECT
// overloads.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/ops/elementwise.hpp"

namespace weft {

#define WEFT_ARITHMETIC_RULES(name)                                              \
  WEFT_OPERAND_RULES(name),                                                      \
      (booleans, name ": booleans have no arithmetic; choose with weft::where"), \
      (narrow, name ": bfloat16 has no arithmetic; convert with weft::cast<float>")
#define WEFT_REJECT_ARITHMETIC(function, name)                             \
  WEFT_REJECT_OPERANDS(function, (detail::rule_of_operands<L, R, bool>()), \
                       WEFT_ARITHMETIC_RULES(name))
#define WEFT_REJECT_FLOAT_ARITHMETIC(function, name)                    \
  WEFT_REJECT_OPERANDS(                                                 \
      function, (detail::rule_of_operands<L, R, bool, std::int32_t>()), \
      WEFT_ARITHMETIC_RULES(name),                                      \
      (integers, name ": the elements are integers; convert with weft::cast<float>"))

// l + r, elementwise (torch.add).
template <class L, detail::some_operand<L> R>
constexpr auto operator+(const L& l, const R& r) {
  return detail::binary<op::add>(l, r);
}
WEFT_REJECT_ARITHMETIC(operator+, "add")
// l - r, elementwise (torch.sub).
template <class L, detail::some_operand<L> R>
constexpr auto operator-(const L& l, const R& r) {
  return detail::binary<op::subtract>(l, r);
}
WEFT_REJECT_ARITHMETIC(operator-, "subtract")
// l * r, elementwise (torch.mul).
template <class L, detail::some_operand<L> R>
constexpr auto operator*(const L& l, const R& r) {
  return detail::binary<op::multiply>(l, r);
}
WEFT_REJECT_ARITHMETIC(operator*, "multiply")
// l / r, elementwise, of float only (torch.div).
template <class L, detail::some_operand<L> R>
constexpr auto operator/(const L& l, const R& r) {
  return detail::binary<op::divide>(l, r);
}
WEFT_REJECT_FLOAT_ARITHMETIC(operator/, "divide")
// The greater of two, elementwise (torch.maximum): NaN where either is, with gradients of 0 there.
// Equal operands get half of the gradient each.
template <class L, detail::some_operand<L> R>
constexpr auto maximum(const L& l, const R& r) {
  return detail::binary<op::maximum>(l, r);
}
WEFT_REJECT_ARITHMETIC(maximum, "maximum")
// The lesser of two, elementwise (torch.minimum): NaN where either is, with gradients of 0 there.
// Equal operands get half of the gradient each.
template <class L, detail::some_operand<L> R>
constexpr auto minimum(const L& l, const R& r) {
  return detail::binary<op::minimum>(l, r);
}
WEFT_REJECT_ARITHMETIC(minimum, "minimum")
// x to the power of y, elementwise, of float only (torch.pow): as C's pow, so that NaN and 1 to the
// power of anything follow IEEE 754, and a negative x has a power only where y is an integer.
// Within 1.2 ulp. The gradient for y is NaN where x is negative.
template <class X, detail::some_operand<X> Y>
constexpr auto pow(const X& x, const Y& y) {
  return detail::binary<op::pow>(x, y);
}
WEFT_REJECT_FLOAT_ARITHMETIC(pow, "pow")

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
#undef WEFT_REJECT_ARITHMETIC
#undef WEFT_REJECT_FLOAT_ARITHMETIC

}  // namespace weft
#include "weft/header_end.hpp"
