// The adjoint of attention: packs blocks of its operands, and unpacks those of its gradients.
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
#include "kernels/tile_product-inl.h"
#include "weft/kernels/hwy-inl.h"

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

}  // namespace
}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
