// Attention of a single query, as a step of decoding has it: attention_single.cpp.
#if defined(WEFT_KERNELS_ATTENTION_SINGLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_ATTENTION_SINGLE_INL_H_
#undef WEFT_KERNELS_ATTENTION_SINGLE_INL_H_
#else
#define WEFT_KERNELS_ATTENTION_SINGLE_INL_H_
#endif

#include "weft/kernels/attention.hpp"
#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// Is this what attend_single computes?
bool is_single(const attention_call& c) noexcept;

// False where a result is not finite, be it for a hidden key's value.
bool attend_single(const attention_call& c) noexcept;

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
