// Biases in the adjoint of attention: adds them to rows of scores, and accumulates their gradients
// from those of the scores, block by block.
#if defined(WEFT_KERNELS_ATTENTION_BIAS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_ATTENTION_BIAS_INL_H_
#undef WEFT_KERNELS_ATTENTION_BIAS_INL_H_
#else
#define WEFT_KERNELS_ATTENTION_BIAS_INL_H_
#endif

#include <algorithm>
#include <cstddef>

#include "kernels/bias_tile.hpp"
#include "kernels/tile_product-inl.h"
#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// to[k] += from[k * stride]; `to` is padded to full vectors.
inline HWY_NOINLINE void add_elements(std::ptrdiff_t count, const float* from,
                                      std::ptrdiff_t stride, float* to) {
  const tiles::tag d;
  const std::ptrdiff_t lanes = tiles::lanes();
  if (stride != 0 && stride != 1) {
    for (std::ptrdiff_t k = 0; k < count; ++k) to[k] += from[k * stride];
    return;
  }
  for (std::ptrdiff_t k = 0; k < count; k += lanes) {
    const auto remaining = static_cast<std::size_t>(std::min(lanes, count - k));
    const auto values = stride == 0          ? hn::Set(d, *from)
                        : k + lanes <= count ? hn::LoadU(d, from + k)
                                             : load_n(d, from + k, remaining);
    const auto added = hn::IfThenElseZero(hn::FirstN(d, remaining), values);
    hn::StoreU(hn::Add(hn::LoadU(d, to + k), added), d, to + k);
  }
}

// to[k * stride] += from[k] / 2; with stride 0, *to += half of the sum.
inline HWY_NOINLINE void add_half(std::ptrdiff_t count, const float* from, float* to,
                                  std::ptrdiff_t stride) {
  const tiles::tag d;
  const std::ptrdiff_t lanes = tiles::lanes();
  const auto half = hn::Set(d, 0.5f);
  std::ptrdiff_t k = 0;
  if (stride == 1) {
    for (; k + lanes <= count; k += lanes)
      hn::StoreU(hn::MulAdd(half, hn::LoadU(d, from + k), hn::LoadU(d, to + k)), d, to + k);
  } else if (stride == 0) {
    auto sum = hn::Zero(d);
    for (; k + lanes <= count; k += lanes) sum = hn::Add(sum, hn::LoadU(d, from + k));
    float all = hn::GetLane(hn::SumOfLanes(d, sum));
    for (; k < count; ++k) all += from[k];
    *to += 0.5f * all;
  }
  for (; k < count; ++k) to[k * stride] += 0.5f * from[k];
}

// Accumulates the gradient of a bias. Where queries share a row, a block's terms are summed
// separately and then added: so each element is a sum of sums of blocks, not one long sum over all
// queries.
class bias_gradient {
 public:
  // `sums` has capacity for a row of scores plus as many floats as a block has queries.
  explicit bias_gradient(float* sums) : sums_(sums) {}

  // Begins a block of queries and a block of keys.
  void begin(const bias_tile<float>& to, std::ptrdiff_t queries, std::ptrdiff_t keys) {
    to_ = to;
    queries_ = queries;
    keys_ = keys;
    const std::ptrdiff_t unit = std::max(tiles::lanes(), tiles::rows);
    if (to_.row == 0) std::fill_n(sums_, row_length() + unit, 0.0f);
  }

  // Adds query i's gradients, given as twice their value: full vectors of keys, with zeros for keys
  // that it does not see.
  void add(std::ptrdiff_t i, const float* twice, index_range vectors, index_range visible) const {
    const tiles::tag d;
    if (to_.row == 0) {
      float* const at = sums_ + to_.step * (queries_ - 1 - i);
      for (std::ptrdiff_t j = vectors.begin; j < vectors.end; j += tiles::lanes())
        hn::StoreU(hn::Add(hn::LoadU(d, at + j), hn::LoadU(d, twice + j)), d, at + j);
    } else if (visible.begin < visible.end) {
      add_to_gradient(i, visible, twice);
    }
  }

  void end() const {
    if (to_.row == 0) add_to_gradient(queries_ - 1, {0, row_length()}, sums_);
  }

 private:
  std::ptrdiff_t row_length() const { return keys_ + to_.step * (queries_ - 1); }
  void add_to_gradient(std::ptrdiff_t i, index_range keys, const float* twice) const {
    to_.for_each_stride(
        i, keys, [&](std::ptrdiff_t first, std::ptrdiff_t count, float* to, std::ptrdiff_t stride) {
          add_half(count, twice + first, to, stride);
        });
  }

  float* sums_;
  bias_tile<float> to_;
  std::ptrdiff_t queries_ = 0, keys_ = 0;
};

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
