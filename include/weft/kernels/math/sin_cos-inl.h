// Sine and cosine of float vectors.
#if defined(WEFT_KERNELS_MATH_SIN_COS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_MATH_SIN_COS_INL_H_
#undef WEFT_KERNELS_MATH_SIN_COS_INL_H_
#else
#define WEFT_KERNELS_MATH_SIN_COS_INL_H_
#endif

#include <cmath>
#include <cstddef>

#include "weft/kernels/elementary.hpp"
#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/math/polynomial-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE::math {

// The largest angle that sin_reduced reduces accurately; larger ones are computed lane by lane.
inline constexpr float largest_angle = 1e5f;

// sin(x + quadrants * pi/2) for |x| up to largest_angle.
template <class D, class V>
HWY_INLINE V sin_reduced(D d, V x, int quadrants) {
  const hn::RebindToSigned<D> di;
  const V int_bits = round_to_int_bits(d, x, hn::Set(d, 0.636619772f));
  const V n = float_of_int_bits(d, int_bits);
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
  static constexpr coefficients of_sine({-0.166666552f, 0.00833215751f, -0.000195148546f});
  const V s = hn::MulAdd(hn::Mul(square, polynomial<of_sine>(d, square)), r, r);
  static constexpr coefficients of_cosine(
      {1.0f, -0.5f, 0.0416666456f, -0.00138873118f, 2.44325856e-05f});
  const V c = polynomial<of_cosine>(d, square);
  // Its two low bits count; the others are ignored.
  const auto quadrant = hn::Add(hn::BitCast(di, int_bits), hn::Set(di, quadrants));
  const auto odd = hn::RebindMask(d, hn::TestBit(quadrant, hn::Set(di, 1)));
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
    if (std::abs(angles[i]) > largest_angle)
      sines[i] = static_cast<float>(kernels::sine(angles[i], quadrants));
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

}  // namespace weft::kernels::HWY_NAMESPACE::math
HWY_AFTER_NAMESPACE();

#endif
