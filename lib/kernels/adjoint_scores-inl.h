// The adjoint of attention: from scores to weights and the gradients for the scores.
#if defined(WEFT_KERNELS_ADJOINT_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_ADJOINT_SCORES_INL_H_
#undef WEFT_KERNELS_ADJOINT_SCORES_INL_H_
#else
#define WEFT_KERNELS_ADJOINT_SCORES_INL_H_
#endif

#include <algorithm>
#include <cstddef>

#include "kernels/adjoint_blocks-inl.h"
#include "kernels/attention_view.hpp"
#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {
namespace {

// One row of scores between the products: softmax and its gradient.
struct score_row {
  float* scores;           // in: query * key; out: 2 * weights
  float* score_gradients;  // in: g * value; out: 2 * gradients for query * key
  const float* bias;
  float soft_cap, statistics, delta;  // the row's logsumexp and delta = rowsum(g * result)
  float* before_cap;                  // if any, out: 2 * gradients for the capped scores
};

// Turns the scores of `vectors` into weights and score gradients; if Masked, those outside of
// `visible` become 0.
template <bool Capped, bool Biased, bool Masked>
HWY_INLINE void softmax_and_grad(const score_row& r, index_range vectors, index_range visible) {
  const tag d;
  const vec statistics = hn::Set(d, r.statistics), delta = hn::Set(d, r.delta);
  const vec soft_cap = hn::Set(d, r.soft_cap), one = hn::Set(d, 1.0f);
  for (std::ptrdiff_t j = vectors.begin; j < vectors.end; j += lanes()) {
    vec s = hn::LoadU(d, r.scores + j);
    vec slope = one;
    if constexpr (Capped) {
      const vec t = math::tanh(d, s);
      slope = hn::NegMulAdd(t, t, one);
      s = hn::Mul(soft_cap, t);
    }
    if constexpr (Biased) s = hn::Add(s, hn::LoadU(d, r.bias + j));
    vec weight = math::twice_exp(d, hn::Sub(s, statistics));
    vec ds = hn::Mul(weight, hn::Sub(hn::LoadU(d, r.score_gradients + j), delta));
    if constexpr (Masked) {
      const auto count = [j](std::ptrdiff_t index) {
        return static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(index - j, 0, lanes()));
      };
      const auto visible_lanes =
          hn::AndNot(hn::FirstN(d, count(visible.begin)), hn::FirstN(d, count(visible.end)));
      weight = hn::IfThenElseZero(visible_lanes, weight);
      ds = hn::IfThenElseZero(visible_lanes, ds);
    }
    if constexpr (Capped) {
      if (r.before_cap != nullptr) hn::StoreU(ds, d, r.before_cap + j);
      ds = hn::Mul(ds, slope);
    }
    hn::StoreU(weight, d, r.scores + j);
    hn::StoreU(ds, d, r.score_gradients + j);
  }
}

}  // namespace
}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
