// Elementary functions of float vectors. The polynomials are minimax fits (Lawson's iteration) of
// the function's relative error over the reduced range. "ulp" is the largest distance from the
// double result, in units of the last place, over about a million floats of all exponents, on every
// target of x86 with and without fused multiply-add.
//
// NaN gives NaN: ranges are clamped by at_least and at_most, which propagate it.
#if defined(WEFT_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_MATH_INL_H_
#undef WEFT_KERNELS_MATH_INL_H_
#else
#define WEFT_KERNELS_MATH_INL_H_
#endif

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "weft/kernels/bundle-inl.h"
#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE::math {

namespace hn = hwy::HWY_NAMESPACE;

// A function's constants, each replicated in all lanes of a vector. Declare them `static
// constexpr`, so that they are in memory.
template <std::size_t n>
struct constants {
  static constexpr std::size_t size = n, lanes = hn::MaxLanes(hn::ScalableTag<float>());
  alignas(64) float lane[n * lanes];

  constexpr explicit constants(const float (&values)[n]) : lane{} {
    for (std::size_t i = 0; i < n * lanes; ++i) lane[i] = values[i / lanes];
  }
};

// Coefficient i of c0 + c1 x + c2 x^2 + … If all coefficients fit in registers they are literals,
// which compilers hoist out of loops; from memory, g++ would reload them. Otherwise each is the
// memory operand of the instruction that uses it: of hoisted ones, compilers would spill some, and
// clang would broadcast others again. Where several instructions use it, it is loaded once, which
// g++ does with in_register only.
template <const auto& c, std::size_t i, bool in_registers, int readers, class D>
HWY_INLINE hn::Vec<D> constant(D d, [[maybe_unused]] const float* from) {
  if constexpr (in_registers) {
    constexpr float value = c.lane[i * c.lanes];
    return hn::Set(d, value);
  } else {
    const auto v = hn::Load(d, from + i * c.lanes);
    return readers == 1 ? v : in_register(v);
  }
}

// The address of constants, which the compiler cannot use before it has computed the last vector of
// x, or each, if there are several: with a known address, clang would hoist all of their loads out
// of a loop and spill them.
template <bool in_registers, class D, int size>
HWY_INLINE const float* behind_last([[maybe_unused]] const bundle<D, size>& x, const float* place) {
  if constexpr (in_registers || size == 1) return place;
  return behind(x.at[size - 1], place);
}
template <bool in_registers, class D, int size>
HWY_INLINE const float* behind_each([[maybe_unused]] const bundle<D, size>& x, const float* place) {
  if constexpr (in_registers || size == 1) return place;
  for (const auto& v : x.at) place = behind(v, place);
  return place;
}

// Horner's scheme, each step for all vectors: the scheduler of a processor holds about as many
// waiting instructions as half a dozen vectors have. The load of each coefficient is ordered after
// the step before it: clang would compute one vector after the other, with all coefficients live.
template <const auto& c, bool in_registers, class D, int size, std::size_t... I>
HWY_INLINE bundle<D, size> polynomial(D d, const bundle<D, size>& x, std::index_sequence<I...>) {
  using V = hn::Vec<D>;
  constexpr std::size_t last = sizeof...(I);
  const float* from =
      behind_last<in_registers>(x, in_registers ? nullptr : in_register(&c.lane[0]));
  const V highest = constant<c, last, in_registers, size>(d, from);
  auto sums = bundle<D, size>::of([=](int) HWY_ATTR { return highest; });
  ((sums.zip(x, [next = constant<c, last - 1 - I, in_registers, size>(d, from)](V sum, V v)
                    HWY_ATTR { return hn::MulAdd(sum, v, next); }),
    from = behind_last<in_registers>(sums, from)),
   ...);
  return sums;
}
template <const auto& c, bool in_registers = has_32_registers, class D, int size>
HWY_INLINE bundle<D, size> polynomial(D d, const bundle<D, size>& x) {
  return polynomial<c, in_registers>(d, x, std::make_index_sequence<c.size - 1>());
}
template <const auto& c, bool in_registers = has_32_registers, class D, class V>
HWY_INLINE V polynomial(D d, V x) {
  return polynomial<c, in_registers>(d, bundle<D, 1>{x}).at[0];
}

// The same for an even number of coefficients, a pair at a time, with x2 for x^2 (Estrin's first
// step): half as long a dependency chain, for one multiplication more. The load of a coefficient is
// ordered after all vectors of a step, or clang would compute the vectors in the middle last, one
// by one.
template <const auto& c, bool in_registers, class D, int size, std::size_t... I>
HWY_INLINE bundle<D, size> polynomial_by_pairs(D d, const bundle<D, size>& x,
                                               const bundle<D, size>& x2,
                                               std::index_sequence<I...>) {
  using V = hn::Vec<D>;
  constexpr std::size_t last = c.size - 1;
  const float* from =
      behind_each<in_registers>(x2, in_registers ? nullptr : in_register(&c.lane[0]));
  bundle<D, size> sums = x;
  sums.map([zeroth = constant<c, last - 1, in_registers, size>(d, from),
            first = constant<c, last, in_registers, size>(d, from)](V v)
               HWY_ATTR { return hn::MulAdd(v, first, zeroth); });
  from = behind_each<in_registers>(sums, from);
  ((sums.zip(x2, x,
             [zeroth = constant<c, last - 3 - 2 * I, in_registers, size>(d, from),
              first = constant<c, last - 2 - 2 * I, in_registers, size>(d, from)](V sum, V v2, V v)
                 HWY_ATTR { return hn::MulAdd(sum, v2, hn::MulAdd(v, first, zeroth)); }),
    from = behind_each<in_registers>(sums, from)),
   ...);
  return sums;
}
template <const auto& c, bool in_registers = has_32_registers, class D, int size>
HWY_INLINE bundle<D, size> polynomial_by_pairs(D d, const bundle<D, size>& x,
                                               const bundle<D, size>& x2) {
  static_assert(c.size % 2 == 0);
  return polynomial_by_pairs<c, in_registers>(d, x, x2, std::make_index_sequence<c.size / 2 - 1>());
}

// If an operand is NaN, the maximum and minimum instructions of x86 return the second one.
inline constexpr bool unordered_gives_second =
    HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128;

// x, but not less than the bound. Propagates NaN.
template <class V>
HWY_INLINE V at_least(V bound, V x) {
  if constexpr (unordered_gives_second) return hn::Max(bound, x);
  return hn::IfThenElse(hn::Lt(x, bound), bound, x);
}
// x, but not more than the bound. Propagates NaN.
template <class V>
HWY_INLINE V at_most(V bound, V x) {
  if constexpr (unordered_gives_second) return hn::Min(bound, x);
  return hn::IfThenElse(hn::Gt(x, bound), bound, x);
}

// The integer n nearest to a * b, for |n| < 2^22, as 1.5 * 2^23 + n: that float has no bits for a
// fraction, and n in its low bits.
template <class D, class V>
HWY_INLINE V shifted_integer(D d, V a, V b) {
  return hn::MulAdd(a, b, hn::Set(d, 0x1.8p23f));
}
template <class D, class V>
HWY_INLINE V as_float(D d, V shifted) {
  return hn::Sub(shifted, hn::Set(d, 0x1.8p23f));
}
template <class D, class V>
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> as_integer(D d, V shifted) {
  const hn::RebindToSigned<D> di;
  return hn::Sub(hn::BitCast(di, shifted), hn::BitCast(di, hn::Set(d, 0x1.8p23f)));
}

// ln 2 in two parts; the first has 15 bits, so its products with exponents are exact.
inline constexpr float ln2_high = 0x1.62e4p-1f;
inline constexpr float ln2_low = 0x1.7f7d1cp-20f;

// 2^n for n in [-126, 127].
template <class D, class VI>
HWY_INLINE hn::Vec<D> power_of_2(D d, VI n) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127))));
}

// exp of the reduced argument x - n ln 2, with n given as shifted_integer(x / ln 2).
template <class D, int n>
HWY_INLINE bundle<D, n> exp_of_remainder(D d, bundle<D, n> x, bundle<D, n> shifted) {
  using V = hn::Vec<D>;
  shifted.map([=](V s) HWY_ATTR { return as_float(d, s); });
  x.zip(shifted, [=](V v, V s) HWY_ATTR { return hn::NegMulAdd(s, hn::Set(d, ln2_high), v); });
  x.zip(shifted, [=](V v, V s) HWY_ATTR { return hn::NegMulAdd(s, hn::Set(d, ln2_low), v); });
  static constexpr constants c(
      {1.0f, 1.0f, 0.49999994f, 0.166665182f, 0.0416684225f, 0.00836906955f, 0.00138138153f});
  return polynomial<c>(d, x);
}
template <class D, class V>
HWY_INLINE V exp_of_remainder(D d, V x, V shifted) {
  return exp_of_remainder(d, bundle<D, 1>{x}, bundle<D, 1>{shifted}).at[0];
}

inline constexpr float log2_e = 1.44269504f;

// v * 2^n, with n given as by shifted_integer, for results that are normal numbers: n is added to
// the exponent. The other bits of `shifted` are shifted out.
template <class D, class V>
HWY_INLINE V scaled(D d, V v, V shifted) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::Add(hn::BitCast(di, v), hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
}

// exp for x from -87 to 88, where it is a normal number.
template <class D, int n>
HWY_INLINE bundle<D, n> exp_normal(D d, const bundle<D, n>& x) {
  using V = hn::Vec<D>;
  bundle<D, n> shifted = x;
  shifted.map([=](V v) HWY_ATTR { return shifted_integer(d, v, hn::Set(d, log2_e)); });
  bundle<D, n> y = exp_of_remainder(d, x, shifted);
  y.zip(shifted, [=](V v, V s) HWY_ATTR { return scaled(d, v, s); });
  return y;
}
template <class D, class V>
HWY_INLINE V exp_normal(D d, V x) {
  return exp_normal(d, bundle<D, 1>{x}).at[0];
}

template <class D, class V>
HWY_INLINE V exp_anywhere(D d, V x) {
  x = at_least(hn::Set(d, -104.0f), at_most(hn::Set(d, 89.0f), x));
  const V shifted = shifted_integer(d, x, hn::Set(d, log2_e));
  // In two steps, since 2^n itself may be out of range.
  const auto n = as_integer(d, shifted);
  const auto half = hn::ShiftRight<1>(n);
  return hn::Mul(hn::Mul(exp_of_remainder(d, x, shifted), power_of_2(d, half)),
                 power_of_2(d, hn::Sub(n, half)));
}

// The maximum in each lane, over the vectors, of their bits as integers.
template <class D, int n>
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> largest_bits(D d, const bundle<D, n>& x) {
  using V = hn::Vec<D>;
  const hn::RebindToSigned<D> di;
  return hn::BitCast(di, x.combine([=](V v, V w) HWY_ATTR {
    return hn::BitCast(d, hn::Max(hn::BitCast(di, v), hn::BitCast(di, w)));
  }));
}

// 0.89 ulp; 1.16 without fused multiply-add. 0 below -104, infinity above 88.72; subnormal results
// are right. A single test covers whether the results of all vectors are normal.
template <class D, int n>
HWY_INLINE bundle<D, n> exp(D d, bundle<D, n> x) {
  using V = hn::Vec<D>;
  const hn::RebindToSigned<D> di;
  // As integers, the bits of magnitudes have the order of magnitudes; infinities and NaN are
  // larger.
  bundle<D, n> size = x;
  size.map([](V v) HWY_ATTR { return hn::Abs(v); });
  // Opaque: of a known constant, g++ would take the minimum and compare that.
  const auto bound = hn::BitCast(di, in_register(hn::Set(d, 87.0f)));
  if (HWY_LIKELY(hn::AllTrue(di, hn::Lt(largest_bits(d, size), bound))))
    x = exp_normal(d, x);
  else
    x.map([=](V v) HWY_ATTR { return exp_anywhere(d, v); });
  return x;
}
template <class D, class V>
HWY_INLINE V exp(D d, V x) {
  if (HWY_LIKELY(hn::AllTrue(d, hn::Lt(hn::Abs(x), hn::Set(d, 87.0f))))) return exp_normal(d, x);
  return exp_anywhere(d, x);
}

// 2^x for x from -1/2 to 1/2, with relative errors of 1.1e-7 and 9e-9 in exact arithmetic.
inline constexpr constants exp2_to_5({1.0f, 0.693147004f, 0.240222424f, 0.0555073358f,
                                      0.00967151299f, 0.00132647273f});
inline constexpr constants exp2_to_6({1.0f, 0.693147182f, 0.240226507f, 0.0555035695f,
                                      0.00961808302f, 0.00133908633f, 0.000154531634f});

// 2^(a b) for a b from -127, which gives 0, to 128, which gives infinity. The relative error is
// 1.6e-7; subnormal results, below 2^-126, have an absolute error below 2^-126.
template <const auto& c = exp2_to_5, class D, int n>
HWY_INLINE bundle<D, n> exp2_of_product(D d, const bundle<D, n>& a, const bundle<D, n>& b) {
  using V = hn::Vec<D>;
  constexpr bool in_registers = has_32_registers || n == 1;
  static constexpr constants r({0x1.8p23f});
  const V shift = constant<r, 0, in_registers, n>(d, behind_last<in_registers>(a, &r.lane[0]));
  bundle<D, n> shifted = a, fraction = a;  // as by shifted_integer
  shifted.zip(b, [=](V v, V w) HWY_ATTR { return hn::MulAdd(v, w, shift); });
  fraction.zip(b, shifted,
               [=](V v, V w, V s) HWY_ATTR { return hn::MulSub(v, w, hn::Sub(s, shift)); });
  bundle<D, n> y = polynomial<c>(d, fraction);
  y.zip(shifted, [=](V v, V s) HWY_ATTR { return scaled(d, v, s); });
  return y;
}
template <class D, class V>
HWY_INLINE V exp2_of_product(D d, V a, V b) {
  return exp2_of_product(d, bundle<D, 1>{a}, bundle<D, 1>{b}).at[0];
}

// 2 exp(x) for x up to 87, for sums: 0 below -88.72. The relative error is 2e-7 and 3e-9 |x|;
// results below 2^-125 have an absolute error below 2^-125. Twice, so that at the bound, which is
// -128 times the ln 2 subtracted, the exponents add up to 0.
//
// With several vectors and few registers, the constants of the range reduction are in memory too:
// g++ would broadcast them for each row and spill them.
template <class D, int n>
HWY_INLINE bundle<D, n> twice_exp(D d, bundle<D, n> x) {
  using V = hn::Vec<D>;
  constexpr bool in_registers = has_32_registers || n == 1;
  constexpr float ln2 = 0.693147182f;
  static constexpr constants r({-128 * ln2, log2_e, 0x1.8p23f, ln2});
  const float* const from = behind_last<in_registers>(x, &r.lane[0]);
  const V bound = constant<r, 0, in_registers, n>(d, from);
  x.map([=](V v) HWY_ATTR { return at_least(bound, v); });
  bundle<D, n> shifted = x;  // as by shifted_integer
  const V inverse = constant<r, 1, in_registers, n>(d, from);
  const V shift = constant<r, 2, in_registers, n>(d, from);
  shifted.map([=](V v) HWY_ATTR { return hn::MulAdd(v, inverse, shift); });
  const V whole = constant<r, 3, in_registers, n>(d, from);
  x.zip(shifted, [=](V v, V s) HWY_ATTR { return hn::NegMulAdd(hn::Sub(s, shift), whole, v); });
  static constexpr constants c({2.0f, 2 * 0.999999702f, 2 * 0.499991417f, 2 * 0.166676447f,
                                2 * 0.0418988876f, 2 * 0.0082901381f});
  bundle<D, n> p = polynomial<c>(d, x);
  p.zip(shifted, [=](V v, V s) HWY_ATTR { return scaled(d, v, s); });
  return p;
}
template <class D, class V>
HWY_INLINE V twice_exp(D d, V x) {
  return twice_exp(d, bundle<D, 1>{x}).at[0];
}

// x = m 2^e, for positive normal numbers, with m from sqrt(1/2) to sqrt(2).
template <class D, int n>
struct power_parts {
  bundle<D, n> m, e;
};
template <class D, int n>
HWY_INLINE power_parts<D, n> parts_of(D d, const bundle<D, n>& x) {
  using V = hn::Vec<D>;
  const hn::RebindToSigned<D> di;
  bundle<D, n> m = x, e = x;
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
HWY_INLINE bundle<D, n> log_of_parts(D d, const power_parts<D, n>& x) {
  using V = hn::Vec<D>;
  bundle<D, n> f = x.m;
  f.map([=](V m) HWY_ATTR { return hn::Sub(m, hn::Set(d, 1.0f)); });
  bundle<D, n> f2 = f;
  f2.map([](V v) HWY_ATTR { return hn::Mul(v, v); });
  static constexpr constants c({-0.5f, 0.333333105f, -0.250000089f, 0.200021699f, -0.166680962f,
                                0.142185226f, -0.12402992f, 0.118936345f, -0.11694847f,
                                0.0675789565f});
  const bundle<D, n> p = polynomial_by_pairs<c>(d, f, f2);
  bundle<D, n> small = x.e;
  small.map([=](V e) HWY_ATTR { return hn::Mul(e, hn::Set(d, ln2_low)); });
  small.zip(f2, p, [](V s, V v2, V q) HWY_ATTR { return hn::MulAdd(v2, q, s); });
  f.zip(small, x.e,
        [=](V v, V s, V e) HWY_ATTR { return hn::MulAdd(e, hn::Set(d, ln2_high), hn::Add(v, s)); });
  return f;
}

template <class D, class V>
HWY_INLINE V log_anywhere(D d, V x) {
  const V zero = hn::Zero(d), infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  const auto subnormal = hn::Lt(x, hn::Set(d, std::numeric_limits<float>::min()));
  const V scaled = hn::IfThenElse(subnormal, hn::Mul(x, hn::Set(d, 0x1p23f)), x);
  auto parts = parts_of(d, bundle<D, 1>{scaled});
  parts.e.map([=](V e) HWY_ATTR { return subtract_where(subnormal, e, hn::Set(d, 23.0f)); });
  // Infinity and NaN are their own logarithms.
  const V y = hn::IfThenElse(hn::Lt(x, infinity), log_of_parts(d, parts).at[0], x);
  const V of_negative = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
  return hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity),
                        hn::IfThenElse(hn::Lt(x, zero), of_negative, y));
}

// 0.86 ulp; 0.90 without fused multiply-add. -infinity at 0, NaN below.
template <class D, int n>
HWY_INLINE bundle<D, n> log(D d, bundle<D, n> x) {
  using V = hn::Vec<D>;
  const hn::RebindToSigned<D> di;
  // As integers, offset so that the least normal number is INT32_MIN: then the positive normal
  // numbers, and no others, are below -0x1000000.
  bundle<D, n> place = x;
  place.map([=](V v) HWY_ATTR {
    return hn::BitCast(d, hn::Add(hn::BitCast(di, v), hn::Set(di, 0x7F800000)));
  });
  if (HWY_LIKELY(hn::AllTrue(di, hn::Lt(largest_bits(d, place), hn::Set(di, -0x1000000)))))
    return log_of_parts(d, parts_of(d, x));
  x.map([=](V v) HWY_ATTR { return log_anywhere(d, v); });
  return x;
}
template <class D, class V>
HWY_INLINE V log(D d, V x) {
  return log(d, bundle<D, 1>{x}).at[0];
}

// 1.41 ulp; 1.57 without fused multiply-add.
template <class D, int n>
HWY_INLINE bundle<D, n> tanh(D d, const bundle<D, n>& x) {
  using V = hn::Vec<D>;
  const V one = hn::Set(d, 1.0f);
  // From 9.02 on, tanh rounds to 1.
  bundle<D, n> large = x;
  large.map([=](V v) HWY_ATTR { return at_most(hn::Set(d, 10.0f), hn::Abs(v)); });
  large = exp2_of_product<exp2_to_6>(
      d, large, bundle<D, n>::of([=](int) HWY_ATTR { return hn::Set(d, 2 * log2_e); }));
  large.map([=](V e) HWY_ATTR { return hn::Sub(one, hn::Div(hn::Set(d, 2.0f), hn::Add(e, one))); });
  bundle<D, n> square = x;
  square.map([](V v) HWY_ATTR { return hn::Mul(v, v); });
  static constexpr constants c(
      {-0.333332807f, 0.133314237f, -0.0537379794f, 0.0206330623f, -0.00569789577f});
  bundle<D, n> y = polynomial<c>(d, square);
  y.zip(square, x, [](V p, V x2, V v) HWY_ATTR { return hn::MulAdd(hn::Mul(x2, p), v, v); });
  y.zip(large, x, [=](V small, V far, V v) HWY_ATTR {
    const auto is_small = hn::Lt(hn::Abs(v), hn::Set(d, 0.625f));
    return hn::CopySign(hn::IfThenElse(is_small, hn::Abs(small), far), v);
  });
  return y;
}
template <class D, class V>
HWY_INLINE V tanh(D d, V x) {
  return tanh(d, bundle<D, 1>{x}).at[0];
}

// 1.3 ulp. A polynomial of x^2 close to 0; further out 1 - exp(polynomial of |x|), whose error
// counts little next to 1.
template <class D, int n>
HWY_INLINE bundle<D, n> erf(D d, bundle<D, n> x) {
  using V = hn::Vec<D>;
  const V one = hn::Set(d, 1.0f);
  bundle<D, n> a = x, small = x;
  a.map([](V v) HWY_ATTR { return hn::Abs(v); });
  small.map([](V v) HWY_ATTR { return hn::Mul(v, v); });
  static constexpr constants of_small(
      {0.128379166f, -0.376125634f, 0.112826191f, -0.0267983098f, 0.00504372269f, -0.0006270702f});
  small = polynomial<of_small, false>(d, small);
  small.zip(a, [](V p, V w) HWY_ATTR { return hn::MulAdd(w, p, w); });
  static constexpr constants of_log_erfc({-0.000103881575f, -1.12806225f, -0.636519432f,
                                          -0.104523107f, 0.0225165151f, -0.00311691966f,
                                          0.000203551637f});
  const bundle<D, n> log_erfc = polynomial<of_log_erfc, false>(d, a);
  bundle<D, n> shifted = log_erfc;
  shifted.map([=](V v) HWY_ATTR { return shifted_integer(d, v, hn::Set(d, log2_e)); });
  bundle<D, n> large = exp_of_remainder(d, log_erfc, shifted);
  // 1 - erfc, with erfc as a product.
  large.zip(shifted, [=](V e, V s) HWY_ATTR {
    return hn::NegMulAdd(e, power_of_2(d, as_integer(d, s)), one);
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
template <class D, class V>
HWY_INLINE V erf(D d, V x) {
  return erf(d, bundle<D, 1>{x}).at[0];
}

// 2.3 ulp, also where the result is subnormal: exp is only computed of -|x|, which cannot overflow.
template <class D, int n>
HWY_INLINE bundle<D, n> sigmoid(D d, bundle<D, n> x) {
  using V = hn::Vec<D>;
  const V one = hn::Set(d, 1.0f);
  bundle<D, n> e = x;
  e.map([=](V v) HWY_ATTR { return hn::Or(v, hn::SignBit(d)); });
  x.zip(exp(d, e), [=](V v, V w) HWY_ATTR {  // w is exp(-|v|)
    return hn::Div(hn::IfThenElse(hn::Lt(v, hn::Zero(d)), w, one), hn::Add(one, w));
  });
  return x;
}
template <class D, class V>
HWY_INLINE V sigmoid(D d, V x) {
  return sigmoid(d, bundle<D, 1>{x}).at[0];
}

// x Phi(x), with Phi the distribution function of the normal distribution. The error is at most
// 2.7e-7 |x|; it shrinks with Phi(x).
//
// Computed as x - x Phi(-x) for positive x and x Phi(-|x|) for others. A polynomial approximates
// the eighth root of Phi(-|x|): that falls slowly enough for one range, and its power multiplies
// rounding errors by no more than 8.
template <class D, int n>
HWY_INLINE bundle<D, n> gelu(D d, bundle<D, n> x) {
  using V = hn::Vec<D>;
  // Phi(-5.6) is 1e-8, negligible next to 1; |x| is clamped to 5.6.
  bundle<D, n> a = x;
  a.map([=](V v) HWY_ATTR { return at_most(hn::Set(d, 5.6f), hn::Abs(v)); });
  static constexpr constants c({0.917004049f, -0.0914578587f, -0.0319262333f, -0.000675400603f,
                                0.00150768564f, 3.25595392e-05f, -5.97750259e-05f, 7.41514168e-06f,
                                -2.92917633e-07f});
  const auto squared = [](V v) HWY_ATTR { return hn::Mul(v, v); };
  bundle<D, n> p = polynomial<c>(d, a);
  p.map(squared);
  p.map(squared);
  p.map(squared);
  x.zip(a, p,
        [=](V v, V w, V q) HWY_ATTR { return hn::NegMulAdd(w, q, at_least(hn::Zero(d), v)); });
  return x;
}
template <class D, class V>
HWY_INLINE V gelu(D d, V x) {
  return gelu(d, bundle<D, 1>{x}).at[0];
}

// (x Phi(x))' = Phi(x) + x phi(x), with phi the density of the normal distribution. With a = |x|,
// phi(a) (Phi(-a) / phi(a) - a) is that for negative x, and 1 minus that for others; the second
// factor is approximated by a polynomial of a.
template <class D, class V>
HWY_INLINE V gelu_slope(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  // At 13.2, phi is just above 2^-126.
  const V a = at_most(hn::Set(d, 13.2f), hn::Abs(x));
  static constexpr constants c({0.49999994f, -0.797878802f, 0.249916792f, -0.132513806f,
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

// 1 + exp(-2u): 1 or 2^127 where |x| is large.
template <class D, int n>
HWY_INLINE bundle<D, n> gelu_tanh_denominator(D d, bundle<D, n> x) {
  using V = hn::Vec<D>;
  constexpr bool in_registers = has_32_registers || n == 1;
  constexpr float linear = -2 * sqrt_2_over_pi * log2_e;
  // With x clamped to the first two, the exponent is between about -127 and 127.
  static constexpr constants r({gelu_tanh_end, -gelu_tanh_end, linear * gelu_cubic, linear, 1.0f});
  const float* const from = behind_last<in_registers>(x, &r.lane[0]);
  const V end = constant<r, 0, in_registers, n>(d, from);
  const V begin = constant<r, 1, in_registers, n>(d, from);
  x.map([=](V v) HWY_ATTR { return at_least(begin, at_most(end, v)); });
  const V third = constant<r, 2, in_registers, n>(d, from);
  const V first = constant<r, 3, in_registers, n>(d, from);
  bundle<D, n> inner = x;
  inner.map([=](V v) HWY_ATTR { return hn::MulAdd(hn::Mul(v, v), third, first); });
  bundle<D, n> y = exp2_of_product(d, x, inner);
  const V one = constant<r, 4, in_registers, n>(d, behind_last<in_registers>(y, from));
  y.map([=](V v) HWY_ATTR { return hn::Add(v, one); });
  return y;
}
template <class D, int n>
HWY_INLINE bundle<D, n> gelu_tanh(D d, bundle<D, n> x) {
  using V = hn::Vec<D>;
  x.zip(gelu_tanh_denominator(d, x), [](V v, V w) HWY_ATTR { return hn::Div(v, w); });
  return x;
}
template <class D, class V>
HWY_INLINE V gelu_tanh(D d, V x) {
  return gelu_tanh(d, bundle<D, 1>{x}).at[0];
}
// s + x s (1 - s) 2u' with s = 1 / (1 + exp(-2u)).
template <class D, int n>
HWY_INLINE bundle<D, n> gelu_tanh_slope(D d, const bundle<D, n>& x) {
  using V = hn::Vec<D>;
  constexpr bool in_registers = has_32_registers || n == 1;
  static constexpr constants r({1.0f, 6 * gelu_cubic * sqrt_2_over_pi, 2 * sqrt_2_over_pi});
  bundle<D, n> s = gelu_tanh_denominator(d, x);
  const float* const from = behind_last<in_registers>(s, &r.lane[0]);
  const V one = constant<r, 0, in_registers, n>(d, from);
  s.map([=](V v) HWY_ATTR { return hn::Div(one, v); });
  const V third = constant<r, 1, in_registers, n>(d, from);
  const V first = constant<r, 2, in_registers, n>(d, from);
  s.zip(x, [=](V w, V v) HWY_ATTR {
    const V slope = hn::MulAdd(third, hn::Mul(v, v), first);
    return hn::MulAdd(hn::Mul(hn::Mul(w, hn::Sub(one, w)), v), slope, w);
  });
  return s;
}
template <class D, class V>
HWY_INLINE V gelu_tanh_slope(D d, V x) {
  return gelu_tanh_slope(d, bundle<D, 1>{x}).at[0];
}

// The largest angle that sin_reduced reduces accurately; larger ones are computed lane by lane.
inline constexpr float largest_angle = 1e5f;

// The mask of odd integers. Where masks are vectors, 0 minus the low bit is the mask: the
// comparison that g++ would make of TestBit would wait for the ports that multiply.
template <class D, class V>
HWY_INLINE hn::Mask<D> has_low_bit(D d, V v) {
  const V one = hn::Set(d, 1);
  if constexpr (HWY_TARGET <= HWY_AVX3)
    return hn::TestBit(v, one);
  else
    return hn::MaskFromVec(hn::Sub(hn::Zero(d), hn::And(v, one)));
}

// sin(x + quadrants * pi/2) for |x| up to largest_angle.
template <class D, class V>
HWY_INLINE V sin_reduced(D d, V x, int quadrants) {
  const hn::RebindToSigned<D> di;
  const V shifted = shifted_integer(d, x, hn::Set(d, 0.636619772f));
  const V n = as_float(d, shifted);
  // pi/2 in parts of 8 bits, so that products with n are exact without fused multiply-add too. The
  // remainder of angles close to a multiple of pi/2 needs all of them. For other angles, the third
  // and the fourth difference round: their rounding errors are added to the small parts.
  const V r1 = hn::NegMulAdd(n, hn::Set(d, 0x1.92p0f), x);
  const V r2 = hn::NegMulAdd(n, hn::Set(d, 0x1.fcp-12f), r1);
  const V part3 = hn::Set(d, -0x1.58p-21f), part4 = hn::Set(d, 0x1.1p-30f);
  const V r3 = hn::NegMulAdd(n, part3, r2);
  const V r4 = hn::NegMulAdd(n, part4, r3);
  // The small parts first, which do not depend on the last differences.
  V lost = hn::Mul(n, hn::Set(d, -0x1.68p-39f));
  lost = hn::NegMulAdd(n, hn::Set(d, 0x1.84698ap-48f), lost);
  lost = hn::Add(lost, hn::NegMulAdd(n, part3, hn::Sub(r2, r3)));
  lost = hn::Add(lost, hn::NegMulAdd(n, part4, hn::Sub(r3, r4)));
  const V r = hn::Add(r4, lost);
  const V square = hn::Mul(r, r);
  static constexpr constants of_sine({-0.166666552f, 0.00833215751f, -0.000195148546f});
  const V s = hn::MulAdd(hn::Mul(square, polynomial<of_sine>(d, square)), r, r);
  static constexpr constants of_cosine(
      {1.0f, -0.5f, 0.0416666456f, -0.00138873118f, 2.44325856e-05f});
  const V c = polynomial<of_cosine>(d, square);
  // Its two low bits count; the others are ignored.
  const auto quadrant = hn::Add(hn::BitCast(di, shifted), hn::Set(di, quadrants));
  const auto odd = hn::RebindMask(d, has_low_bit(di, quadrant));
  const V sign = hn::And(hn::BitCast(d, hn::ShiftLeft<30>(quadrant)), hn::SignBit(d));
  return hn::Xor(hn::IfThenElse(odd, c, s), sign);
}

// y, but in the lanes of larger angles their sine or cosine. A lane's result does not depend on the
// others.
template <class D, class V>
HWY_NOINLINE hn::Vec<D> sin_by_lanes(D d, V x, V y, int quadrants) {
  alignas(64) float angles[hn::MaxLanes(D())], sines[hn::MaxLanes(D())];
  hn::Store(x, d, angles);
  hn::Store(y, d, sines);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
    if (!(std::abs(angles[i]) > largest_angle)) continue;
    const double angle = angles[i];
    sines[i] = static_cast<float>(quadrants == 0 ? std::sin(angle) : std::cos(angle));
  }
  return hn::Load(d, sines);
}

template <class D, class V>
HWY_INLINE V sin_shifted(D d, V x, int quadrants) {
  const auto large = hn::Gt(hn::Abs(x), hn::Set(d, largest_angle));
  const V y = sin_reduced(d, x, quadrants);
  if (HWY_LIKELY(hn::AllFalse(d, large))) return y;
  return sin_by_lanes(d, x, y, quadrants);
}

// 1.51 ulp.
template <class D, class V>
HWY_INLINE V sin(D d, V x) {
  return sin_shifted(d, x, 0);
}

// 1.51 ulp.
template <class D, class V>
HWY_INLINE V cos(D d, V x) {
  return sin_shifted(d, x, 1);
}

// The larger operand; NaN where either is NaN.
template <class V>
HWY_INLINE V maximum(V a, V b) {
  if constexpr (!hwy::IsFloat<hn::TFromV<V>>())
    return hn::Max(a, b);
  else if constexpr (unordered_gives_second)
    return hn::IfThenElse(hn::IsNaN(a), a, hn::Max(a, b));
  else
    return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
}

// The smaller operand; NaN where either is NaN.
template <class V>
HWY_INLINE V minimum(V a, V b) {
  if constexpr (!hwy::IsFloat<hn::TFromV<V>>())
    return hn::Min(a, b);
  else if constexpr (unordered_gives_second)
    return hn::IfThenElse(hn::IsNaN(a), a, hn::Min(a, b));
  else
    return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b);
}

}  // namespace weft::kernels::HWY_NAMESPACE::math
HWY_AFTER_NAMESPACE();

#endif
