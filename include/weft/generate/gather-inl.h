// Small gathers of rows with constant extents and strides.
#if defined(WEFT_GENERATE_GATHER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_GENERATE_GATHER_INL_H_
#undef WEFT_GENERATE_GATHER_INL_H_
#else
#define WEFT_GENERATE_GATHER_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "weft/generate/gather_plan.hpp"
#include "weft/generate/vectors-inl.h"

#ifdef WEFT_GENERATES
HWY_BEFORE_NAMESPACE();
namespace weft::generate::HWY_NAMESPACE {

template <std::ptrdiff_t n>
HWY_INLINE void copy_row(const float* from, float* to) {
  using D = lanes_for<n>;
  constexpr int lanes = lanes_of<D>;
  for (std::ptrdiff_t i = 0; i + lanes <= n; i += lanes)
    store<D, lanes>(load<D, lanes>(from + i), to + i);
  // Remainder: the last vector overlaps those before it.
  constexpr int last = static_cast<int>(std::min<std::ptrdiff_t>(n, lanes));
  if constexpr (n % lanes != 0) store<D, last>(load<D, last>(from + n - last), to + n - last);
}

// Elements of four bytes are copied as they are; an index outside of the table gives zeros.
template <gather_plan P>
void gather(const kernels::call& c) noexcept {
  for_each<P.rows>(operands_of<3>(c), [](const operands& here) HWY_ATTR {
    std::int32_t index;
    std::memcpy(&index, here.read(2), sizeof index);
    if (index >= 0 && index < P.extent)
      copy_row<P.length>(here.read(1) + index * P.stride, here.write());
    else
      std::fill_n(here.write(), P.length, 0.0f);
  });
}

}  // namespace weft::generate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
