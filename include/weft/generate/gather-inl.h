// Small gathers of rows, whose extents and strides are constants.
#if defined(WEFT_GENERATE_GATHER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_GENERATE_GATHER_INL_H_
#undef WEFT_GENERATE_GATHER_INL_H_
#else
#define WEFT_GENERATE_GATHER_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "weft/generate/gather_plan.hpp"
#include "weft/generate/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::generate::HWY_NAMESPACE {

// Elements of four bytes are moved as they are; an index outside of the table gives zeros.
template <gather_plan P>
HWY_NOINLINE void gather(float* result, float* table, float* indices) {
  walk<P.rows>({{result, table, indices}}, [](const operands& here) HWY_ATTR {
    constexpr std::size_t bytes = sizeof(float) * static_cast<std::size_t>(P.length);
    std::int32_t index;
    std::memcpy(&index, here.read(2), sizeof index);
    if (index >= 0 && index < P.extent)
      std::memcpy(here.write(), here.read(1) + index * P.stride, bytes);
    else
      std::memset(here.write(), 0, bytes);
  });
}

}  // namespace weft::generate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
