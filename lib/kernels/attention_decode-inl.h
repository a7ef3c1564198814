// Attention of a single query, as in a decode step: attention_decode.cpp.
#if defined(WEFT_KERNELS_ATTENTION_DECODE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_ATTENTION_DECODE_INL_H_
#undef WEFT_KERNELS_ATTENTION_DECODE_INL_H_
#else
#define WEFT_KERNELS_ATTENTION_DECODE_INL_H_
#endif

#include "weft/kernels/attention.hpp"
#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// Whether run_decode can compute this: one query, and contiguous rows of query, key, value and
// result.
bool is_decode(const call& c) noexcept;

// Returns false if a result is not finite, be it because of a masked-out key's value.
bool run_decode(const call& c) noexcept;

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
