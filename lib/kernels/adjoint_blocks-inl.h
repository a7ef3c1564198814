// The adjoint of attention: packs blocks of its operands, computes the gradients for the scores and
// the biases, and unpacks blocks of gradients.
#if defined(WEFT_KERNELS_ADJOINT_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_ADJOINT_BLOCKS_INL_H_
#undef WEFT_KERNELS_ADJOINT_BLOCKS_INL_H_
#else
#define WEFT_KERNELS_ADJOINT_BLOCKS_INL_H_
#endif

#include <algorithm>
#include <cstddef>

#include "hwy/cache_control.h"
#include "kernels/attention_view.hpp"
#include "kernels/row-inl.h"
#include "kernels/tile_product-inl.h"
#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {
namespace {

using tiles::lanes;
using tiles::lhs_layout;
using tiles::packed_matrix;
using tiles::store;
using tiles::strip_extent;
using tiles::tag;
using tiles::vec;

// The rows of a head are strided, which hardware prefetchers do not predict: prefetches a row some
// rows ahead.
template <class T>
HWY_INLINE void prefetch_row(const slice<T>& m, std::ptrdiff_t i, std::ptrdiff_t columns) {
  constexpr std::ptrdiff_t rows_ahead = 8, line = 64 / sizeof(float);
  if (m.column != 1) return;
  const T* row = m.data + (i + rows_ahead) * m.row;
  for (std::ptrdiff_t j = 0; j < columns; j += line) hwy::Prefetch(row + j);
}

// The first row of m, in place or, if its elements are strided, copied to `copy`.
const float* contiguous_row(const slice<const float>& m, std::ptrdiff_t columns, float* copy) {
  if (m.column == 1) return m.data;
  for (std::ptrdiff_t j = 0; j < columns; ++j) copy[j] = m.data[j * m.column];
  return copy;
}

// to = factor * from, with rows zero-padded to full vectors, and rows of zeros up to all_rows.
void pack(const slice<const float>& from, std::ptrdiff_t rows, std::ptrdiff_t columns, float factor,
          const packed_matrix& to, std::ptrdiff_t all_rows) {
  const tag d;
  const vec f = hn::Set(d, factor);
  const std::ptrdiff_t full = columns / lanes() * lanes();
  for (std::ptrdiff_t i = 0; i < rows; ++i) {
    prefetch_row(from, i, columns);
    float* row = to.data + i * to.row;
    const float* x = contiguous_row(from.from(i, 0), columns, row);
    for (std::ptrdiff_t j = 0; j < full; j += lanes())
      hn::StoreU(hn::Mul(f, hn::LoadU(d, x + j)), d, row + j);
    if (full < columns) {
      const vec last = load_n(d, x + full, static_cast<std::size_t>(columns - full));
      hn::StoreU(hn::Mul(f, last), d, row + full);
    }
  }
  for (std::ptrdiff_t i = rows; i < all_rows; ++i)
    std::fill_n(to.data + i * to.row, round_up(columns, lanes()), 0.0f);
}

// to = factor * from, or to += factor * from.
template <store Store>
void unpack(const packed_matrix& from, std::ptrdiff_t rows, std::ptrdiff_t columns, float factor,
            const slice<float>& to) {
  const tag d;
  const vec f = hn::Set(d, factor);
  const std::ptrdiff_t full = columns / lanes() * lanes();
  const auto tail = static_cast<std::size_t>(columns - full);
  constexpr bool add = Store == store::add;
  for (std::ptrdiff_t i = 0; i < rows; ++i) {
    prefetch_row(to, i, columns);
    const float* x = from.data + i * from.row;
    float* y = to.data + i * to.row;
    if (to.column != 1) {
      for (std::ptrdiff_t j = 0; j < columns; ++j) {
        float& element = y[j * to.column];
        element = factor * x[j] + (add ? element : 0.0f);
      }
      continue;
    }
    for (std::ptrdiff_t j = 0; j < full; j += lanes()) {
      const vec sum = hn::Mul(f, hn::LoadU(d, x + j));
      hn::StoreU(add ? hn::Add(sum, hn::LoadU(d, y + j)) : sum, d, y + j);
    }
    if (tail != 0) {
      const vec sum = hn::Mul(f, hn::LoadU(d, x + full));
      store_n(add ? hn::Add(sum, load_n(d, y + full, tail)) : sum, d, y + full, tail);
    }
  }
}

void unpack(const packed_matrix& from, std::ptrdiff_t rows, std::ptrdiff_t columns, float factor,
            const slice<float>& to, store how) {
  how == store::overwrite ? unpack<store::overwrite>(from, rows, columns, factor, to)
                          : unpack<store::add>(from, rows, columns, factor, to);
}

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
  if (stride == 0) {
    const auto add = [=](auto memory, std::size_t k, auto& sums)
                         HWY_ATTR { sums.at[0] = hn::Add(sums.at[0], memory.load(from + k)); };
    *to += 0.5f * static_cast<float>(row_sums<1>(static_cast<std::size_t>(count), add)[0]);
    return;
  }
  std::ptrdiff_t k = 0;
  if (stride == 1)
    for (; k + lanes <= count; k += lanes)
      hn::StoreU(hn::MulAdd(half, hn::LoadU(d, from + k), hn::LoadU(d, to + k)), d, to + k);
  for (; k < count; ++k) {
    float& sum = to[k * stride];
    sum = multiply_add(0.5f, from[k], sum);
  }
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
