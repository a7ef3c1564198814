// Packing: interleaves lines (rows or columns) of an operand, as tiles read them.
#if defined(WEFT_KERNELS_GEMM_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_GEMM_PACK_INL_H_
#undef WEFT_KERNELS_GEMM_PACK_INL_H_
#else
#define WEFT_KERNELS_GEMM_PACK_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "hwy/cache_control.h"
#include "kernels/dot_loops.hpp"
#include "kernels/transpose-inl.h"
#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// None of these is inlined into its caller, which would hoist the setup of all of them and spill it
// to the stack: each is called once for all the lines there are.

// Lines that are interleaved in memory: at depth k, those from data + k * step on.
struct interleaved_lines {
  const float* data;
  std::ptrdiff_t step;
  std::size_t depth;
};

// The destination of packed lines: tiles of `width` lines, the first `lines` of which exist.
struct packed_tiles {
  float* data;
  std::size_t width, lines;
  std::size_t count;
  std::size_t tile_stride;  // stride between tiles, which have consecutive lines
  std::size_t advance;      // the depth that is packed of every tile at a time
};

// Calls copy(line, ahead, tile) for each depth of each tile, `line` being the source and `tile` the
// destination. All tiles advance together, so that memory is read from end to end; line + ahead is
// the prefetch target.
template <class F>
HWY_INLINE void copy_lines(const interleaved_lines& from, const packed_tiles& to, F copy) {
  const std::ptrdiff_t step = from.step;
  const std::size_t width = to.width, tiles = to.count, tile_stride = to.tile_stride;
  const float* lines = from.data;
  float* packed = to.data;
  for (std::size_t remaining = from.depth; remaining != 0;) {
    const std::size_t depth = std::min(to.advance, remaining);
    const std::ptrdiff_t ahead = static_cast<std::ptrdiff_t>(depth) * step;
    for (std::size_t t = 0; t < tiles; ++t) {
      const float* line = lines + t * width;
      float* tile = packed + t * tile_stride;
      for (std::size_t k = depth; k != 0; --k, line += step, tile += width) copy(line, ahead, tile);
    }
    remaining -= depth;
    lines += ahead;
    packed += depth * width;
  }
}

// Copies full vectors, with software prefetch: hardware does not predict runs as short as a tile's
// width.
template <class D, std::size_t... V>
HWY_INLINE void copy_vectors(D d, std::index_sequence<V...>, const interleaved_lines& from,
                             const packed_tiles& to) {
  const std::size_t lanes = hn::Lanes(d);
  copy_lines(from, to,
             [=](const float* line, std::ptrdiff_t ahead, float* HWY_RESTRICT tile) HWY_ATTR {
               (hwy::Prefetch(line + ahead + V * lanes), ...);
               (hn::StoreU(hn::LoadU(d, line + V * lanes), d, tile + V * lanes), ...);
             });
}

template <class D>
HWY_NOINLINE void pack_interleaved_lines(D d, const interleaved_lines& from,
                                         const packed_tiles& to) {
  const std::size_t lanes = hn::Lanes(d), lines = to.lines;
  if (lines == to.width) {
    if (lines == lanes) return copy_vectors(d, std::make_index_sequence<1>(), from, to);
    if (lines == 2 * lanes) return copy_vectors(d, std::make_index_sequence<2>(), from, to);
    if (lines == 3 * lanes) return copy_vectors(d, std::make_index_sequence<3>(), from, to);
  }
  copy_lines(from, to, [=](const float* line, std::ptrdiff_t, float* HWY_RESTRICT tile) HWY_ATTR {
    std::size_t j = 0;
    for (; j + lanes < lines; j += lanes) hn::StoreU(hn::LoadU(d, line + j), d, tile + j);
    hn::StoreU(load_n(d, line + j, lines - j), d, tile + j);
  });
}

// Lines with any other stride: `lines` rows or columns of `depth` elements each.
struct strided_lines {
  const float* data;
  offset_list line;
  offset_list element;  // along a line
  std::size_t lines, depth;
};

// Packs element by element, with zeros for lines that do not exist.
HWY_NOINLINE inline void pack_elements(const strided_lines& s, std::size_t width,
                                       float* HWY_RESTRICT packed) {
  for (std::size_t k = 0; k < s.depth; ++k, packed += width) {
    const float* from = s.data + s.element[k];
    for (std::size_t j = 0; j < s.lines; ++j) packed[j] = from[s.line[j]];
    for (std::size_t j = s.lines; j < width; ++j) packed[j] = 0;
  }
}

// Vectors of a size unknown at compile time are not combined from halves.
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

// Packs lines with contiguous elements, as many at a time as a vector has lanes.
template <class D>
HWY_NOINLINE void pack_contiguous_lines(D d, const strided_lines& s, std::size_t width,
                                        float* HWY_RESTRICT packed) {
  if (s.depth < 4) return pack_elements(s, width, packed);
  constexpr std::size_t lanes = hn::MaxLanes(D());
  for (std::size_t j = 0; j < s.lines; j += lanes) {
    // Remainder: surplus pointers repeat the last line; their lanes are discarded.
    const float* line[lanes];
    s.line.from(j).pointers(s.data + s.element[0], std::min(lanes, s.lines - j), line);
    // Groups of four; the last one overlaps the one before.
    for (std::size_t k = 0, count = s.depth / 4 * 4;; k = s.depth - 4, count = 4) {
      float* to = packed + k * width + j;
      std::size_t at = k;
      transpose_strip(
          d, count, [&line, &at](std::size_t i) { return line[i] + at; },
          [&at](std::size_t n) { at += n; },
          [=, &to](auto v) HWY_ATTR {
            hn::StoreU(v, d, to);
            to += width;
          });
      if (k + count == s.depth) break;
    }
  }
}

#else

template <class D>
HWY_INLINE void pack_contiguous_lines(D, const strided_lines& s, std::size_t width,
                                      float* HWY_RESTRICT packed) {
  pack_elements(s, width, packed);
}

#endif

// Rounds a line of contiguous floats to pairs of bfloat16, each as large as a float: half as many.
// An odd last one is paired with zero.
inline void round_line(const float* HWY_RESTRICT line, std::size_t depth,
                       float* HWY_RESTRICT pairs) {
  const hn::CappedTag<float, max_dot_lanes> d;
  const std::size_t lanes = hn::Lanes(d);
  for (; depth >= 2 * lanes; depth -= 2 * lanes, line += 2 * lanes, pairs += lanes)
    hn::StoreU(rounded_to_pairs(d, hn::LoadU(d, line), hn::LoadU(d, line + lanes)), d, pairs);
  if (depth == 0) return;
  const std::size_t first = std::min(depth, lanes);
  const auto a = load_n(d, line, first), b = load_n(d, line + first, depth - first);
  store_n(rounded_to_pairs(d, a, b), d, pairs, (depth + 1) / 2);
}

// Rows of the lhs, from their offsets on, and where they are rounded to: rows of bfloat16 pairs.
struct rows_of_lhs {
  const float* data;
  const offset_list& row;
  std::size_t count;
};
struct rows_of_pairs {
  float* data;
  std::size_t pitch;
};

// Copies a few strided rows to contiguous lines.
inline void copy_rows(const rows_of_lhs& rows, std::ptrdiff_t step, std::size_t depth, float* to) {
  for (std::size_t i = 0; i < rows.count; ++i, to += depth) {
    const float* from = rows.data + rows.row[i];
    for (std::size_t k = 0; k < depth; ++k, from += step) to[k] = *from;
  }
}

// Rounds a block's rows. Those that are not contiguous are copied to a line first, which has room
// for the depth.
inline void round_rows(const rows_of_lhs& rows, const loop_nest& loops, range depth, float* line,
                       const rows_of_pairs& to) {
  const std::ptrdiff_t step = loops.inner_stride(of_lhs);
  const bool contiguous = is_single(loops) && step == 1;
  for (std::size_t i = 0; i < rows.count; ++i) {
    const float* row = rows.data + rows.row[i];
    if (contiguous) {
      row += depth.first;
    } else {
      float* end = line;
      for (std::size_t k = 0, count; k < depth.count; k += count) {
        count = run_within(loops, depth.first + k, depth.count - k);
        const float* from =
            row + offsets_at(loops, static_cast<std::ptrdiff_t>(depth.first + k)).in[of_lhs];
        for (std::size_t j = 0; j < count; ++j, from += step) *end++ = *from;
      }
      row = line;
    }
    round_line(row, depth.count, to.data + i * to.pitch);
  }
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
