// Conversions between types of elements, as functors of the loops over elements. Vectors have as
// many lanes as one of floats.
#if defined(WEFT_KERNELS_CAST_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_CAST_INL_H_
#undef WEFT_KERNELS_CAST_INL_H_
#else
#define WEFT_KERNELS_CAST_INL_H_
#endif

#include <cstdint>
#include <type_traits>

#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

using floats = hn::ScalableTag<float>;
using integers = hn::RebindToSigned<floats>;
using half = std::uint16_t;  // the bits of a bfloat16

// Booleans, which are stored as bytes, as int32 of 0 or 1, and bfloat16 as float; others as they
// are.
template <class V>
HWY_INLINE auto widened(V v) {
  using T = hn::TFromV<V>;
  const hn::RebindToUnsigned<floats> bits;
  if constexpr (sizeof(T) == 1)
    return hn::PromoteTo(integers(), v);
  else if constexpr (sizeof(T) == 2)
    return hn::BitCast(floats(), hn::ShiftLeft<16>(hn::PromoteTo(bits, v)));
  else
    return v;
}

// The nearest bfloat16, ties to even; NaN stays NaN.
HWY_INLINE hn::Vec<hn::Rebind<half, floats>> rounded_to_half(hn::Vec<floats> x) {
  const floats d;
  const hn::RebindToUnsigned<floats> bits;
  const auto wide = hn::BitCast(bits, x);
  const auto odd = hn::And(hn::ShiftRight<16>(wide), hn::Set(bits, 1));
  const auto nearest = hn::Add(wide, hn::Add(odd, hn::Set(bits, 0x7fff)));
  const auto quiet = hn::Or(wide, hn::Set(bits, 0x400000));
  const auto kept = hn::IfThenElse(hn::IsNaN(x), hn::BitCast(d, quiet), hn::BitCast(d, nearest));
  return hn::TruncateTo(hn::Rebind<half, floats>(), hn::ShiftRight<16>(hn::BitCast(bits, kept)));
}

// From A to R, see weft::cast: float to int32 goes toward zero, saturates, and gives 0 for NaN on
// every target. Where both are bytes or all are numbers, vectors have their natural types.
template <class R, class A>
struct conversion {
  template <class D, class V>
  HWY_INLINE auto operator()(D, V a) const {
    if constexpr (std::is_same_v<R, std::uint8_t>) {
      if constexpr (std::is_same_v<A, half>)
        return unequal(widened(a), hn::Zero(floats()));
      else
        return unequal(a, hn::Zero(hn::DFromV<V>()));
    } else if constexpr (std::is_same_v<R, std::int32_t>) {
      if constexpr (std::is_same_v<A, std::uint8_t>)
        return widened(a);
      else
        return saturated(integers(), widened(a));
    } else {
      const auto x = as_float(widened(a));
      if constexpr (std::is_same_v<R, half>)
        return rounded_to_half(x);
      else
        return x;
    }
  }

 private:
  template <class V>
  static HWY_INLINE hn::Vec<floats> as_float(V v) {
    if constexpr (std::is_same_v<hn::TFromV<V>, float>)
      return v;
    else
      return hn::ConvertTo(floats(), v);
  }
};

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
