// Elementwise functions of float tensors: x [...] to the same axes. Other dtypes do not compile.
#pragma once

#include "weft/ops/elementwise.hpp"

namespace weft {

#define WEFT_FUNCTION_RULES(name) \
  (elements, name ": the elements are not float; convert with weft::cast<float>")

// e^x (torch.exp).
template <expression X>
constexpr auto exp(const X& x) {
  return detail::unary<op::exp>(x);
}
template <expression X>
requires(!detail::floating<X>)
    WEFT_REJECT((rule::elements), exp(const X&), WEFT_FUNCTION_RULES("exp"))

// The natural logarithm; -infinity at 0, NaN below 0 (torch.log).
template <expression X>
constexpr auto log(const X& x) {
  return detail::unary<op::log>(x);
}
template <expression X>
requires(!detail::floating<X>)
    WEFT_REJECT((rule::elements), log(const X&), WEFT_FUNCTION_RULES("log"))

// The square root; NaN below 0 (torch.sqrt).
template <expression X>
constexpr auto sqrt(const X& x) {
  return detail::unary<op::sqrt>(x);
}
template <expression X>
requires(!detail::floating<X>)
    WEFT_REJECT((rule::elements), sqrt(const X&), WEFT_FUNCTION_RULES("sqrt"))

// The hyperbolic tangent (torch.tanh).
template <expression X>
constexpr auto tanh(const X& x) {
  return detail::unary<op::tanh>(x);
}
template <expression X>
requires(!detail::floating<X>)
    WEFT_REJECT((rule::elements), tanh(const X&), WEFT_FUNCTION_RULES("tanh"))

// The error function, 2/sqrt(π) times the integral of exp(-t²) from 0 to x (torch.erf).
template <expression X>
constexpr auto erf(const X& x) {
  return detail::unary<op::erf>(x);
}
template <expression X>
requires(!detail::floating<X>)
    WEFT_REJECT((rule::elements), erf(const X&), WEFT_FUNCTION_RULES("erf"))

// The sine of x in radians (torch.sin).
template <expression X>
constexpr auto sin(const X& x) {
  return detail::unary<op::sin>(x);
}
template <expression X>
requires(!detail::floating<X>)
    WEFT_REJECT((rule::elements), sin(const X&), WEFT_FUNCTION_RULES("sin"))

// The cosine of x in radians (torch.cos).
template <expression X>
constexpr auto cos(const X& x) {
  return detail::unary<op::cos>(x);
}
template <expression X>
requires(!detail::floating<X>)
    WEFT_REJECT((rule::elements), cos(const X&), WEFT_FUNCTION_RULES("cos"))

// 1 / (1 + exp(-x)) (torch.sigmoid).
template <expression X>
constexpr auto sigmoid(const X& x) {
  return detail::unary<op::sigmoid>(x);
}
template <expression X>
requires(!detail::floating<X>)
    WEFT_REJECT((rule::elements), sigmoid(const X&), WEFT_FUNCTION_RULES("sigmoid"))

// max(x, 0) (torch.relu); NaN where x is NaN, with a gradient of 0 there.
template <expression X>
constexpr auto relu(const X& x) {
  return detail::unary<op::relu>(x);
}
template <expression X>
requires(!detail::floating<X>)
    WEFT_REJECT((rule::elements), relu(const X&), WEFT_FUNCTION_RULES("relu"))

// x Φ(x) = x/2 (1 + erf(x / sqrt(2))) (Hendrycks and Gimpel 2016, section 2); torch.nn.GELU().
template <expression X>
constexpr auto gelu(const X& x) {
  return detail::unary<op::gelu>(x);
}
template <expression X>
requires(!detail::floating<X>)
    WEFT_REJECT((rule::elements), gelu(const X&), WEFT_FUNCTION_RULES("gelu"))

// x/2 (1 + tanh(sqrt(2/π) (x + 0.044715 x³))) (the same paper's approximation);
// torch.nn.GELU('tanh').
template <expression X>
constexpr auto gelu_tanh(const X& x) {
  return detail::unary<op::gelu_tanh>(x);
}
template <expression X>
requires(!detail::floating<X>)
    WEFT_REJECT((rule::elements), gelu_tanh(const X&), WEFT_FUNCTION_RULES("gelu_tanh"))

// x / (1 + exp(-x)) (Hendrycks and Gimpel 2016, section 2, as the SiLU); torch.nn.SiLU(), and swish
// with a β of 1.
template <expression X>
constexpr auto silu(const X& x) {
  return detail::binary<op::multiply>(x, sigmoid(x));
}
template <expression X>
requires(!detail::floating<X>)
    WEFT_REJECT((rule::elements), silu(const X&), WEFT_FUNCTION_RULES("silu"))

// The square root of an axis's length in this run, a float without axes, as in softmax(QKᵀ /
// sqrt(HeadDim)).
template <axis_like A>
constexpr auto sqrt(A) {
  return sqrt(length<A>());
}

#undef WEFT_FUNCTION_RULES

}  // namespace weft
