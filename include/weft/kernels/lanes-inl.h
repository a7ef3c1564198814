// Horizontal reductions of one vector: sum, maximum.
#if defined(WEFT_KERNELS_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_LANES_INL_H_
#undef WEFT_KERNELS_LANES_INL_H_
#else
#define WEFT_KERNELS_LANES_INL_H_
#endif

#include <cstddef>

#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// The reduction by f of all lanes of v, in each lane of a vector of at most eight lanes.
// Highway's sum and maximum for AVX-512 are broadcast to a full vector.
#if HWY_TARGET == HWY_SCALAR
template <class D, class F>
HWY_INLINE hn::Vec<D> reduce_lanes(D /*d*/, hn::Vec<D> v, F /*f*/) {
  return v;
}
#else
template <class D, class F>
HWY_INLINE auto reduce_lanes(D d, hn::Vec<D> v, F f) {
  static_assert(sizeof(hn::TFromD<D>) == 4);
  constexpr std::size_t lanes = hn::MaxLanes(D());
  if constexpr (lanes > 8) {
    const hn::Half<D> half;
    return reduce_lanes(half, f(hn::LowerHalf(half, v), hn::UpperHalf(half, v)), f);
  } else {
    if constexpr (lanes == 8) v = f(v, hn::ConcatLowerUpper(d, v, v));
    if constexpr (lanes >= 4) v = f(v, hn::Shuffle1032(v));
    if constexpr (lanes >= 2) v = f(v, hn::Reverse2(d, v));
    return v;
  }
}
#endif

// The same as a scalar.
template <class D, class F>
HWY_INLINE hn::TFromD<D> reduce_to_scalar(D d, hn::Vec<D> v, F f) {
  return hn::GetLane(reduce_lanes(d, v, f));
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
