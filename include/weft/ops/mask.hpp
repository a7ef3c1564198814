// Boolean masks, and selection by them.
#pragma once
#include "weft/header_begin.hpp"

#include <limits>

#include "weft/ops/elementwise.hpp"

namespace weft {

// A score of -infinity gets weight 0: softmax<KeyPos>(where(mask, scores, -weft::infinity)).
inline constexpr float infinity = std::numeric_limits<float>::infinity();

namespace detail {

template <class L, class R>
constexpr rule rule_of_masks() {
  constexpr int rank = operands_rank<L, R>;
  if (rank > max_rank) return rule::rank;
  if (!logical<L> || !logical<R>) return rule::elements;
  return rule::none;
}

template <class C, class A, class B>
constexpr rule rule_of_where() {
  using S = united<operand_axes_t<A>, operand_axes_t<B>>;
  constexpr int rank = united_rank<S, operand_axes_t<C>>;
  if (rank > max_rank) return rule::rank;
  if (!logical<C>) return rule::condition;
  if (!same_elements<A, B>) return rule::choices;
  return rule::none;
}

}  // namespace detail

// Elementwise logical and (torch.logical_and) of boolean operands, broadcast by axis as
// elementwise.hpp says. Other dtypes do not compile.
template <expression L, expression R>
constexpr auto operator&&(const L& l, const R& r) {
  return detail::elementwise<op::logical_and, bool>(l, r);
}
WEFT_REJECT_IF((expression L, expression R),
               (detail::rule_of_masks<L, R>()), operator&&(const L&, const R&),
               (elements, "and: both operands are masks of booleans"), WEFT_TOO_MANY_AXES("and"))
// Elementwise logical or (torch.logical_or), likewise.
template <expression L, expression R>
constexpr auto operator||(const L& l, const R& r) {
  return detail::elementwise<op::logical_or, bool>(l, r);
}
WEFT_REJECT_IF((expression L, expression R),
               (detail::rule_of_masks<L, R>()), operator||(const L&, const R&),
               (elements, "or: both operands are masks of booleans"), WEFT_TOO_MANY_AXES("or"))
// Elementwise logical not (torch.logical_not) of a boolean operand. Other dtypes do not compile.
template <expression X>
constexpr auto operator!(const X& x) {
  return detail::unary<op::logical_not>(x);
}
template <expression X>
requires(!detail::logical<X>) WEFT_REJECT((rule::elements), operator!(const X&),
                                          (elements, "not: the operand is a mask of booleans"))

// The element of `then` where the boolean condition is true, else that of `otherwise`
// (torch.where), broadcast by axis: the result's axes are those of `then`, those that only
// `otherwise` has, then those that only the condition has. `then` and `otherwise` have one dtype,
// the result's. Either may be a C++ scalar.
template <expression C, class A, detail::operands<A> B>
constexpr auto where(const C& condition, const A& then, const B& otherwise) {
  using T = typename detail::common_element<A, B>::type;
  const auto a = detail::lift<T>(then);
  const auto b = detail::lift<T>(otherwise);
  using S = united<
      united<shape_t<std::remove_cvref_t<decltype(a)>>, shape_t<std::remove_cvref_t<decltype(b)>>>,
      shape_t<C>>;
  return append<T, S>(make_node(op::where), condition, a, b);
}
// The same of two C++ scalars: float, or int32 if both are integers.
template <expression C, detail::number A, detail::number B>
requires detail::logical<C>
constexpr auto where(const C& condition, A then, B otherwise) {
  using T = std::conditional_t<std::integral<A> && std::integral<B>, std::int32_t, float>;
  return where(condition, detail::lift<T>(then), otherwise);
}
WEFT_REJECT_IF((expression C, class A, detail::operands<A> B), (detail::rule_of_where<C, A, B>()),
               where(const C&, const A&, const B&), WEFT_TOO_MANY_AXES("where"),
               (condition,
                "where: the condition is a mask of booleans, such as a comparison gives"),
               (choices, "where: the two choices' elements differ; convert one with weft::cast"))

}  // namespace weft
#include "weft/header_end.hpp"
