// Whether code is generated for a target: WEFT_GENERATES. The headers of this folder are included
// for every target, and are empty where it is not: HWY_TARGET_TOGGLE changes from target to target,
// so that a header left out for one would take the next for one that it had been included for.
#if defined(WEFT_GENERATE_TARGETS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_GENERATE_TARGETS_INL_H_
#undef WEFT_GENERATE_TARGETS_INL_H_
#else
#define WEFT_GENERATE_TARGETS_INL_H_
#endif

#include "weft/kernels/hwy-inl.h"

// Not where vectors have one lane, or a number that is not known while compiling.
#undef WEFT_GENERATES
#if !HWY_HAVE_SCALABLE && HWY_TARGET != HWY_SCALAR
#define WEFT_GENERATES
#endif

#endif
