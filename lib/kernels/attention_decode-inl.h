// What attention of a single query, as in a decode step (attention_decode.cpp), and that of many
// share.
#if defined(WEFT_KERNELS_ATTENTION_DECODE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_ATTENTION_DECODE_INL_H_
#undef WEFT_KERNELS_ATTENTION_DECODE_INL_H_
#else
#define WEFT_KERNELS_ATTENTION_DECODE_INL_H_
#endif

#include "weft/kernels/attention.hpp"
#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// Whether run_decode can compute this: one query, and contiguous rows of query, key, value and
// result.
bool is_decode(const call& c) noexcept;

// Returns false if a result is not finite, be it because of a masked-out key's value.
bool run_decode(const call& c) noexcept;

// Adds sinks to the running maxima and the sums of 2 * exp(s - max) of rows of scores. Returns the
// factors by which the results of the rows, sums of 2 * exp(s - max) * value, are to be multiplied.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V add_sink(D d, V sink, V& max, V& sum) {
  const V before = max;
  max = hn::Max(max, sink);
  const V factor = hn::Mul(hn::Set(d, 0.5f), math::twice_exp(d, hn::Sub(before, max)));
  sum = hn::MulAdd(sum, factor, math::twice_exp(d, hn::Sub(sink, max)));
  return factor;
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
