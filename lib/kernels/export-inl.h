#include "weft/kernels/targets.hpp"

// WEFT_EXPORT(type, name), after HWY_AFTER_NAMESPACE: defines name_kernel() of kernels.hpp, which
// returns the function `name` for the best SIMD target that this machine runs.
#undef WEFT_EXPORT
#if HWY_ONCE
#define WEFT_EXPORT(type, name)                     \
  WEFT_OF_TARGET(type, name)                        \
  namespace weft::kernels {                         \
  type name##_kernel() noexcept {                   \
    return WEFT_OF_BEST_TARGET(name##_of_target)(); \
  }                                                 \
  }
#else
#define WEFT_EXPORT(type, name) WEFT_OF_TARGET(type, name)
#endif

// A kernel in two parts, so that a program without a rare operation (op_flag::rare) does not link
// those. name_rare.cpp includes name.cpp with WEFT_RARE, and calls the other part for the rest.
// WEFT_PART is a part's name.
#ifndef WEFT_RARE
#define WEFT_RARE false
#endif
#undef WEFT_PART
#if WEFT_RARE
#define WEFT_PART(name) name
#else
#define WEFT_PART(name) frequent_##name
#endif
#undef WEFT_EXPORT_PART
#define WEFT_EXPORT_PART(type, name) WEFT_EXPORT(type, name)

#undef WEFT_OF_TARGET
#define WEFT_OF_TARGET(type, name)         \
  namespace weft::kernels::HWY_NAMESPACE { \
  type name##_of_target() {                \
    return &name;                          \
  }                                        \
  }
