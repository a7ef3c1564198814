// tanh, erf, sigmoid and gelu of float vectors.
#if defined(WEFT_KERNELS_MATH_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_MATH_ACTIVATION_INL_H_
#undef WEFT_KERNELS_MATH_ACTIVATION_INL_H_
#else
#define WEFT_KERNELS_MATH_ACTIVATION_INL_H_
#endif

#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/math/exp_log-inl.h"
#include "weft/kernels/math/polynomial-inl.h"
#include "weft/kernels/vec_array-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE::math {

// 1.41 ulp; 1.57 without fused multiply-add.
template <class D, int n>
HWY_INLINE vec_array<D, n> tanh(D d, const vec_array<D, n>& x) {
  using V = hn::Vec<D>;
  const V one = hn::Set(d, 1.0f);
  // From 9.02 on, tanh rounds to 1.
  vec_array<D, n> large = x;
  large.map([=](V v) HWY_ATTR { return at_most(hn::Set(d, 10.0f), hn::Abs(v)); });
  large = exp2_of_product<exp2_to_6>(
      d, large, vec_array<D, n>::of([=](int) HWY_ATTR { return hn::Set(d, 2 * log2_e); }));
  large.map([=](V e) HWY_ATTR { return hn::Sub(one, hn::Div(hn::Set(d, 2.0f), hn::Add(e, one))); });
  vec_array<D, n> square = x;
  square.map([](V v) HWY_ATTR { return hn::Mul(v, v); });
  static constexpr coefficients c(
      {-0.333332807f, 0.133314237f, -0.0537379794f, 0.0206330623f, -0.00569789577f});
  vec_array<D, n> y = polynomial<c>(d, square);
  y.zip(square, x, [](V p, V x2, V v) HWY_ATTR { return hn::MulAdd(hn::Mul(x2, p), v, v); });
  y.zip(large, x, [=](V small, V far, V v) HWY_ATTR {
    const auto is_small = hn::Lt(hn::Abs(v), hn::Set(d, 0.625f));
    return hn::CopySign(hn::IfThenElse(is_small, hn::Abs(small), far), v);
  });
  return y;
}
WEFT_OF_ONE_VECTOR(tanh)

// 1.3 ulp. A polynomial of x^2 close to 0; further out 1 - exp(polynomial of |x|), whose error
// counts little next to 1.
template <class D, int n>
HWY_INLINE vec_array<D, n> erf(D d, vec_array<D, n> x) {
  using V = hn::Vec<D>;
  const V one = hn::Set(d, 1.0f);
  vec_array<D, n> a = x, small = x;
  a.map([](V v) HWY_ATTR { return hn::Abs(v); });
  small.map([](V v) HWY_ATTR { return hn::Mul(v, v); });
  static constexpr coefficients of_small(
      {0.128379166f, -0.376125634f, 0.112826191f, -0.0267983098f, 0.00504372269f, -0.0006270702f});
  small = polynomial<of_small, false>(d, small);
  small.zip(a, [](V p, V w) HWY_ATTR { return hn::MulAdd(w, p, w); });
  static constexpr coefficients of_log_erfc({-0.000103881575f, -1.12806225f, -0.636519432f,
                                             -0.104523107f, 0.0225165151f, -0.00311691966f,
                                             0.000203551637f});
  const vec_array<D, n> log_erfc = polynomial<of_log_erfc, false>(d, a);
  vec_array<D, n> int_bits = log_erfc;
  int_bits.map([=](V v) HWY_ATTR { return round_to_int_bits(d, v, hn::Set(d, log2_e)); });
  vec_array<D, n> large = exp_reduced(d, log_erfc, int_bits);
  // 1 - erfc, with erfc as a product.
  large.zip(int_bits, [=](V e, V s) HWY_ATTR {
    return hn::NegMulAdd(e, power_of_2(d, int_of_int_bits(d, s)), one);
  });
  // From 3.92 on, erf rounds to 1.
  large.zip(
      a, [=](V v, V w) HWY_ATTR { return hn::IfThenElse(hn::Gt(w, hn::Set(d, 3.92f)), one, v); });
  large.zip(small, a, [=](V far, V near, V w) HWY_ATTR {
    return hn::IfThenElse(hn::Lt(w, hn::Set(d, 0.85f)), near, far);
  });
  x.zip(large, [](V v, V y) HWY_ATTR { return hn::CopySign(y, v); });
  return x;
}
WEFT_OF_ONE_VECTOR(erf)

// 2.3 ulp, also where the result is subnormal: exp is only computed of -|x|, which cannot overflow.
template <class D, int n>
HWY_INLINE vec_array<D, n> sigmoid(D d, vec_array<D, n> x) {
  using V = hn::Vec<D>;
  const V one = hn::Set(d, 1.0f);
  vec_array<D, n> e = x;
  e.map([=](V v) HWY_ATTR { return hn::Or(v, hn::SignBit(d)); });
  x.zip(exp(d, e), [=](V v, V w) HWY_ATTR {  // w is exp(-|v|)
    return hn::Div(hn::IfThenElse(hn::Lt(v, hn::Zero(d)), w, one), hn::Add(one, w));
  });
  return x;
}
WEFT_OF_ONE_VECTOR(sigmoid)

// x Phi(x), with Phi the distribution function of the normal distribution. The error is at most
// 2.7e-7 |x|; it shrinks with Phi(x).
//
// Computed as x - x Phi(-x) for positive x and x Phi(-|x|) for others. A polynomial approximates
// the eighth root of Phi(-|x|): that falls slowly enough for one range, and its power multiplies
// rounding errors by no more than 8.
template <class D, int n>
HWY_INLINE vec_array<D, n> gelu(D d, vec_array<D, n> x) {
  using V = hn::Vec<D>;
  // Phi(-5.6) is 1e-8, negligible next to 1; |x| is clamped to 5.6.
  vec_array<D, n> a = x;
  a.map([=](V v) HWY_ATTR { return at_most(hn::Set(d, 5.6f), hn::Abs(v)); });
  static constexpr coefficients c({0.917004049f, -0.0914578587f, -0.0319262333f, -0.000675400603f,
                                   0.00150768564f, 3.25595392e-05f, -5.97750259e-05f,
                                   7.41514168e-06f, -2.92917633e-07f});
  const auto squared = [](V v) HWY_ATTR { return hn::Mul(v, v); };
  vec_array<D, n> p = polynomial<c>(d, a);
  p.map(squared);
  p.map(squared);
  p.map(squared);
  x.zip(a, p,
        [=](V v, V w, V q) HWY_ATTR { return hn::NegMulAdd(w, q, at_least(hn::Zero(d), v)); });
  return x;
}
WEFT_OF_ONE_VECTOR(gelu)

// (x Phi(x))' = Phi(x) + x phi(x), with phi the density of the normal distribution. With a = |x|,
// phi(a) (Phi(-a) / phi(a) - a) is that for negative x, and 1 minus that for others; the second
// factor is approximated by a polynomial of a.
template <class D, class V>
HWY_INLINE V gelu_slope(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  // At 13.2, phi is just above 2^-126.
  const V a = at_most(hn::Set(d, 13.2f), hn::Abs(x));
  static constexpr coefficients c({0.49999994f, -0.797878802f, 0.249916792f, -0.132513806f,
                                   0.061154902f, -0.0243139472f, 0.00793940201f, -0.00197463203f,
                                   0.000339739549f, -3.52079333e-05f, 1.6316983e-06f});
  const V p = polynomial<c>(d, a);
  const V y = hn::Mul(exp2_of_product(d, a, hn::Mul(a, hn::Set(d, -0.5f * log2_e))), p);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), y, hn::Sub(one, y));
}

// x/2 (1 + tanh(u)) = x / (1 + exp(-2u)) with u = sqrt(2/pi) (x + 0.044715 x^3).
inline constexpr float sqrt_2_over_pi = 0.797884561f;
inline constexpr float gelu_cubic = 0.044715f;
inline constexpr float gelu_tanh_end = 10.02f;

// x, but at least -gelu_tanh_end, as 2^127 does not make 0 of the greatest |x|.
template <class D, int n>
HWY_INLINE vec_array<D, n> gelu_tanh_from_below(D d, vec_array<D, n> x) {
  using V = hn::Vec<D>;
  constexpr bool in_registers = has_32_registers || n == 1;
  static constexpr coefficients r({-gelu_tanh_end});
  const V begin = coefficient<r, 0, in_registers, n>(d, after_last<in_registers>(x, &r.lane[0]));
  x.map([=](V v) HWY_ATTR { return at_least(begin, v); });
  return x;
}
// 1 + exp(-2u) of an x that is clamped from below, and now from above, too: 1 or 2^127 where |x| is
// large. The exponent is between about -127 and 127.
template <class D, int n>
HWY_INLINE vec_array<D, n> gelu_tanh_denominator(D d, vec_array<D, n>& x) {
  using V = hn::Vec<D>;
  constexpr bool in_registers = has_32_registers || n == 1;
  constexpr float linear = -2 * sqrt_2_over_pi * log2_e;
  static constexpr coefficients r({gelu_tanh_end, linear * gelu_cubic, linear, 1.0f});
  const float* const from = after_last<in_registers>(x, &r.lane[0]);
  const V end = coefficient<r, 0, in_registers, n>(d, from);
  x.map([=](V v) HWY_ATTR { return at_most(end, v); });
  const V third = coefficient<r, 1, in_registers, n>(d, from);
  const V first = coefficient<r, 2, in_registers, n>(d, from);
  vec_array<D, n> inner = x;
  inner.map([=](V v) HWY_ATTR { return hn::MulAdd(hn::Mul(v, v), third, first); });
  vec_array<D, n> y = exp2_of_product(d, x, inner);
  const V one = coefficient<r, 3, in_registers, n>(d, after_last<in_registers>(y, from));
  y.map([=](V v) HWY_ATTR { return hn::Add(v, one); });
  return y;
}
template <class D, int n>
HWY_INLINE vec_array<D, n> gelu_tanh(D d, vec_array<D, n> x) {
  using V = hn::Vec<D>;
  x = gelu_tanh_from_below(d, x);
  vec_array<D, n> clamped = x;
  x.zip(gelu_tanh_denominator(d, clamped), [](V v, V w) HWY_ATTR { return hn::Div(v, w); });
  return x;
}
WEFT_OF_ONE_VECTOR(gelu_tanh)
// s + x s (1 - s) 2u' with s = 1 / (1 + exp(-2u)), and x clamped, since the square of a large one
// is infinite.
template <class D, int n>
HWY_INLINE vec_array<D, n> gelu_tanh_slope(D d, const vec_array<D, n>& any) {
  using V = hn::Vec<D>;
  constexpr bool in_registers = has_32_registers || n == 1;
  static constexpr coefficients r({1.0f, 6 * gelu_cubic * sqrt_2_over_pi, 2 * sqrt_2_over_pi});
  vec_array<D, n> x = gelu_tanh_from_below(d, any);
  vec_array<D, n> s = gelu_tanh_denominator(d, x);
  const float* const from = after_last<in_registers>(s, &r.lane[0]);
  const V one = coefficient<r, 0, in_registers, n>(d, from);
  s.map([=](V v) HWY_ATTR { return hn::Div(one, v); });
  const V third = coefficient<r, 1, in_registers, n>(d, from);
  const V first = coefficient<r, 2, in_registers, n>(d, from);
  s.zip(x, [=](V w, V v) HWY_ATTR {
    const V slope = hn::MulAdd(third, hn::Mul(v, v), first);
    return hn::MulAdd(hn::Mul(hn::Mul(w, hn::Sub(one, w)), v), slope, w);
  });
  return s;
}
WEFT_OF_ONE_VECTOR(gelu_tanh_slope)

}  // namespace weft::kernels::HWY_NAMESPACE::math
HWY_AFTER_NAMESPACE();

#endif
