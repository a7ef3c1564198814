// The sink of attention: a score without a key, which takes part of each query's weights.
#if defined(WEFT_KERNELS_ATTENTION_SINK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_ATTENTION_SINK_INL_H_
#undef WEFT_KERNELS_ATTENTION_SINK_INL_H_
#else
#define WEFT_KERNELS_ATTENTION_SINK_INL_H_
#endif

#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

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
