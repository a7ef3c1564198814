// Bounds of vectors that propagate NaN, and rounding of floats to integers.
#if defined(WEFT_KERNELS_MATH_RANGE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_MATH_RANGE_INL_H_
#undef WEFT_KERNELS_MATH_RANGE_INL_H_
#else
#define WEFT_KERNELS_MATH_RANGE_INL_H_
#endif

#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE::math {

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

// The integer n nearest to a * b, for |n| < 2^22, as 1.5 * 2^23 + n: that float has no bits for a
// fraction, and n in its low bits.
template <class D, class V>
HWY_INLINE V round_to_int_bits(D d, V a, V b) {
  return hn::MulAdd(a, b, hn::Set(d, 0x1.8p23f));
}
template <class D, class V>
HWY_INLINE V float_of_int_bits(D d, V int_bits) {
  return hn::Sub(int_bits, hn::Set(d, 0x1.8p23f));
}
template <class D, class V>
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> int_of_int_bits(D d, V int_bits) {
  const hn::RebindToSigned<D> di;
  return hn::Sub(hn::BitCast(di, int_bits), hn::BitCast(di, hn::Set(d, 0x1.8p23f)));
}

}  // namespace weft::kernels::HWY_NAMESPACE::math
HWY_AFTER_NAMESPACE();

#endif
