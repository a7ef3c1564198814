// Elementwise functions of float tensors: x [...] to the same axes. Other dtypes do not compile.
#pragma once

#include "weft/ops/elementwise.hpp"

namespace weft {

#define WEFT_REJECT_NON_FLOATS(function) \
  template <expression X>                \
  requires(!detail::floating<X>)         \
      WEFT_REJECT((rule::elements), function(const X&), WEFT_NOT_FLOAT(#function))

// e^x (torch.exp).
template <expression X>
constexpr auto exp(const X& x) {
  return detail::unary<op::exp>(x);
}
WEFT_REJECT_NON_FLOATS(exp)

// The natural logarithm; -infinity at 0, NaN below 0 (torch.log).
template <expression X>
constexpr auto log(const X& x) {
  return detail::unary<op::log>(x);
}
WEFT_REJECT_NON_FLOATS(log)

// The square root; NaN below 0 (torch.sqrt).
template <expression X>
constexpr auto sqrt(const X& x) {
  return detail::unary<op::sqrt>(x);
}
WEFT_REJECT_NON_FLOATS(sqrt)

// The hyperbolic tangent (torch.tanh).
template <expression X>
constexpr auto tanh(const X& x) {
  return detail::unary<op::tanh>(x);
}
WEFT_REJECT_NON_FLOATS(tanh)

// The error function, 2/sqrt(π) times the integral of exp(-t²) from 0 to x (torch.erf).
template <expression X>
constexpr auto erf(const X& x) {
  return detail::unary<op::erf>(x);
}
WEFT_REJECT_NON_FLOATS(erf)

// The sine of x in radians (torch.sin).
template <expression X>
constexpr auto sin(const X& x) {
  return detail::unary<op::sin>(x);
}
WEFT_REJECT_NON_FLOATS(sin)

// The cosine of x in radians (torch.cos).
template <expression X>
constexpr auto cos(const X& x) {
  return detail::unary<op::cos>(x);
}
WEFT_REJECT_NON_FLOATS(cos)

// 1 / (1 + exp(-x)) (torch.sigmoid).
template <expression X>
constexpr auto sigmoid(const X& x) {
  return detail::unary<op::sigmoid>(x);
}
WEFT_REJECT_NON_FLOATS(sigmoid)

// max(x, 0) (torch.relu); NaN where x is NaN, with a gradient of 0 there.
template <expression X>
constexpr auto relu(const X& x) {
  return detail::unary<op::relu>(x);
}
WEFT_REJECT_NON_FLOATS(relu)

// x Φ(x) = x/2 (1 + erf(x / sqrt(2))) (Hendrycks and Gimpel 2016, section 2); torch.nn.GELU().
template <expression X>
constexpr auto gelu(const X& x) {
  return detail::unary<op::gelu>(x);
}
WEFT_REJECT_NON_FLOATS(gelu)

// x/2 (1 + tanh(sqrt(2/π) (x + 0.044715 x³))) (the same paper's approximation);
// torch.nn.GELU('tanh').
template <expression X>
constexpr auto gelu_tanh(const X& x) {
  return detail::unary<op::gelu_tanh>(x);
}
WEFT_REJECT_NON_FLOATS(gelu_tanh)

// x / (1 + exp(-x)) (Hendrycks and Gimpel 2016, section 2, as the SiLU); torch.nn.SiLU(), and swish
// with a β of 1.
template <expression X>
constexpr auto silu(const X& x) {
  return detail::binary<op::multiply>(x, sigmoid(x));
}
WEFT_REJECT_NON_FLOATS(silu)

// The square root of an axis's length in this run, a float without axes, as in softmax(QKᵀ /
// sqrt(HeadDim)).
template <axis_like A>
constexpr auto sqrt(A) {
  return sqrt(length<A>());
}

#undef WEFT_REJECT_NON_FLOATS

}  // namespace weft
