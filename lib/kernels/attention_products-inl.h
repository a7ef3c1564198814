// The matrix products of attention and of its adjoint: a microkernel whose accumulators stay in
// registers. Keys and values of bfloat16, as those of a cache can be, are converted to float a
// block at a time.
#if defined(WEFT_KERNELS_ATTENTION_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_ATTENTION_PRODUCTS_INL_H_
#undef WEFT_KERNELS_ATTENTION_PRODUCTS_INL_H_
#else
#define WEFT_KERNELS_ATTENTION_PRODUCTS_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "hwy/cache_control.h"
#include "kernels/attention_view.hpp"
#include "kernels/band.hpp"
#include "kernels/cast-inl.h"
#include "kernels/transpose-inl.h"
#include "weft/kernels/attention_scratch.hpp"
#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

using query_tag = hn::CappedTag<float, max_dot_lanes>;
using query_vec = hn::Vec<query_tag>;

// Accumulators, the vectors of the rhs and one broadcast element of the lhs stay in registers: up
// to 24 + 4 + 1 of 32, or 12 + 2 + 1 of 16. With none to spare, accumulators would be spilled.
constexpr std::size_t product_sums = has_32_registers ? 24 : 12;
constexpr std::size_t product_vectors = has_32_registers ? 4 : 2;
constexpr std::size_t max_product_rows = 8;  // of a register tile

// result[r, c] = (the sum over k of lhs[r, k] * rhs[k, c] + rescale[r] * earlier[r, c]) *
// scales[r]. The lhs has any strides, and its elements are broadcast one by one; the columns of the
// others are contiguous, padded to full vectors.
struct matmul {
  const float* lhs;
  std::ptrdiff_t lhs_row, lhs_step;  // strides of r and k
  const float* rhs;
  std::ptrdiff_t rhs_step;  // stride of k
  float* result;
  std::ptrdiff_t result_row;  // stride of r
  std::size_t rows;
  const float* earlier = nullptr;  // null: nothing is added
  std::ptrdiff_t earlier_row = 0;
  const float* rescale = nullptr;  // null: all are 1
  const float* scales = nullptr;   // null: all are 1
};

template <std::size_t V>
HWY_INLINE query_vec pick(query_vec v0, query_vec v1, query_vec v2, query_vec v3) {
  if constexpr (V == 0)
    return v0;
  else if constexpr (V == 1)
    return v1;
  else if constexpr (V == 2)
    return v2;
  else
    return v3;
}

// One register tile: its first row and column, and the range of the depth to sum over.
struct tile_of_product {
  const matmul& of;
  std::size_t row, column;
  index_range depth;
};

// The accumulators are a parameter pack, not an array, so that each is a register even if vectors
// are sizeless (scalable).
template <std::size_t Vectors, std::size_t... I, class... Sums>
HWY_INLINE void sum_products(std::index_sequence<I...>, const tile_of_product& t, Sums... sums) {
  const query_tag d;
  const std::size_t lanes = hn::Lanes(d);
  const std::ptrdiff_t row = t.of.lhs_row;
  const std::ptrdiff_t lhs_step = t.of.lhs_step, rhs_step = t.of.rhs_step;
  const float* a = t.of.lhs + static_cast<std::ptrdiff_t>(t.row) * row + t.depth.begin * lhs_step;
  const float* b = t.of.rhs + t.depth.begin * rhs_step + t.column;
  // A tile of one vector is done before the hardware prefetcher would fetch the next rows.
  if constexpr (Vectors == 1) {
    constexpr std::size_t rows = sizeof...(I);
    (hwy::Prefetch(a + static_cast<std::ptrdiff_t>(rows + I) * row), ...);
  }
  for (std::ptrdiff_t k = t.depth.size(); k > 0; --k, a = opaque(a + lhs_step), b += rhs_step) {
    const query_vec b0 = hn::LoadU(d, b);
    const query_vec b1 = Vectors > 1 ? hn::LoadU(d, b + lanes) : b0;
    const query_vec b2 = Vectors > 2 ? hn::LoadU(d, b + 2 * lanes) : b0;
    const query_vec b3 = Vectors > 3 ? hn::LoadU(d, b + 3 * lanes) : b0;
    ((sums = hn::MulAdd(hn::Set(d, a[static_cast<std::ptrdiff_t>(I / Vectors) * row]),
                        pick<I % Vectors>(b0, b1, b2, b3), sums)),
     ...);
  }
  const matmul& p = t.of;
  const auto first = static_cast<std::ptrdiff_t>(t.row);
  const auto offset_of = [=](std::size_t i, std::ptrdiff_t pitch) HWY_ATTR {
    return static_cast<std::ptrdiff_t>(i / Vectors) * pitch +
           static_cast<std::ptrdiff_t>(i % Vectors * lanes);
  };
  if (p.earlier != nullptr) {
    const std::ptrdiff_t earlier_row = p.earlier_row;
    const float* const earlier = p.earlier + first * earlier_row + t.column;
    if (p.rescale != nullptr) {
      const float* const rescale = p.rescale + first;
      ((sums = hn::MulAdd(hn::LoadU(d, earlier + offset_of(I, earlier_row)),
                          hn::Set(d, rescale[I / Vectors]), sums)),
       ...);
    } else {
      ((sums = hn::Add(sums, hn::LoadU(d, earlier + offset_of(I, earlier_row)))), ...);
    }
  }
  if (p.scales != nullptr) {
    const float* const scales = p.scales + first;
    ((sums = hn::Mul(hn::Set(d, scales[I / Vectors]), sums)), ...);
  }
  const std::ptrdiff_t result_row = p.result_row;
  float* const result = p.result + first * result_row + t.column;
  (hn::StoreU(sums, d, result + offset_of(I, result_row)), ...);
}

template <std::size_t Rows, std::size_t Vectors, class... Sums>
HWY_INLINE void with_sums(const tile_of_product& t, Sums... sums) {
  if constexpr (sizeof...(Sums) == Rows * Vectors) {
    sum_products<Vectors>(std::make_index_sequence<Rows * Vectors>(), t, sums...);
  } else {
    with_sums<Rows, Vectors>(t, sums..., hn::Zero(query_tag()));
  }
}

template <std::size_t Rows, std::size_t Vectors>
void tile(const tile_of_product& t) {
  with_sums<Rows, Vectors>(t);
}

// A tile of `rows` rows, at most Rows.
template <std::size_t Rows, std::size_t Vectors>
HWY_INLINE void tile_of(std::size_t rows, const tile_of_product& t) {
  if constexpr (Rows > 1) {
    if (rows < Rows) return tile_of<Rows - 1, Vectors>(rows, t);
  }
  tile<Rows, Vectors>(t);
}

// depth_of(first, count) is the range of the depth that `count` rows from `first` on sum over.
template <std::size_t Vectors, class Depth>
HWY_INLINE void multiply_columns(const matmul& p, std::size_t column, Depth depth_of) {
  constexpr std::size_t most = std::min<std::size_t>(product_sums / Vectors, max_product_rows);
  constexpr std::size_t small = 4;
  for (std::size_t first = 0, rows; first < p.rows; first += rows) {
    const std::size_t left = p.rows - first;
    // 4 + 4 or 4 + 3 rows rather than 6 + 2 or 6 + 1.
    const bool in_two_fours = most == 6 && (left == 8 || left == 7);
    rows = left >= most && !in_two_fours ? most : std::min(left, small);
    const tile_of_product part{p, first, column, depth_of(first, rows)};
    rows == most ? tile<most, Vectors>(part) : tile_of<small, Vectors>(rows, part);
  }
}

// Multiplies `vectors` vectors of columns. Where all but one would fit in a tile they are split: a
// tile of a single vector loads a broadcast element for every product.
template <class Depth>
HWY_INLINE void multiply(const matmul& p, std::size_t vectors, Depth depth_of) {
  const std::size_t lanes = hn::Lanes(query_tag());
  for (std::size_t v = 0, count; v < vectors; v += count) {
    const std::size_t left = vectors - v;
    count = left == product_vectors + 1 ? product_vectors - 1 : std::min(left, product_vectors);
    if (count == 1)
      multiply_columns<1>(p, v * lanes, depth_of);
    else if (count == 2)
      multiply_columns<2>(p, v * lanes, depth_of);
    else if constexpr (product_vectors == 4)
      count == 3 ? multiply_columns<3>(p, v * lanes, depth_of)
                 : multiply_columns<4>(p, v * lanes, depth_of);
  }
}

// Stores rows of results, which are padded to full vectors and `row` apart.
inline void store_rows(const float* from, std::ptrdiff_t row, const slice<float>& to,
                       const index_range& queries, std::size_t columns) {
  const query_tag d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::ptrdiff_t i = queries.begin; i < queries.end; ++i, from += row) {
    if (to.column == 1) {
      for (std::size_t e = 0; e < columns; e += lanes)
        store_up_to(d, hn::LoadU(d, from + e), to.at(i, 0) + e, columns - e);
    } else {
      for (std::size_t e = 0; e < columns; ++e) *to.at(i, static_cast<std::ptrdiff_t>(e)) = from[e];
    }
  }
}

// to = the rows [keys.begin, keys.end) of `columns` columns, as float, in rows of `pitch` elements,
// a whole number of vectors: the padding after the columns is 0.
inline HWY_NOINLINE void widen_rows(const slice<const std::uint16_t>& from, const index_range& keys,
                                    std::ptrdiff_t columns, float* to, std::ptrdiff_t pitch) {
  const floats d;
  const hn::Rebind<half, floats> narrow;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  for (std::ptrdiff_t i = keys.begin; i < keys.end; ++i, to += pitch) {
    const std::uint16_t* const row = from.at(i, 0);
    std::ptrdiff_t j = 0;
    if (from.column == 1) {
      for (; j + lanes <= columns; j += lanes)
        hn::StoreU(widened(hn::LoadU(narrow, row + j)), d, to + j);
      if (j < columns) {
        const auto last = load_n(narrow, row + j, static_cast<std::size_t>(columns - j));
        hn::StoreU(widened(last), d, to + j);
      }
      continue;
    }
    for (; j < columns; ++j)
      to[j] = std::bit_cast<float>(static_cast<std::uint32_t>(*from.at(i, j)) << 16);
    for (; j < pitch; ++j) to[j] = 0;
  }
}

// The value of a key in a column, of either type.
inline float value_at(const attention_view& at, std::ptrdiff_t key, std::ptrdiff_t column) {
  if (at.narrow_value.data == nullptr) return *at.value.at(key, column);
  return std::bit_cast<float>(static_cast<std::uint32_t>(*at.narrow_value.at(key, column)) << 16);
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
