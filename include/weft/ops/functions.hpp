// Elementwise functions of float tensors: x [...] to the same axes. Other dtypes do not compile.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/ops/arithmetic.hpp"
#include "weft/ops/compare.hpp"
#include "weft/ops/convert.hpp"
#include "weft/ops/mask.hpp"

namespace weft {

// The square root of an axis's length in this run, a float without axes, as in softmax(QKᵀ /
// sqrt(HeadDim)).
template <axis_like A>
constexpr auto sqrt(A) {
  return sqrt(length<A>());
}

// e^x (torch.exp).
WEFT_FLOAT_FUNCTION(exp, detail::unary<op::exp>(x))
// e^x - 1 (torch.expm1), as accurate where x is close to 0.
WEFT_FLOAT_FUNCTION(expm1, detail::unary<op::expm1>(x))
// The natural logarithm; -infinity at 0, NaN below 0 (torch.log).
WEFT_FLOAT_FUNCTION(log, detail::unary<op::log>(x))
// log(1 + x) (torch.log1p), as accurate where x is close to 0.
WEFT_FLOAT_FUNCTION(log1p, detail::unary<op::log1p>(x))
// The square root; NaN below 0 (torch.sqrt).
WEFT_FLOAT_FUNCTION(sqrt, detail::unary<op::sqrt>(x))
// 1 / sqrt(x) (torch.rsqrt).
WEFT_FLOAT_FUNCTION(rsqrt, 1 / sqrt(x))
// |x| (torch.abs), with a gradient of 0 at 0.
WEFT_FLOAT_FUNCTION(abs, maximum(x, 0 - x))
// -1, 0 or 1 (torch.sign), 0 for NaN. Its gradient is 0, as those of round, floor and ceil.
WEFT_FLOAT_FUNCTION(sign, cast<float>(0 < x) - cast<float>(x < 0))
// The nearest integer, of two the even one (torch.round).
WEFT_FLOAT_FUNCTION(round, detail::unary<op::round>(x))
// The greatest integer that is at most x (torch.floor).
WEFT_FLOAT_FUNCTION(floor, round(x) - cast<float>(x < round(x)))
// The least integer that is at least x (torch.ceil).
WEFT_FLOAT_FUNCTION(ceil, -floor(-x))
// Whether x is NaN (torch.isnan).
WEFT_FLOAT_FUNCTION(isnan, x != x)
// Whether x is neither infinite nor NaN (torch.isfinite).
WEFT_FLOAT_FUNCTION(isfinite, -infinity < x && x < infinity)
// The hyperbolic tangent (torch.tanh).
WEFT_FLOAT_FUNCTION(tanh, detail::unary<op::tanh>(x))
// The error function, 2/sqrt(π) times the integral of exp(-t²) from 0 to x (torch.erf).
WEFT_FLOAT_FUNCTION(erf, detail::unary<op::erf>(x))
// The sine of x in radians (torch.sin).
WEFT_FLOAT_FUNCTION(sin, detail::unary<op::sin>(x))
// The cosine of x in radians (torch.cos).
WEFT_FLOAT_FUNCTION(cos, detail::unary<op::cos>(x))
// 1 / (1 + exp(-x)) (torch.sigmoid).
WEFT_FLOAT_FUNCTION(sigmoid, detail::unary<op::sigmoid>(x))
// max(x, 0) (torch.relu); NaN where x is NaN, with a gradient of 0 there.
WEFT_FLOAT_FUNCTION(relu, detail::unary<op::relu>(x))
// x Φ(x) = x/2 (1 + erf(x / sqrt(2))) (Hendrycks and Gimpel 2016, section 2); torch.nn.GELU().
WEFT_FLOAT_FUNCTION(gelu, detail::unary<op::gelu>(x))
// x/2 (1 + tanh(sqrt(2/π) (x + 0.044715 x³))) (the same paper's approximation);
// torch.nn.GELU('tanh').
WEFT_FLOAT_FUNCTION(gelu_tanh, detail::unary<op::gelu_tanh>(x))
// x / (1 + exp(-x)) (Hendrycks and Gimpel 2016, section 2, as the SiLU); torch.nn.SiLU(), and swish
// with a β of 1.
WEFT_FLOAT_FUNCTION(silu, detail::binary<op::multiply>(x, sigmoid(x)))
// log(1 + e^x) (torch.nn.Softplus()); above 20 it is x, as PyTorch's.
WEFT_FLOAT_FUNCTION(softplus, where(20 < x, x, log1p(exp(where(20 < x, 0, x)))))
// x where it is greater than 0, elsewhere alpha (e^x - 1) (torch.nn.ELU).
WEFT_FLOAT_FUNCTION(elu, where(0 < x, x, expm1(where(0 < x, 0, x)) * alpha),
                    [[maybe_unused]] double alpha = 1)
// x where it is greater than 0, elsewhere slope x (torch.nn.LeakyReLU).
WEFT_FLOAT_FUNCTION(leaky_relu, where(0 < x, x, x* slope), [[maybe_unused]] double slope = 0.01)
// x, but not less than low and not more than high (torch.clamp), with x's gradient from low to high
// and 0 outside; NaN stays. Where low is greater than high, all is high.
WEFT_FLOAT_FUNCTION(clamp, where(high < x, high, where(x < low, low < high ? low : high, x)),
                    [[maybe_unused]] double low, [[maybe_unused]] double high)

}  // namespace weft
#include "weft/header_end.hpp"
