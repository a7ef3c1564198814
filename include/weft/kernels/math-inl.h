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

#include "weft/kernels/math/activation-inl.h"
#include "weft/kernels/math/exp_log-inl.h"
#include "weft/kernels/math/polynomial-inl.h"
#include "weft/kernels/math/sin_cos-inl.h"

#endif
