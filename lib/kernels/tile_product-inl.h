// Products of small packed matrices that fit in the cache, by a microkernel with its accumulators
// in registers.
//
// Rows of the rhs and of the result are padded to full vectors, and the lhs and the result have
// whole tiles of rows: the padding takes part in the arithmetic, but its results are not used.
#if defined(WEFT_KERNELS_TILE_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_TILE_PRODUCT_INL_H_
#undef WEFT_KERNELS_TILE_PRODUCT_INL_H_
#else
#define WEFT_KERNELS_TILE_PRODUCT_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <utility>

#include "hwy/cache_control.h"
#include "kernels/band.hpp"
#include "weft/kernels/dot_blocking.hpp"
#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE::tiles {

namespace hn = hwy::HWY_NAMESPACE;

using tag = hn::CappedTag<float, 16>;
using vec = hn::Vec<tag>;

constexpr dot_tile register_tile = tile_for(has_32_registers ? 32 : 16);
constexpr auto rows = static_cast<std::ptrdiff_t>(register_tile.rows);
// With 16 registers, three vectors leave none for the product if there is no fused multiply-add.
constexpr auto max_vectors = static_cast<std::ptrdiff_t>(
    has_32_registers || HWY_NATIVE_FMA ? register_tile.vectors : register_tile.vectors - 1);

HWY_INLINE std::ptrdiff_t lanes() {
  return static_cast<std::ptrdiff_t>(hn::Lanes(tag()));
}

// Rows of a tile of two vectors, for which 16 registers hold the accumulators of more rows than a
// micro-panel has.
constexpr std::ptrdiff_t tall_rows = 6;
constexpr bool has_tall_tiles = !has_32_registers && HWY_NATIVE_FMA;

// Row-major matrices, unless the lhs is transposed: then its columns are rows in memory. `row` is
// the stride of the rows in memory (leading dimension).
struct packed_matrix {
  float* data;
  std::ptrdiff_t row;
};
struct matrices {
  packed_matrix lhs, rhs, result;
};

// Whether sums overwrite the result or are added to it, and whether the lhs is transposed.
enum class store { overwrite, add };
enum class lhs_layout { row_major, transposed };

template <std::size_t V>
HWY_INLINE vec pick(vec v0, vec v1, vec v2) {
  if constexpr (V == 0)
    return v0;
  else if constexpr (V == 1)
    return v1;
  else
    return v2;
}

// The accumulators are a parameter pack, not an array, so that each is a register even if vectors
// are sizeless (scalable).
template <std::size_t Vectors, lhs_layout Lhs, std::size_t... I, class... Sums>
HWY_INLINE void multiply_add(std::index_sequence<I...>, const matrices& f, std::ptrdiff_t depth,
                             Sums... sums) {
  const tag d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr bool transposed = Lhs == lhs_layout::transposed;
  const std::ptrdiff_t lhs_row = transposed ? 1 : f.lhs.row;
  const std::ptrdiff_t lhs_step = transposed ? f.lhs.row : 1;
  const std::ptrdiff_t rhs_step = f.rhs.row;
  const float* a = f.lhs.data;
  const float* b = f.rhs.data;
  for (; depth > 0; --depth, a = opaque(a + lhs_step), b += rhs_step) {
    const vec b0 = hn::LoadU(d, b);
    const vec b1 = Vectors > 1 ? hn::LoadU(d, b + lanes) : b0;
    const vec b2 = Vectors > 2 ? hn::LoadU(d, b + 2 * lanes) : b0;
    if constexpr (transposed) hwy::Prefetch(a + 8 * lhs_step);
    ((sums = hn::MulAdd(hn::Set(d, a[static_cast<std::ptrdiff_t>(I / Vectors) * lhs_row]),
                        pick<I % Vectors>(b0, b1, b2), sums)),
     ...);
  }
  float* const to = f.result.data;
  const std::ptrdiff_t result_row = f.result.row;
  (hn::StoreU(sums, d,
              to + static_cast<std::ptrdiff_t>(I / Vectors) * result_row + I % Vectors * lanes),
   ...);
}

template <std::ptrdiff_t Rows, std::size_t Vectors, store Store, lhs_layout Lhs, class... Sums>
HWY_INLINE void with_sums(const matrices& f, std::ptrdiff_t depth, Sums... sums) {
  constexpr std::size_t count = sizeof...(Sums), all = static_cast<std::size_t>(Rows) * Vectors;
  if constexpr (count == all) {
    multiply_add<Vectors, Lhs>(std::make_index_sequence<all>(), f, depth, sums...);
  } else if constexpr (Store == store::overwrite) {
    with_sums<Rows, Vectors, Store, Lhs>(f, depth, sums..., hn::Zero(tag()));
  } else {
    const tag d;
    const float* from = f.result.data + static_cast<std::ptrdiff_t>(count / Vectors) * f.result.row;
    with_sums<Rows, Vectors, Store, Lhs>(f, depth, sums...,
                                         hn::LoadU(d, from + count % Vectors * hn::Lanes(d)));
  }
}

template <std::ptrdiff_t Rows, std::size_t Vectors, store Store, lhs_layout Lhs>
HWY_NOINLINE void tile(const matrices& f, std::ptrdiff_t depth) {
  with_sums<Rows, Vectors, Store, Lhs>(f, depth);
}

template <store Store, lhs_layout Lhs>
HWY_INLINE void tile_of(std::ptrdiff_t vectors, const matrices& f, std::ptrdiff_t depth) {
  if (vectors == 1) return tile<rows, 1, Store, Lhs>(f, depth);
  if (vectors == 2) return tile<rows, 2, Store, Lhs>(f, depth);
  if constexpr (max_vectors >= 3) tile<rows, 3, Store, Lhs>(f, depth);
}

// The vectors of the next tile, with `left` remaining vectors. Avoids tiles of one vector where
// possible: they load a broadcast element for every product.
HWY_INLINE std::ptrdiff_t tile_width(std::ptrdiff_t left) {
  return left == 4 ? 2 : std::min(left, max_vectors);
}

// The part of a micro-panel of rows to compute: the vectors of the result, and the range of the
// depth to sum over.
struct strip_extent {
  index_range vectors, depth;

  bool operator==(const strip_extent&) const = default;
};

// The operands offset to the tile that begins at this row and vector, and to this depth.
template <lhs_layout Lhs>
HWY_INLINE matrices at_tile(const matrices& f, std::ptrdiff_t row, std::ptrdiff_t vector,
                            std::ptrdiff_t depth) {
  const std::ptrdiff_t column = vector * lanes();
  const float* lhs = Lhs == lhs_layout::transposed ? f.lhs.data + depth * f.lhs.row + row
                                                   : f.lhs.data + row * f.lhs.row + depth;
  return {{const_cast<float*>(lhs), f.lhs.row},
          {f.rhs.data + depth * f.rhs.row + column, f.rhs.row},
          {f.result.data + row * f.result.row + column, f.result.row}};
}

// The product where all micro-panels have the same extent, so that tiles may cross micro-panels:
// with few accumulators each multiply-add waits for the one before (latency).
template <store Store, lhs_layout Lhs>
HWY_NOINLINE void multiply_uniform(const matrices& f, std::ptrdiff_t row_count,
                                   const strip_extent& all) {
  const auto [first, last] = all.depth;
  if (Store == store::add && first >= last) return;
  for (std::ptrdiff_t v = all.vectors.begin, width; v < all.vectors.end; v += width) {
    width = tile_width(all.vectors.end - v);
    for (std::ptrdiff_t i = 0, left = round_up(row_count, rows), height; left > 0;
         i += height, left -= height) {
      const matrices at_this_tile = at_tile<Lhs>(f, i, v, first);
      // The last two micro-panels are two tiles rather than six rows and two.
      const bool tall = width == 2 && left >= tall_rows && left != 2 * rows;
      height = tall ? tall_rows : rows;
      tall ? tile<tall_rows, 2, Store, Lhs>(at_this_tile, last - first)
           : tile_of<Store, Lhs>(width, at_this_tile, last - first);
    }
  }
}

// result = lhs * rhs, or result += lhs * rhs, for `vectors` vectors of columns. extent_of(i) is the
// strip_extent of the micro-panel of rows that begins at i; if the first and the last are equal,
// all are.
template <store Store, lhs_layout Lhs, class Extent>
HWY_INLINE void multiply(const matrices& f, std::ptrdiff_t row_count, std::ptrdiff_t vectors,
                         Extent extent_of) {
  if constexpr (has_tall_tiles) {
    const strip_extent all = extent_of(0);
    if (all == extent_of((row_count - 1) / rows * rows))
      return multiply_uniform<Store, Lhs>(f, row_count, all);
  }
  for (std::ptrdiff_t v = 0, width; v < vectors; v += width) {
    width = tile_width(vectors - v);
    for (std::ptrdiff_t i = 0; i < row_count; i += rows) {
      const strip_extent strip = extent_of(i);
      const index_range part{std::max(v, strip.vectors.begin),
                             std::min(v + width, strip.vectors.end)};
      const auto& [first, last] = strip.depth;
      if (part.begin >= part.end || (Store == store::add && first >= last)) continue;
      tile_of<Store, Lhs>(part.size(), at_tile<Lhs>(f, i, part.begin, first), last - first);
    }
  }
}

}  // namespace weft::kernels::HWY_NAMESPACE::tiles
HWY_AFTER_NAMESPACE();

#endif
