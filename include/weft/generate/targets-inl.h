// Defines WEFT_GENERATES if code is generated for a target. The headers of this folder are included
// for every target, and are empty if it is not: HWY_TARGET_TOGGLE alternates between targets, so
// that a header left out for one would take the next target for one that it has been included for.
#if defined(WEFT_GENERATE_TARGETS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_GENERATE_TARGETS_INL_H_
#undef WEFT_GENERATE_TARGETS_INL_H_
#else
#define WEFT_GENERATE_TARGETS_INL_H_
#endif

#include "weft/kernels/hwy-inl.h"

// Not for vectors of one lane, nor for scalable ones, whose lanes are unknown at compile time.
#undef WEFT_GENERATES
#if !HWY_HAVE_SCALABLE && HWY_TARGET != HWY_SCALAR
#define WEFT_GENERATES
#endif

#endif
