// Products of small packed matrices that fit in the cache, by a microkernel with its accumulators
// in registers.
//
// Rows of the right operand and of the result are padded to full vectors, and the left operand and
// the result have whole tiles of rows: the padding takes part in the arithmetic, but its results
// are not used.
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
#include "kernels/visible.hpp"
#include "weft/kernels/dot_blocking.hpp"
#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE::tiles {

namespace hn = hwy::HWY_NAMESPACE;

using tag = hn::CappedTag<float, 16>;
using vec = hn::Vec<tag>;

constexpr dot_tile largest = tile_for(has_32_registers ? 32 : 16);
constexpr auto rows = static_cast<std::ptrdiff_t>(largest.rows);
// With 16 registers, three vectors leave none for the product if there is no fused multiply-add.
constexpr auto max_vectors = static_cast<std::ptrdiff_t>(
    has_32_registers || HWY_NATIVE_FMA ? largest.vectors : largest.vectors - 1);

HWY_INLINE std::ptrdiff_t lanes() {
  return static_cast<std::ptrdiff_t>(hn::Lanes(tag()));
}

// Rows of a tile of two vectors, for which 16 registers hold the accumulators of more rows than a
// strip has.
constexpr std::ptrdiff_t tall_rows = 6;
constexpr bool has_tall_tiles = !has_32_registers && HWY_NATIVE_FMA;

// Row-major matrices, unless the left one is transposed: then its columns are rows in memory. `row`
// is the stride of the rows in memory (leading dimension).
struct packed_matrix {
  float* data;
  std::ptrdiff_t row;
};
struct factors {
  packed_matrix left, right, result;
};

// Whether sums overwrite the result or are added to it, and whether the left operand is transposed.
enum class store { put, add };
enum class left_operand { as_it_is, transposed };

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
template <std::size_t Vectors, left_operand Left, std::size_t... I, class... Sums>
HWY_INLINE void multiply_add(std::index_sequence<I...>, const factors& f, std::ptrdiff_t depth,
                             Sums... sums) {
  const tag d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr bool transposed = Left == left_operand::transposed;
  const std::ptrdiff_t left_row = transposed ? 1 : f.left.row;
  const std::ptrdiff_t left_step = transposed ? f.left.row : 1;
  const std::ptrdiff_t right_step = f.right.row;
  const float* a = f.left.data;
  const float* b = f.right.data;
  for (; depth > 0; --depth, a = in_register(a + left_step), b += right_step) {
    const vec b0 = hn::LoadU(d, b);
    const vec b1 = Vectors > 1 ? hn::LoadU(d, b + lanes) : b0;
    const vec b2 = Vectors > 2 ? hn::LoadU(d, b + 2 * lanes) : b0;
    if constexpr (transposed) hwy::Prefetch(a + 8 * left_step);
    ((sums = hn::MulAdd(hn::Set(d, a[static_cast<std::ptrdiff_t>(I / Vectors) * left_row]),
                        pick<I % Vectors>(b0, b1, b2), sums)),
     ...);
  }
  float* const to = f.result.data;
  const std::ptrdiff_t result_row = f.result.row;
  (hn::StoreU(sums, d,
              to + static_cast<std::ptrdiff_t>(I / Vectors) * result_row + I % Vectors * lanes),
   ...);
}

template <std::ptrdiff_t Rows, std::size_t Vectors, store Store, left_operand Left, class... Sums>
HWY_INLINE void with_sums(const factors& f, std::ptrdiff_t depth, Sums... sums) {
  constexpr std::size_t count = sizeof...(Sums), all = static_cast<std::size_t>(Rows) * Vectors;
  if constexpr (count == all) {
    multiply_add<Vectors, Left>(std::make_index_sequence<all>(), f, depth, sums...);
  } else if constexpr (Store == store::put) {
    with_sums<Rows, Vectors, Store, Left>(f, depth, sums..., hn::Zero(tag()));
  } else {
    const tag d;
    const float* from = f.result.data + static_cast<std::ptrdiff_t>(count / Vectors) * f.result.row;
    with_sums<Rows, Vectors, Store, Left>(f, depth, sums...,
                                          hn::LoadU(d, from + count % Vectors * hn::Lanes(d)));
  }
}

template <std::ptrdiff_t Rows, std::size_t Vectors, store Store, left_operand Left>
HWY_NOINLINE void tile(const factors& f, std::ptrdiff_t depth) {
  with_sums<Rows, Vectors, Store, Left>(f, depth);
}

template <store Store, left_operand Left>
HWY_INLINE void tile_of(std::ptrdiff_t vectors, const factors& f, std::ptrdiff_t depth) {
  if (vectors == 1) return tile<rows, 1, Store, Left>(f, depth);
  if (vectors == 2) return tile<rows, 2, Store, Left>(f, depth);
  if constexpr (max_vectors >= 3) tile<rows, 3, Store, Left>(f, depth);
}

// The vectors of the next tile, with `left` remaining. Avoids tiles of one vector where possible:
// they load a broadcast element for every product.
HWY_INLINE std::ptrdiff_t tile_width(std::ptrdiff_t left) {
  return left == 4 ? 2 : std::min(left, max_vectors);
}

// The part of a strip of rows to compute: the vectors of the result, and the range of the depth to
// sum over.
struct strip_extent {
  index_range vectors, depth;

  bool operator==(const strip_extent&) const = default;
};

// The operands offset to the tile that begins at this row and vector, and to this depth.
template <left_operand Left>
HWY_INLINE factors at_tile(const factors& f, std::ptrdiff_t row, std::ptrdiff_t vector,
                           std::ptrdiff_t depth) {
  const std::ptrdiff_t column = vector * lanes();
  const float* left = Left == left_operand::transposed ? f.left.data + depth * f.left.row + row
                                                       : f.left.data + row * f.left.row + depth;
  return {{const_cast<float*>(left), f.left.row},
          {f.right.data + depth * f.right.row + column, f.right.row},
          {f.result.data + row * f.result.row + column, f.result.row}};
}

// The product where all strips have the same extent, so that tiles may cross strips: with few
// accumulators each multiply-add waits for the one before (latency).
template <store Store, left_operand Left>
HWY_NOINLINE void multiply_alike(const factors& f, std::ptrdiff_t row_count,
                                 const strip_extent& all) {
  const auto [first, last] = all.depth;
  if (Store == store::add && first >= last) return;
  for (std::ptrdiff_t v = all.vectors.begin, width; v < all.vectors.end; v += width) {
    width = tile_width(all.vectors.end - v);
    for (std::ptrdiff_t i = 0, left = round_up(row_count, rows), height; left > 0;
         i += height, left -= height) {
      const factors of_tile = at_tile<Left>(f, i, v, first);
      // The last two strips are two tiles rather than six rows and two.
      const bool tall = width == 2 && left >= tall_rows && left != 2 * rows;
      height = tall ? tall_rows : rows;
      tall ? tile<tall_rows, 2, Store, Left>(of_tile, last - first)
           : tile_of<Store, Left>(width, of_tile, last - first);
    }
  }
}

// result = left * right, or result += left * right, for `vectors` vectors of columns. extent_of(i)
// is the strip_extent of the strip of rows that begins at i; if the first and the last are equal,
// all are.
template <store Store, left_operand Left, class Extent>
HWY_INLINE void multiply(const factors& f, std::ptrdiff_t row_count, std::ptrdiff_t vectors,
                         Extent extent_of) {
  if constexpr (has_tall_tiles) {
    const strip_extent all = extent_of(0);
    if (all == extent_of((row_count - 1) / rows * rows))
      return multiply_alike<Store, Left>(f, row_count, all);
  }
  for (std::ptrdiff_t v = 0, width; v < vectors; v += width) {
    width = tile_width(vectors - v);
    for (std::ptrdiff_t i = 0; i < row_count; i += rows) {
      const strip_extent strip = extent_of(i);
      const index_range part{std::max(v, strip.vectors.begin),
                             std::min(v + width, strip.vectors.end)};
      const auto& [first, last] = strip.depth;
      if (part.begin >= part.end || (Store == store::add && first >= last)) continue;
      tile_of<Store, Left>(part.size(), at_tile<Left>(f, i, part.begin, first), last - first);
    }
  }
}

}  // namespace weft::kernels::HWY_NAMESPACE::tiles
HWY_AFTER_NAMESPACE();

#endif
