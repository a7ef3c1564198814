// Elementwise comparisons of two operands of one dtype, broadcast by axis as elementwise.hpp says.
// They give booleans: positions<KeyPos>() <= positions<Pos>() is a causal mask [KeyPos, Pos].
// Booleans have == and != only. Comparisons of floats are IEEE 754's: -0 equals 0, and NaN is
// unequal to everything, itself included, and neither less nor greater than anything; x != x is
// true where x is NaN. Misuse does not compile: see the WEFT_REJECT overloads.
#pragma once

#include "weft/ops/elementwise.hpp"

namespace weft {

#define WEFT_EQUALITY_RULES(name)                                                       \
  (tensor, name                                                                         \
   ": an operand is no tensor and no number; what comes with a run is an input, as in " \
   "s.input<\"x\", float, Embed>()"),                                                   \
      (elements, name ": the operands' elements differ; convert one with weft::cast"),  \
      (rank, name ": the operands have more than 8 axes between them"),                 \
      (narrow, name ": bfloat16 has no comparisons; convert with weft::cast<float>")
#define WEFT_ORDER_RULES(name)                                                          \
  (tensor, name                                                                         \
   ": an operand is no tensor and no number; what comes with a run is an input, as in " \
   "s.input<\"x\", float, Embed>()"),                                                   \
      (elements, name ": the operands' elements differ; convert one with weft::cast"),  \
      (rank, name ": the operands have more than 8 axes between them"),                 \
      (booleans, name ": booleans have no order; combine masks with && and ||"),        \
      (narrow, name ": bfloat16 has no comparisons; convert with weft::cast<float>")

// l < r (torch.lt).
template <class L, class R>
requires(detail::some_operand<L, R>&& detail::rule_of_operands<L, R, bool>() ==
         rule::none) constexpr auto
operator<(const L& l, const R& r) {
  return detail::comparison<op::less>(l, r);
}
template <class L, class R>
requires(detail::some_operand<L, R>&& detail::rule_of_operands<L, R, bool>() != rule::none)
    WEFT_REJECT((detail::rule_of_operands<L, R, bool>()), operator<(const L&, const R&),
                WEFT_ORDER_RULES("less"))
// l <= r (torch.le).
template <class L, class R>
requires(detail::some_operand<L, R>&& detail::rule_of_operands<L, R, bool>() ==
         rule::none) constexpr auto
operator<=(const L& l, const R& r) {
  return detail::comparison<op::less_equal>(l, r);
}
template <class L, class R>
requires(detail::some_operand<L, R>&& detail::rule_of_operands<L, R, bool>() != rule::none)
    WEFT_REJECT((detail::rule_of_operands<L, R, bool>()), operator<=(const L&, const R&),
                WEFT_ORDER_RULES("less_equal"))
// l > r (torch.gt), which is r < l: the axes of r come first in the result.
template <class L, class R>
requires(detail::some_operand<L, R>&& detail::rule_of_operands<L, R, bool>() ==
         rule::none) constexpr auto
operator>(const L& l, const R& r) {
  return detail::comparison<op::less>(r, l);
}
template <class L, class R>
requires(detail::some_operand<L, R>&& detail::rule_of_operands<L, R, bool>() != rule::none)
    WEFT_REJECT((detail::rule_of_operands<L, R, bool>()), operator>(const L&, const R&),
                WEFT_ORDER_RULES("greater"))
// l >= r (torch.ge), which is r <= l: the axes of r come first in the result.
template <class L, class R>
requires(detail::some_operand<L, R>&& detail::rule_of_operands<L, R, bool>() ==
         rule::none) constexpr auto
operator>=(const L& l, const R& r) {
  return detail::comparison<op::less_equal>(r, l);
}
template <class L, class R>
requires(detail::some_operand<L, R>&& detail::rule_of_operands<L, R, bool>() != rule::none)
    WEFT_REJECT((detail::rule_of_operands<L, R, bool>()), operator>=(const L&, const R&),
                WEFT_ORDER_RULES("greater_equal"))
// l == r (torch.eq).
template <class L, class R>
requires(detail::some_operand<L, R>&& detail::rule_of_operands<L, R>() == rule::none) constexpr auto
operator==(const L& l, const R& r) {
  return detail::comparison<op::equal>(l, r);
}
template <class L, class R>
requires(detail::some_operand<L, R>&& detail::rule_of_operands<L, R>() != rule::none)
    WEFT_REJECT((detail::rule_of_operands<L, R>()), operator==(const L&, const R&),
                WEFT_EQUALITY_RULES("equal"))
// l != r (torch.ne).
template <class L, class R>
requires(detail::some_operand<L, R>&& detail::rule_of_operands<L, R>() == rule::none) constexpr auto
operator!=(const L& l, const R& r) {
  return detail::comparison<op::not_equal>(l, r);
}
template <class L, class R>
requires(detail::some_operand<L, R>&& detail::rule_of_operands<L, R>() != rule::none)
    WEFT_REJECT((detail::rule_of_operands<L, R>()), operator!=(const L&, const R&),
                WEFT_EQUALITY_RULES("not_equal"))

#undef WEFT_EQUALITY_RULES
#undef WEFT_ORDER_RULES

}  // namespace weft
