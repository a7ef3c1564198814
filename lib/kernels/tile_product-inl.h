// Products of small contiguous matrices that fit in the cache, by the microkernel of attention.
// Strips of rows may each have an extent of their own.
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

#include "kernels/attention_products-inl.h"
#include "kernels/band.hpp"
#include "weft/kernels/dot_blocking.hpp"
#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE::tiles {

using tag = query_tag;
using vec = query_vec;

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

// A tile of `vectors` vectors and a strip of rows.
HWY_INLINE void tile_of(std::ptrdiff_t vectors, const tile_of_product& t) {
  constexpr std::size_t height = register_tile.rows;
  if (vectors == 1) return tile<height, 1>(t);
  if (vectors == 2) return tile<height, 2>(t);
  if constexpr (max_vectors >= 3) tile<height, 3>(t);
}

// The vectors of the next tile, with `left` remaining vectors. Avoids tiles of one vector where
// possible: they load a broadcast element for every product.
HWY_INLINE std::ptrdiff_t tile_width(std::ptrdiff_t left) {
  return left == 4 ? 2 : std::min(left, max_vectors);
}

// The part of a strip of rows to compute: the vectors of the result, and the range of the
// depth to sum over.
struct strip_extent {
  index_range vectors, depth;

  bool operator==(const strip_extent&) const = default;
};

HWY_INLINE tile_of_product tile_at(const matmul& p, std::ptrdiff_t row, std::ptrdiff_t vector,
                                   const index_range& depth) {
  return {p, static_cast<std::size_t>(row), static_cast<std::size_t>(vector * lanes()), depth};
}

// The product where all strips have the same extent, so that tiles may cross strips: with few
// accumulators each multiply-add waits for the one before (latency).
inline HWY_NOINLINE void multiply_uniform(const matmul& p, std::ptrdiff_t row_count,
                                          const strip_extent& all) {
  if (p.earlier != nullptr && all.depth.empty()) return;
  for (std::ptrdiff_t v = all.vectors.begin, width; v < all.vectors.end; v += width) {
    width = tile_width(all.vectors.end - v);
    for (std::ptrdiff_t i = 0, left = round_up(row_count, rows), height; left > 0;
         i += height, left -= height) {
      // The last two strips are two tiles rather than six rows and two.
      const bool tall = width == 2 && left >= tall_rows && left != 2 * rows;
      height = tall ? tall_rows : rows;
      const tile_of_product t = tile_at(p, i, v, all.depth);
      tall ? tile<static_cast<std::size_t>(tall_rows), 2>(t) : tile_of(width, t);
    }
  }
}

// result = lhs * rhs, or result += lhs * rhs, for `vectors` vectors of columns. extent_of(i) is the
// strip_extent of the strip of rows that begins at i; if the first and the last are equal, all are.
template <store Store, lhs_layout Lhs, class Extent>
HWY_INLINE void multiply(const matrices& f, std::ptrdiff_t row_count, std::ptrdiff_t vectors,
                         Extent extent_of) {
  constexpr bool transposed = Lhs == lhs_layout::transposed, adds = Store == store::add;
  const matmul p{.lhs = f.lhs.data,
                 .lhs_row = transposed ? 1 : f.lhs.row,
                 .lhs_step = transposed ? f.lhs.row : 1,
                 .rhs = f.rhs.data,
                 .rhs_step = f.rhs.row,
                 .result = f.result.data,
                 .result_row = f.result.row,
                 .rows = static_cast<std::size_t>(row_count),
                 .earlier = adds ? f.result.data : nullptr,
                 .earlier_row = f.result.row};
  if constexpr (has_tall_tiles) {
    const strip_extent all = extent_of(0);
    if (all == extent_of((row_count - 1) / rows * rows)) return multiply_uniform(p, row_count, all);
  }
  for (std::ptrdiff_t v = 0, width; v < vectors; v += width) {
    width = tile_width(vectors - v);
    for (std::ptrdiff_t i = 0; i < row_count; i += rows) {
      const strip_extent strip = extent_of(i);
      const index_range part = strip.vectors.intersect({v, v + width});
      if (part.empty() || (adds && strip.depth.empty())) continue;
      tile_of(part.size(), tile_at(p, i, part.begin, strip.depth));
    }
  }
}

}  // namespace weft::kernels::HWY_NAMESPACE::tiles
HWY_AFTER_NAMESPACE();

#endif
