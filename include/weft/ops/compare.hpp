// Elementwise comparisons of two operands of one dtype, broadcast by axis as elementwise.hpp says.
// They give booleans: positions<KeyPos>() <= positions<Pos>() is a causal mask [KeyPos, Pos].
// Booleans have == and != only. Comparisons of floats are IEEE 754's: -0 equals 0, and NaN is
// unequal to everything, itself included, and neither less nor greater than anything; x != x is
// true where x is NaN. Misuse does not compile: see the WEFT_REJECT overloads.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/ops/elementwise.hpp"

namespace weft {

#define WEFT_REJECT_EQUALITY(function, name)                                  \
  WEFT_REJECT_OPERANDS(                                                       \
      function, (detail::rule_of_operands<L, R>()), WEFT_OPERAND_RULES(name), \
      (narrow, name ": bfloat16 has no comparisons; convert with weft::cast<float>"))
#define WEFT_REJECT_ORDER(function, name)                                           \
  WEFT_REJECT_OPERANDS(                                                             \
      function, (detail::rule_of_operands<L, R, bool>()), WEFT_OPERAND_RULES(name), \
      (booleans, name ": booleans have no order; combine masks with && and ||"),    \
      (narrow, name ": bfloat16 has no comparisons; convert with weft::cast<float>"))

// l < r (torch.lt).
template <class L, detail::some_operand<L> R>
constexpr auto operator<(const L& l, const R& r) {
  return detail::comparison<op::less>(l, r);
}
WEFT_REJECT_ORDER(operator<, "less")
// l <= r (torch.le).
template <class L, detail::some_operand<L> R>
constexpr auto operator<=(const L& l, const R& r) {
  return detail::comparison<op::less_equal>(l, r);
}
WEFT_REJECT_ORDER(operator<=, "less_equal")
// l > r (torch.gt), which is r < l: the axes of r come first in the result.
template <class L, detail::some_operand<L> R>
constexpr auto operator>(const L& l, const R& r) {
  return detail::comparison<op::less>(r, l);
}
WEFT_REJECT_ORDER(operator>, "greater")
// l >= r (torch.ge), which is r <= l: the axes of r come first in the result.
template <class L, detail::some_operand<L> R>
constexpr auto operator>=(const L& l, const R& r) {
  return detail::comparison<op::less_equal>(r, l);
}
WEFT_REJECT_ORDER(operator>=, "greater_equal")
// l == r (torch.eq).
template <class L, detail::some_operand<L> R>
constexpr auto operator==(const L& l, const R& r) {
  return detail::comparison<op::equal>(l, r);
}
WEFT_REJECT_EQUALITY(operator==, "equal")
// l != r (torch.ne).
template <class L, detail::some_operand<L> R>
constexpr auto operator!=(const L& l, const R& r) {
  return detail::comparison<op::not_equal>(l, r);
}
WEFT_REJECT_EQUALITY(operator!=, "not_equal")

#undef WEFT_REJECT_EQUALITY
#undef WEFT_REJECT_ORDER

}  // namespace weft
#include "weft/header_end.hpp"
