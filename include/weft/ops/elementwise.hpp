// Common parts of the elementwise operations in arithmetic.hpp, compare.hpp, mask.hpp, convert.hpp
// and functions.hpp. Operands are broadcast by axis name: the result has the axes of the first
// operand, then those that only later operands have, at most 8 together. A C++ scalar counts as a
// tensor without axes, of the other operand's dtype.
#pragma once
#include "weft/header_begin.hpp"

#include <concepts>
#include <cstdint>
#include <limits>
#include <utility>

#include "weft/graph/reject.hpp"
#include "weft/graph/tensor.hpp"
#include "weft/ops/sources.hpp"

namespace weft {

namespace detail {

template <class X>
concept number = std::is_arithmetic_v<X>;

// Clang asks which rule a call breaks before it checks the constraints of the rejecting overload,
// so what the rules are made of is defined for every type.
template <class X, class T>
inline constexpr bool has_elements = false;
template <expression X, class T>
inline constexpr bool has_elements<X, T> = std::same_as<element_t<X>, T>;
template <class X>
inline constexpr bool floating = has_elements<X, float>;
template <class X>
inline constexpr bool logical = has_elements<X, bool>;
template <class X>
inline constexpr bool narrow = has_elements<X, bfloat16>;

// Whether a C++ scalar of type N may be combined with a tensor of dtype T: integers with float and
// int32, floating point with float only, nothing with bool.
template <class N, class T>
inline constexpr bool fits = !std::same_as<T, bool> && !std::same_as<T, bfloat16> &&
                             (std::floating_point<T> || std::integral<N>);

template <class L, class R>
inline constexpr bool same_elements = false;
template <expression L, expression R>
inline constexpr bool same_elements<L, R> = std::same_as<element_t<L>, element_t<R>>;
template <expression L, number R>
inline constexpr bool same_elements<L, R> = fits<R, element_t<L>>;
template <number L, expression R>
inline constexpr bool same_elements<L, R> = fits<L, element_t<R>>;

// The axes of an operand; a scalar has none.
template <class X>
struct operand_axes {
  using type = shape<>;
};
template <expression X>
struct operand_axes<X> {
  using type = shape_t<X>;
};
template <class X>
using operand_axes_t = typename operand_axes<X>::type;
template <class L, class R>
inline constexpr int operands_rank = united_rank<operand_axes_t<L>, operand_axes_t<R>>;

// A finite scalar that overflows to infinity, or one that underflows to 0, as float is an error.
template <std::floating_point N>
constexpr model_fault fault_as_float(N value) {
  using float_limits = std::numeric_limits<float>;
  const N size = value < 0 ? -value : value;
  if (size > N{float_limits::max()} && size <= std::numeric_limits<N>::max())
    return model_fault::infinite;
  const bool is_lost = size > 0 && size <= N{float_limits::denorm_min()} / 2;
  return is_lost ? model_fault::zero : model_fault::none;
}

// The constant `value`, in a model that is refused if there is a fault.
template <class T>
constexpr auto constant_unless(model_fault why, T value) {
  auto c = constant(value);
  fault_of_value(c.nodes[0]) = static_cast<std::int64_t>(why);
  return c;
}

// A scalar operand becomes a constant of the expression's dtype.
template <class Like, expression X>
constexpr const X& lift(const X& x) {
  return x;
}
template <class Like, number N>
constexpr auto lift(N value) {
  model_fault why = model_fault::none;
  if constexpr (std::same_as<Like, std::int32_t>)
    if (!std::in_range<std::int32_t>(value)) why = model_fault::integer;
  if constexpr (std::floating_point<N> && !std::same_as<N, float>) why = fault_as_float(value);
  return constant_unless(why, why == model_fault::none ? static_cast<Like>(value) : Like{});
}
template <class L, class R>
struct common_element {
  using type = element_t<L>;
};
template <number L, class R>
struct common_element<L, R> {
  using type = element_t<R>;
};

template <op Kind, class Out, expression... Xs>
constexpr auto elementwise(const Xs&... xs) {
  using S = decltype((shape<>{} + ... + shape_t<Xs>{}));
  return append<Out, S>(make_node(Kind), xs...);
}
template <op Kind, expression X>
constexpr auto unary(const X& x) {
  return elementwise<Kind, element_t<X>>(x);
}
template <op Kind, class L, class R>
constexpr auto binary(const L& l, const R& r) {
  using T = typename common_element<L, R>::type;
  return elementwise<Kind, T>(lift<T>(l), lift<T>(r));
}
template <op Kind, class L, class R>
constexpr auto comparison(const L& l, const R& r) {
  using T = typename common_element<L, R>::type;
  return elementwise<Kind, bool>(lift<T>(l), lift<T>(r));
}

// Two operands of an elementwise operation: at least one is an expression.
template <class L, class R>
concept operands = (expression<L> && (expression<R> || number<R>)) || (number<L> && expression<R>);

// One may be none, which is refused.
template <class L, class R>
concept some_operand = expression<L> || expression<R>;

// The first rule that two operands break, where the dtypes Without are not allowed; bfloat16 never
// is.
template <class L, class R, class... Without>
constexpr rule rule_of_operands() {
  constexpr bool is_excluded = ((has_elements<L, Without> || has_elements<R, Without>) || ...);
  constexpr bool is_logical = logical<L> || logical<R>;
  constexpr int rank = operands_rank<L, R>;
  if (!operands<L, R>) return rule::tensor;
  if (rank > max_rank) return rule::rank;
  if (narrow<L> || narrow<R>) return rule::narrow;
  if (!same_elements<L, R>) return rule::elements;
  if (is_excluded) return is_logical ? rule::booleans : rule::integers;
  return rule::none;
}

}  // namespace detail

// The rules of every function of two operands, and its overload for invalid ones, of which the
// types are L and R.
#define WEFT_OPERAND_RULES(name)                                                        \
  (tensor, name                                                                         \
   ": an operand is no tensor and no number; what comes with a run is an input, as in " \
   "s.input<\"x\", float, Embed>()"),                                                   \
      (elements, name ": the operands' elements differ; convert one with weft::cast"),  \
      WEFT_TOO_MANY_AXES(name)
#define WEFT_REJECT_OPERANDS(function, found, ...)                                          \
  WEFT_REJECT_IF((class L, detail::some_operand<L> R), found, function(const L&, const R&), \
                 __VA_ARGS__)

}  // namespace weft
#include "weft/header_end.hpp"
