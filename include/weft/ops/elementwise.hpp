// Operations on each element by itself. Operands are broadcast by axis: the result has the axes of
// the first operand, then those that only later operands have. A number takes part as a tensor
// without axes.
#pragma once

#include <concepts>

#include "weft/graph/reject.hpp"
#include "weft/graph/tensor.hpp"
#include "weft/ops/sources.hpp"

namespace weft {

template <class X>
concept number = std::is_arithmetic_v<X>;

namespace detail {

template <class X>
inline constexpr bool floating = std::same_as<element_t<X>, float>;
template <class X>
inline constexpr bool logical = std::same_as<element_t<X>, bool>;

// May this number stand beside elements T without a change of its value's kind?
template <class N, class T>
inline constexpr bool fits = !std::same_as<T, bool> && (std::floating_point<T> || std::integral<N>);

template <class L, class R>
inline constexpr bool same_elements = false;
template <expression L, expression R>
inline constexpr bool same_elements<L, R> = std::same_as<element_t<L>, element_t<R>>;
template <expression L, number R>
inline constexpr bool same_elements<L, R> = fits<R, element_t<L>>;
template <number L, expression R>
inline constexpr bool same_elements<L, R> = fits<L, element_t<R>>;

template <class L, class R>
inline constexpr bool any_logical = false;
template <expression L, expression R>
inline constexpr bool any_logical<L, R> = logical<L> || logical<R>;

// The axes of an operand; a number has none.
template <class X>
struct operand_axes {
  using type = shape<>;
};
template <expression X>
struct operand_axes<X> {
  using type = shape_t<X>;
};
template <class L, class R>
inline constexpr int operands_rank =
    united_rank<typename operand_axes<L>::type, typename operand_axes<R>::type>;

// A number beside an expression becomes a constant of the expression's elements.
template <class Like, expression X>
constexpr const X& lift(const X& x) {
  return x;
}
template <class Like, number N>
constexpr auto lift(N value) {
  return constant(static_cast<Like>(value));
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
  return append<Out, S>(node{.kind = Kind}, xs...);
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

}  // namespace detail

// Two operands of an elementwise operation: at least one is an expression.
template <class L, class R>
concept operands = (expression<L> && (expression<R> || number<R>)) || (number<L> && expression<R>);

// What can be wrong with them, one at a time.
template <class L, class R>
concept crowded = operands<L, R> &&(detail::operands_rank<L, R> > max_rank);
template <class L, class R>
concept mixed = operands<L, R> && !crowded<L, R> && !detail::same_elements<L, R>;
template <class L, class R>
concept both_logical =
    operands<L, R> && !crowded<L, R> && detail::same_elements<L, R> && detail::any_logical<L, R>;

// l + r, element by element.
template <class L, class R>
requires operands<L, R>
constexpr auto operator+(const L& l, const R& r) {
  return detail::binary<op::add>(l, r);
}
template <class L, class R>
requires mixed<L, R> WEFT_REJECT(
    "add: the operands' elements differ; convert one with weft::cast", operator+(const L&,
                                                                                 const R&))
template <class L, class R>
requires crowded<L, R> WEFT_REJECT(
    "add: the operands have more than 8 axes between them", operator+(const L&, const R&))
template <class L, class R>
requires both_logical<L, R> WEFT_REJECT(
    "add: booleans have no arithmetic; choose with weft::where", operator+(const L&, const R&))
// l - r, element by element.
template <class L, class R>
requires operands<L, R>
constexpr auto operator-(const L& l, const R& r) {
  return detail::binary<op::subtract>(l, r);
}
template <class L, class R>
requires mixed<L, R> WEFT_REJECT(
    "subtract: the operands' elements differ; convert one with weft::cast", operator-(const L&,
                                                                                      const R&))
template <class L, class R>
requires crowded<L, R> WEFT_REJECT(
    "subtract: the operands have more than 8 axes between them", operator-(const L&, const R&))
template <class L, class R>
requires both_logical<L, R> WEFT_REJECT(
    "subtract: booleans have no arithmetic; choose with weft::where", operator-(const L&, const R&))
// l * r, element by element.
template <class L, class R>
requires operands<L, R>
constexpr auto operator*(const L& l, const R& r) {
  return detail::binary<op::multiply>(l, r);
}
template <class L, class R>
requires mixed<L, R> WEFT_REJECT(
    "multiply: the operands' elements differ; convert one with weft::cast", operator*(const L&,
                                                                                      const R&))
template <class L, class R>
requires crowded<L, R> WEFT_REJECT(
    "multiply: the operands have more than 8 axes between them", operator*(const L&, const R&))
template <class L, class R>
requires both_logical<L, R> WEFT_REJECT(
    "multiply: booleans have no arithmetic; choose with weft::where", operator*(const L&, const R&))
// l / r, element by element.
template <class L, class R>
requires operands<L, R>
constexpr auto operator/(const L& l, const R& r) {
  return detail::binary<op::divide>(l, r);
}
template <class L, class R>
requires mixed<L, R> WEFT_REJECT(
    "divide: the operands' elements differ; convert one with weft::cast", operator/(const L&,
                                                                                    const R&))
template <class L, class R>
requires crowded<L, R> WEFT_REJECT(
    "divide: the operands have more than 8 axes between them", operator/(const L&, const R&))
template <class L, class R>
requires both_logical<L, R> WEFT_REJECT(
    "divide: booleans have no arithmetic; choose with weft::where", operator/(const L&, const R&))
template <class L, class R>
requires(operands<L, R> && !crowded<L, R> && detail::same_elements<L, R> &&
         std::same_as<typename detail::common_element<L, R>::type, std::int32_t>)
    WEFT_REJECT(
        "divide: integers are not divided; convert with weft::cast<float>", operator/(const L&,
                                                                                      const R&))
// The greater of two, element by element; NaN where either is.
template <class L, class R>
requires operands<L, R>
constexpr auto maximum(const L& l, const R& r) {
  return detail::binary<op::maximum>(l, r);
}
template <class L, class R>
requires mixed<L, R> WEFT_REJECT(
    "maximum: the operands' elements differ; convert one with weft::cast",
    maximum(const L&, const R&))
template <class L, class R>
requires crowded<L, R> WEFT_REJECT("maximum: the operands have more than 8 axes between them",
                                   maximum(const L&, const R&))
template <class L, class R>
requires both_logical<L, R> WEFT_REJECT(
    "maximum: booleans have no arithmetic; choose with weft::where", maximum(const L&, const R&))
// The lesser of two, element by element; NaN where either is.
template <class L, class R>
requires operands<L, R>
constexpr auto minimum(const L& l, const R& r) {
  return detail::binary<op::minimum>(l, r);
}
template <class L, class R>
requires mixed<L, R> WEFT_REJECT(
    "minimum: the operands' elements differ; convert one with weft::cast",
    minimum(const L&, const R&))
template <class L, class R>
requires crowded<L, R> WEFT_REJECT("minimum: the operands have more than 8 axes between them",
                                   minimum(const L&, const R&))
template <class L, class R>
requires both_logical<L, R> WEFT_REJECT(
    "minimum: booleans have no arithmetic; choose with weft::where", minimum(const L&, const R&))
// Comparisons give booleans: positions<KeyPos>() <= positions<Pos>() is a causal mask [KeyPos,
// Pos].
template <class L, class R>
requires operands<L, R>
constexpr auto operator<(const L& l, const R& r) {
  return detail::comparison<op::less>(l, r);
}
template <class L, class R>
requires mixed<L, R> WEFT_REJECT(
    "less: the operands' elements differ; convert one with weft::cast", operator<(const L&,
                                                                                  const R&))
template <class L, class R>
requires crowded<L, R> WEFT_REJECT(
    "less: the operands have more than 8 axes between them", operator<(const L&, const R&))
template <class L, class R>
requires both_logical<L, R> WEFT_REJECT(
    "less: booleans have no order; combine masks with && and ||", operator<(const L&, const R&))
template <class L, class R>
requires operands<L, R>
constexpr auto operator<=(const L& l, const R& r) {
  return detail::comparison<op::less_equal>(l, r);
}
template <class L, class R>
requires mixed<L, R> WEFT_REJECT(
    "less_equal: the operands' elements differ; convert one with weft::cast", operator<=(const L&,
                                                                                         const R&))
template <class L, class R>
requires crowded<L, R> WEFT_REJECT(
    "less_equal: the operands have more than 8 axes between them", operator<=(const L&, const R&))
template <class L, class R>
requires both_logical<L, R> WEFT_REJECT(
    "less_equal: booleans have no order; combine masks with && and ||", operator<=(const L&,
                                                                                   const R&))
template <class L, class R>
requires operands<L, R>
constexpr auto operator>(const L& l, const R& r) {
  return detail::comparison<op::less>(r, l);
}
template <class L, class R>
requires mixed<L, R> WEFT_REJECT(
    "greater: the operands' elements differ; convert one with weft::cast", operator>(const L&,
                                                                                     const R&))
template <class L, class R>
requires crowded<L, R> WEFT_REJECT(
    "greater: the operands have more than 8 axes between them", operator>(const L&, const R&))
template <class L, class R>
requires both_logical<L, R> WEFT_REJECT(
    "greater: booleans have no order; combine masks with && and ||", operator>(const L&, const R&))
template <class L, class R>
requires operands<L, R>
constexpr auto operator>=(const L& l, const R& r) {
  return detail::comparison<op::less_equal>(r, l);
}
template <class L, class R>
requires mixed<L, R> WEFT_REJECT(
    "greater_equal: the operands' elements differ; convert one with weft::cast", operator>=(
                                                                                     const L&,
                                                                                     const R&))
template <class L, class R>
requires crowded<L, R> WEFT_REJECT(
    "greater_equal: the operands have more than 8 axes between them", operator>=(const L&,
                                                                                 const R&))
template <class L, class R>
requires both_logical<L, R> WEFT_REJECT(
    "greater_equal: booleans have no order; combine masks with && and ||", operator>=(const L&,
                                                                                      const R&))
template <class L, class R>
requires operands<L, R>
constexpr auto operator==(const L& l, const R& r) {
  return detail::comparison<op::equal>(l, r);
}
template <class L, class R>
requires mixed<L, R> WEFT_REJECT(
    "equal: the operands' elements differ; convert one with weft::cast", operator==(const L&,
                                                                                    const R&))
template <class L, class R>
requires crowded<L, R> WEFT_REJECT(
    "equal: the operands have more than 8 axes between them", operator==(const L&, const R&))
template <class L, class R>
requires operands<L, R>
constexpr auto operator!=(const L& l, const R& r) {
  return detail::comparison<op::not_equal>(l, r);
}
template <class L, class R>
requires mixed<L, R> WEFT_REJECT(
    "not_equal: the operands' elements differ; convert one with weft::cast", operator!=(const L&,
                                                                                        const R&))
template <class L, class R>
requires crowded<L, R> WEFT_REJECT(
    "not_equal: the operands have more than 8 axes between them", operator!=(const L&, const R&))
// Booleans, element by element.
template <expression L, expression R>
constexpr auto operator&&(const L& l, const R& r) {
  return detail::elementwise<op::logical_and, bool>(l, r);
}
template <expression L, expression R>
requires(!crowded<L, R> && !(detail::logical<L> && detail::logical<R>))
    WEFT_REJECT("and: both operands are masks of booleans", operator&&(const L&, const R&))
template <expression L, expression R>
requires crowded<L, R> WEFT_REJECT(
    "and: the operands have more than 8 axes between them", operator&&(const L&, const R&))
template <expression L, expression R>
constexpr auto operator||(const L& l, const R& r) {
  return detail::elementwise<op::logical_or, bool>(l, r);
}
template <expression L, expression R>
requires(!crowded<L, R> && !(detail::logical<L> && detail::logical<R>))
    WEFT_REJECT("or: both operands are masks of booleans", operator||(const L&, const R&))
template <expression L, expression R>
requires crowded<L, R> WEFT_REJECT(
    "or: the operands have more than 8 axes between them", operator||(const L&, const R&))
template <expression X>
constexpr auto operator!(const X& x) {
  return detail::unary<op::logical_not>(x);
}
template <expression X>
requires(!detail::logical<X>)
    WEFT_REJECT("not: the operand is a mask of booleans", operator!(const X&))

namespace detail {

enum class where_fault { none, rank, condition, choices };

template <class C, class A, class B>
constexpr where_fault fault_of_where() {
  using S = united<typename operand_axes<A>::type, typename operand_axes<B>::type>;
  if (united_rank < S, shape_t < C >>> max_rank) return where_fault::rank;
  if (!logical<C>) return where_fault::condition;
  if (!same_elements<A, B>) return where_fault::choices;
  return where_fault::none;
}

enum class broadcast_fault { none, kind, twice, rank };

template <class X, class... Axes>
constexpr broadcast_fault fault_of_broadcast() {
  if (!(an_axis<Axes> && ...)) return broadcast_fault::kind;
  if (!distinct<shape<Axes...>>) return broadcast_fault::twice;
  if (united_rank < shape_t<X>, shape < Axes... >>> max_rank) return broadcast_fault::rank;
  return broadcast_fault::none;
}

}  // namespace detail

// Where the condition holds the element of `then`, else that of `otherwise`; either may be a
// number. The result's axes begin with those of the condition only where no operand before has
// them: they are those of `then`, of `otherwise`, then of the condition.
template <expression C, class A, class B>
requires operands<A, B>
constexpr auto where(const C& condition, const A& then, const B& otherwise) {
  using T = typename detail::common_element<A, B>::type;
  auto const a = detail::lift<T>(then);
  auto const b = detail::lift<T>(otherwise);
  using S = united<
      united<shape_t<std::remove_cvref_t<decltype(a)>>, shape_t<std::remove_cvref_t<decltype(b)>>>,
      shape_t<C>>;
  return append<T, S>(node{.kind = op::where}, condition, a, b);
}
template <expression C, class A, class B>
requires(operands<A, B>&& detail::fault_of_where<C, A, B>() == detail::where_fault::rank)
    WEFT_REJECT("where: the operands have more than 8 axes between them",
                where(const C&, const A&, const B&))
template <expression C, class A, class B>
requires(operands<A, B>&& detail::fault_of_where<C, A, B>() == detail::where_fault::condition)
    WEFT_REJECT("where: the condition is a mask of booleans, such as a comparison gives",
                where(const C&, const A&, const B&))
template <expression C, class A, class B>
requires(operands<A, B>&& detail::fault_of_where<C, A, B>() == detail::where_fault::choices)
    WEFT_REJECT("where: the two choices' elements differ; convert one with weft::cast",
                where(const C&, const A&, const B&))

// The elements as T: a float becomes an integer towards zero, a boolean 0 or 1, a number != 0.
template <class T, expression X>
requires is_element<T>
constexpr auto cast(const X& x) {
  return detail::elementwise<op::cast, T>(x);
}
template <class T, expression X>
requires(!is_element<T>)
    WEFT_REJECT("cast: the new elements are float, std::int32_t or bool, as in cast<float>(x)",
                cast(const X&))

// The elements again for every index of Axes that x does not have: [axes of x..., Axes...].
template <class... Axes, expression X>
constexpr auto broadcast(const X& x) {
  return append<element_t<X>, united<shape_t<X>, shape<Axes...>>>(node{.kind = op::copy}, x);
}
template <class... Axes, expression X>
requires(detail::fault_of_broadcast<X, Axes...>() == detail::broadcast_fault::kind)
    WEFT_REJECT("broadcast: name axes, as in broadcast<Batch, Pos>(x)", broadcast(const X&))
template <class... Axes, expression X>
requires(detail::fault_of_broadcast<X, Axes...>() == detail::broadcast_fault::twice)
    WEFT_REJECT("broadcast: an axis is named twice", broadcast(const X&))
template <class... Axes, expression X>
requires(detail::fault_of_broadcast<X, Axes...>() == detail::broadcast_fault::rank)
    WEFT_REJECT("broadcast: the result has more than 8 axes", broadcast(const X&))

// -x
template <expression X>
constexpr auto operator-(const X& x) {
  return detail::unary<op::negate>(x);
}
template <expression X>
requires detail::logical<X> WEFT_REJECT(
    "negate: a mask is turned round with !", operator-(const X&))

// e to the x.
template <expression X>
constexpr auto exp(const X& x) {
  return detail::unary<op::exp>(x);
}
template <expression X>
requires(!detail::floating<X>)
    WEFT_REJECT("exp: the elements are not float; convert with weft::cast<float>", exp(const X&))

// The natural logarithm; -infinity at 0, NaN below.
template <expression X>
constexpr auto log(const X& x) {
  return detail::unary<op::log>(x);
}
template <expression X>
requires(!detail::floating<X>)
    WEFT_REJECT("log: the elements are not float; convert with weft::cast<float>", log(const X&))

// The square root; NaN below 0.
template <expression X>
constexpr auto sqrt(const X& x) {
  return detail::unary<op::sqrt>(x);
}
template <expression X>
requires(!detail::floating<X>)
    WEFT_REJECT("sqrt: the elements are not float; convert with weft::cast<float>", sqrt(const X&))

// The hyperbolic tangent.
template <expression X>
constexpr auto tanh(const X& x) {
  return detail::unary<op::tanh>(x);
}
template <expression X>
requires(!detail::floating<X>)
    WEFT_REJECT("tanh: the elements are not float; convert with weft::cast<float>", tanh(const X&))

// The error function.
template <expression X>
constexpr auto erf(const X& x) {
  return detail::unary<op::erf>(x);
}
template <expression X>
requires(!detail::floating<X>)
    WEFT_REJECT("erf: the elements are not float; convert with weft::cast<float>", erf(const X&))

// The sine of x in radians.
template <expression X>
constexpr auto sin(const X& x) {
  return detail::unary<op::sin>(x);
}
template <expression X>
requires(!detail::floating<X>)
    WEFT_REJECT("sin: the elements are not float; convert with weft::cast<float>", sin(const X&))

// The cosine of x in radians.
template <expression X>
constexpr auto cos(const X& x) {
  return detail::unary<op::cos>(x);
}
template <expression X>
requires(!detail::floating<X>)
    WEFT_REJECT("cos: the elements are not float; convert with weft::cast<float>", cos(const X&))

// 1 / (1 + exp(-x)).
template <expression X>
constexpr auto sigmoid(const X& x) {
  return detail::unary<op::sigmoid>(x);
}
template <expression X>
requires(!detail::floating<X>)
    WEFT_REJECT("sigmoid: the elements are not float; convert with weft::cast<float>",
                sigmoid(const X&))

// max(x, 0).
template <expression X>
constexpr auto relu(const X& x) {
  return detail::unary<op::relu>(x);
}
template <expression X>
requires(!detail::floating<X>)
    WEFT_REJECT("relu: the elements are not float; convert with weft::cast<float>", relu(const X&))

// x Φ(x), by erf (Hendrycks and Gimpel 2016, section 2); torch.nn.GELU().
template <expression X>
constexpr auto gelu(const X& x) {
  return detail::unary<op::gelu>(x);
}
template <expression X>
requires(!detail::floating<X>)
    WEFT_REJECT("gelu: the elements are not float; convert with weft::cast<float>", gelu(const X&))

// x/2 (1 + tanh(sqrt(2/π) (x + 0.044715 x³))) (the same paper's approximation);
// torch.nn.GELU('tanh').
template <expression X>
constexpr auto gelu_tanh(const X& x) {
  return detail::unary<op::gelu_tanh>(x);
}
template <expression X>
requires(!detail::floating<X>)
    WEFT_REJECT("gelu_tanh: the elements are not float; convert with weft::cast<float>",
                gelu_tanh(const X&))

// The square root of an axis's length, as in softmax(QKᵀ / sqrt(HeadDim)).
template <an_axis A>
constexpr auto sqrt(A) {
  return sqrt(length<A>());
}

}  // namespace weft
