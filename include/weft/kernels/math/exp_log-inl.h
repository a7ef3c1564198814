// Exponential functions and the logarithm of float vectors.
#if defined(WEFT_KERNELS_MATH_EXP_LOG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_MATH_EXP_LOG_INL_H_
#undef WEFT_KERNELS_MATH_EXP_LOG_INL_H_
#else
#define WEFT_KERNELS_MATH_EXP_LOG_INL_H_
#endif

#include <limits>

#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/math/polynomial-inl.h"
#include "weft/kernels/vec_array-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE::math {

// ln 2 in two parts; the first has 15 bits, so its products with exponents are exact.
inline constexpr float ln2_high = 0x1.62e4p-1f;
inline constexpr float ln2_low = 0x1.7f7d1cp-20f;

// 2^n for n in [-126, 127].
template <class D, class VI>
HWY_INLINE hn::Vec<D> power_of_2(D d, VI n) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127))));
}

// exp of the reduced argument x - n ln 2, with n given as round_to_int_bits(x / ln 2).
template <class D, int n>
HWY_INLINE vec_array<D, n> exp_reduced(D d, vec_array<D, n> x, vec_array<D, n> int_bits) {
  using V = hn::Vec<D>;
  int_bits.map([=](V s) HWY_ATTR { return float_of_int_bits(d, s); });
  x.zip(int_bits, [=](V v, V s) HWY_ATTR { return hn::NegMulAdd(s, hn::Set(d, ln2_high), v); });
  x.zip(int_bits, [=](V v, V s) HWY_ATTR { return hn::NegMulAdd(s, hn::Set(d, ln2_low), v); });
  static constexpr coefficients c(
      {1.0f, 1.0f, 0.49999994f, 0.166665182f, 0.0416684225f, 0.00836906955f, 0.00138138153f});
  return polynomial<c>(d, x);
}
template <class D, class V>
HWY_INLINE V exp_reduced(D d, V x, V int_bits) {
  return exp_reduced(d, vec_array<D, 1>{x}, vec_array<D, 1>{int_bits}).at[0];
}

inline constexpr float log2_e = 1.44269504f;

// v * 2^n, with n given as by round_to_int_bits, for results that are normal numbers: n is added to
// the exponent. The other bits of `int_bits` are shifted out.
template <class D, class V>
HWY_INLINE V scaled(D d, V v, V int_bits) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::Add(hn::BitCast(di, v), hn::ShiftLeft<23>(hn::BitCast(di, int_bits))));
}

// exp for x from -87 to 88, where it is a normal number.
template <class D, int n>
HWY_INLINE vec_array<D, n> exp_normal(D d, const vec_array<D, n>& x) {
  using V = hn::Vec<D>;
  vec_array<D, n> int_bits = x;
  int_bits.map([=](V v) HWY_ATTR { return round_to_int_bits(d, v, hn::Set(d, log2_e)); });
  vec_array<D, n> y = exp_reduced(d, x, int_bits);
  y.zip(int_bits, [=](V v, V s) HWY_ATTR { return scaled(d, v, s); });
  return y;
}
WEFT_OF_ONE_VECTOR(exp_normal)

template <class D, class V>
HWY_INLINE V exp_slow_path(D d, V x) {
  x = at_least(hn::Set(d, -104.0f), at_most(hn::Set(d, 89.0f), x));
  const V int_bits = round_to_int_bits(d, x, hn::Set(d, log2_e));
  // In two steps, since 2^n itself may be out of range.
  const auto n = int_of_int_bits(d, int_bits);
  const auto half = hn::ShiftRight<1>(n);
  return hn::Mul(hn::Mul(exp_reduced(d, x, int_bits), power_of_2(d, half)),
                 power_of_2(d, hn::Sub(n, half)));
}

// The maximum in each lane, over the vectors, of their bits as integers.
template <class D, int n>
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> max_bits(D d, const vec_array<D, n>& x) {
  using V = hn::Vec<D>;
  const hn::RebindToSigned<D> di;
  return hn::BitCast(di, x.combine([=](V v, V w) HWY_ATTR {
    return hn::BitCast(d, hn::Max(hn::BitCast(di, v), hn::BitCast(di, w)));
  }));
}

// 0.89 ulp; 1.16 without fused multiply-add. 0 below -104, infinity above 88.72; subnormal results
// are right. A single test covers whether the results of all vectors are normal.
template <class D, int n>
HWY_INLINE vec_array<D, n> exp(D d, vec_array<D, n> x) {
  using V = hn::Vec<D>;
  const hn::RebindToSigned<D> di;
  // As integers, the bits of magnitudes have the order of magnitudes; infinities and NaN are
  // larger.
  vec_array<D, n> size = x;
  size.map([](V v) HWY_ATTR { return hn::Abs(v); });
  const auto bound = hn::BitCast(di, hn::Set(d, 87.0f));
  if (HWY_LIKELY(hn::AllTrue(di, hn::Lt(max_bits(d, size), bound))))
    x = exp_normal(d, x);
  else
    x.map([=](V v) HWY_ATTR { return exp_slow_path(d, v); });
  return x;
}
template <class D, class V>
HWY_INLINE V exp(D d, V x) {
  if (HWY_LIKELY(hn::AllTrue(d, hn::Lt(hn::Abs(x), hn::Set(d, 87.0f))))) return exp_normal(d, x);
  return exp_slow_path(d, x);
}

// 1.5 ulp. With x = n ln 2 + r it is 2^n (exp(r) - 1) + 2^n - 1, computed by halves as 2^128 is out
// of range. Less than 2^-25 is its own result.
template <class D, class V>
HWY_INLINE V expm1(D d, V x) {
  const V t = at_least(hn::Set(d, -30.0f), at_most(hn::Set(d, 89.0f), x));
  const V int_bits = round_to_int_bits(d, t, hn::Set(d, log2_e));
  const V n = float_of_int_bits(d, int_bits);
  const V r = hn::NegMulAdd(n, hn::Set(d, ln2_low), hn::NegMulAdd(n, hn::Set(d, ln2_high), t));
  static constexpr coefficients c(
      {0.5f, 0.16666666f, 0.041666493f, 0.008333543f, 0.0013932381f, 0.00019764413f});
  const V p = hn::MulAdd(hn::Mul(r, r), polynomial<c>(d, r), r);
  const V half = scaled(d, hn::Set(d, 0.5f), int_bits);
  const V y = hn::MulAdd(half, p, hn::Sub(half, hn::Set(d, 0.5f)));
  return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-25f)), x, hn::Add(y, y));
}

// 2^x for x from -1/2 to 1/2, with relative errors of 1.1e-7 and 9e-9 in exact arithmetic.
inline constexpr coefficients exp2_to_5({1.0f, 0.693147004f, 0.240222424f, 0.0555073358f,
                                         0.00967151299f, 0.00132647273f});
inline constexpr coefficients exp2_to_6({1.0f, 0.693147182f, 0.240226507f, 0.0555035695f,
                                         0.00961808302f, 0.00133908633f, 0.000154531634f});

// 2^(a b) for a b from -127, which gives 0, to 128, which gives infinity. The relative error is
// 1.6e-7; subnormal results, below 2^-126, have an absolute error below 2^-126.
template <const auto& c = exp2_to_5, class D, int n>
HWY_INLINE vec_array<D, n> exp2_of_product(D d, const vec_array<D, n>& a,
                                           const vec_array<D, n>& b) {
  using V = hn::Vec<D>;
  constexpr bool in_registers = has_32_registers || n == 1;
  static constexpr coefficients r({0x1.8p23f});
  const V shift = coefficient<r, 0, in_registers, n>(d, after_last<in_registers>(a, &r.lane[0]));
  vec_array<D, n> int_bits = a, fraction = a;  // as by round_to_int_bits
  int_bits.zip(b, [=](V v, V w) HWY_ATTR { return hn::MulAdd(v, w, shift); });
  fraction.zip(b, int_bits,
               [=](V v, V w, V s) HWY_ATTR { return hn::MulSub(v, w, hn::Sub(s, shift)); });
  vec_array<D, n> y = polynomial<c>(d, fraction);
  y.zip(int_bits, [=](V v, V s) HWY_ATTR { return scaled(d, v, s); });
  return y;
}
template <class D, class V>
HWY_INLINE V exp2_of_product(D d, V a, V b) {
  return exp2_of_product(d, vec_array<D, 1>{a}, vec_array<D, 1>{b}).at[0];
}

// 2 exp(x) for x up to 87, for sums: 0 below -88.72. The relative error is 2e-7 and 3e-9 |x|, where
// there is no fused multiply-add 6e-8 |x|, which rounding x to a float makes anyway; results below
// 2^-125 have an absolute error below 2^-125. Twice, so that at the bound, which is -128 times the
// ln 2 subtracted, the exponents add up to 0.
//
// With several vectors and few registers, the constants of the range reduction are in memory, as
// those of the polynomial are.
template <class D, int n>
HWY_INLINE vec_array<D, n> twice_exp(D d, vec_array<D, n> x) {
  using V = hn::Vec<D>;
  constexpr bool in_registers = has_32_registers || n == 1;
  constexpr float ln2 = 0.693147182f;
  static constexpr coefficients r({-128 * ln2, log2_e, 0x1.8p23f, ln2});
  const float* const from = after_last<in_registers>(x, &r.lane[0]);
  const V bound = coefficient<r, 0, in_registers, n>(d, from);
  x.map([=](V v) HWY_ATTR { return at_least(bound, v); });
  vec_array<D, n> int_bits = x;  // as by round_to_int_bits
  const V inverse = coefficient<r, 1, in_registers, n>(d, from);
  const V shift = coefficient<r, 2, in_registers, n>(d, from);
  int_bits.map([=](V v) HWY_ATTR { return hn::MulAdd(v, inverse, shift); });
  const V whole = coefficient<r, 3, in_registers, n>(d, from);
  x.zip(int_bits, [=](V v, V s) HWY_ATTR { return hn::NegMulAdd(hn::Sub(s, shift), whole, v); });
  static constexpr coefficients c({2.0f, 2 * 0.999999702f, 2 * 0.499991417f, 2 * 0.166676447f,
                                   2 * 0.0418988876f, 2 * 0.0082901381f});
  vec_array<D, n> p = polynomial<c>(d, x);
  p.zip(int_bits, [=](V v, V s) HWY_ATTR { return scaled(d, v, s); });
  return p;
}
WEFT_OF_ONE_VECTOR(twice_exp)

// x = m 2^e, for positive normal numbers, with m from sqrt(1/2) to sqrt(2).
template <class D, int n>
struct mantissa_exponent {
  vec_array<D, n> m, e;
};
template <class D, int n>
HWY_INLINE mantissa_exponent<D, n> frexp(D d, const vec_array<D, n>& x) {
  using V = hn::Vec<D>;
  const hn::RebindToSigned<D> di;
  vec_array<D, n> m = x, e = x;
  // Minus the bits of sqrt(1/2).
  e.map([=](V v) HWY_ATTR {
    return hn::BitCast(d, hn::Sub(hn::BitCast(di, v), hn::Set(di, 0x3F3504F3)));
  });
  m.zip(e, [=](V v, V from_half) HWY_ATTR {
    const auto exponent = hn::And(hn::BitCast(di, from_half), hn::Set(di, -0x800000));
    return hn::BitCast(d, hn::Sub(hn::BitCast(di, v), exponent));
  });
  e.map([=](V from_half)
            HWY_ATTR { return hn::ConvertTo(d, hn::ShiftRight<23>(hn::BitCast(di, from_half))); });
  return {m, e};
}

template <class D, int n>
HWY_INLINE vec_array<D, n> log_reduced(D d, const mantissa_exponent<D, n>& x) {
  using V = hn::Vec<D>;
  vec_array<D, n> f = x.m;
  f.map([=](V m) HWY_ATTR { return hn::Sub(m, hn::Set(d, 1.0f)); });
  vec_array<D, n> f2 = f;
  f2.map([](V v) HWY_ATTR { return hn::Mul(v, v); });
  static constexpr coefficients c({-0.5f, 0.333333105f, -0.250000089f, 0.200021699f, -0.166680962f,
                                   0.142185226f, -0.12402992f, 0.118936345f, -0.11694847f,
                                   0.0675789565f});
  const vec_array<D, n> p = polynomial_estrin<c>(d, f, f2);
  vec_array<D, n> small = x.e;
  small.map([=](V e) HWY_ATTR { return hn::Mul(e, hn::Set(d, ln2_low)); });
  small.zip(f2, p, [](V s, V v2, V q) HWY_ATTR { return hn::MulAdd(v2, q, s); });
  f.zip(small, x.e,
        [=](V v, V s, V e) HWY_ATTR { return hn::MulAdd(e, hn::Set(d, ln2_high), hn::Add(v, s)); });
  return f;
}

template <class D, class V>
HWY_INLINE V log_slow_path(D d, V x) {
  const V zero = hn::Zero(d), infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  const auto subnormal = hn::Lt(x, hn::Set(d, std::numeric_limits<float>::min()));
  const V scaled = hn::IfThenElse(subnormal, hn::Mul(x, hn::Set(d, 0x1p23f)), x);
  auto parts = frexp(d, vec_array<D, 1>{scaled});
  parts.e.map([=](V e) HWY_ATTR { return subtract_where(subnormal, e, hn::Set(d, 23.0f)); });
  // Infinity and NaN are their own logarithms.
  const V y = hn::IfThenElse(hn::Lt(x, infinity), log_reduced(d, parts).at[0], x);
  const V of_negative = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
  return hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity),
                        hn::IfThenElse(hn::Lt(x, zero), of_negative, y));
}

// 0.86 ulp; 0.90 without fused multiply-add. -infinity at 0, NaN below.
template <class D, int n>
HWY_INLINE vec_array<D, n> log(D d, vec_array<D, n> x) {
  using V = hn::Vec<D>;
  const hn::RebindToSigned<D> di;
  // As integers, offset so that the least normal number is INT32_MIN: then the positive normal
  // numbers, and no others, are below -0x1000000.
  vec_array<D, n> bits = x;
  bits.map([=](V v) HWY_ATTR {
    return hn::BitCast(d, hn::Add(hn::BitCast(di, v), hn::Set(di, 0x7F800000)));
  });
  if (HWY_LIKELY(hn::AllTrue(di, hn::Lt(max_bits(d, bits), hn::Set(di, -0x1000000)))))
    return log_reduced(d, frexp(d, x));
  x.map([=](V v) HWY_ATTR { return log_slow_path(d, v); });
  return x;
}
WEFT_OF_ONE_VECTOR(log)

// 1.5 ulp. With u = 1 + x, rounded, it is log(u) and, for the rounding, (x - (u - 1)) / u.
template <class D, class V>
HWY_INLINE V log1p(D d, V x) {
  const V one = hn::Set(d, 1.0f), u = hn::Add(one, x);
  const V y = log(d, u), more = hn::Add(y, quotient(hn::Sub(x, hn::Sub(u, one)), u));
  const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  return hn::CopySign(hn::IfThenElse(hn::Lt(hn::Abs(y), infinity), more, y), x);
}

}  // namespace weft::kernels::HWY_NAMESPACE::math
HWY_AFTER_NAMESPACE();

#endif
