// The operands of a contraction as the microkernel reads them: in place, or packed to tiles.
#if defined(WEFT_KERNELS_GEMM_OPERANDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_GEMM_OPERANDS_INL_H_
#undef WEFT_KERNELS_GEMM_OPERANDS_INL_H_
#else
#define WEFT_KERNELS_GEMM_OPERANDS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

#include "hwy/cache_control.h"
#include "kernels/dot_loops.hpp"
#include "kernels/gemm_partition-inl.h"
#include "kernels/gemm_plan-inl.h"
#include "kernels/loop_nest.hpp"
#include "kernels/microkernel-inl.h"
#include "kernels/packed_blocks-inl.h"
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

// Where contiguous lines are packed to, which have the depth in order, or its inner loop outermost.
// What is in one block of the depth is stored; offsets are from its start.
struct packed_places {
  float* to;
  std::size_t size;                          // of the block
  std::ptrdiff_t inner, step, next_run = 0;  // elements in a run; from one to the next; run to run
  std::ptrdiff_t at = 0, done = 0;

  packed_places from(std::size_t element) const {
    packed_places p = *this;
    p.done = static_cast<std::ptrdiff_t>(element) % inner;
    p.at += static_cast<std::ptrdiff_t>(element) / inner * next_run + p.done * step;
    return p;
  }
  template <class D, class V>
  HWY_INLINE void store(D d, V v, std::size_t j) {
    if (static_cast<std::size_t>(at) < size) hn::StoreU(v, d, to + at + j);
    at += step;
    if (++done == inner) {
      done = 0;
      at += next_run - inner * step;
    }
  }
};

// Vectors of a size unknown at compile time are not combined from halves.
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

constexpr bool transposes_lines = true;
// Packs lines with contiguous elements, four or more, as many at a time as a vector has lanes.
template <class D>
HWY_NOINLINE void pack_contiguous_lines(D d, const strided_lines& s, const packed_places& places) {
  constexpr std::size_t lanes = hn::MaxLanes(D());
  for (std::size_t j = 0; j < s.lines; j += lanes) {
    // Remainder: surplus pointers repeat the last line; their lanes are discarded.
    const float* line[lanes];
    s.line.from(j).pointers(s.data + s.element[0], std::min(lanes, s.lines - j), line);
    // Groups of four; the last one overlaps the one before.
    for (std::size_t k = 0, count = s.depth / 4 * 4;; k = s.depth - 4, count = 4) {
      auto to = places.from(k);
      std::size_t at = k;
      transpose_strip(
          d, count, [&line, &at](std::size_t i) { return line[i] + at; },
          [&at](std::size_t n) { at += n; }, [=, &to](auto v) HWY_ATTR { to.store(d, v, j); });
      if (k + count == s.depth) break;
    }
  }
}

#else

constexpr bool transposes_lines = false;
template <class D>
HWY_INLINE void pack_contiguous_lines(D, const strided_lines&, const packed_places&) {}

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

// Rows of the lhs, from their offsets on, and where they are rounded to: rows of bfloat16 pairs, or
// of blocks of int8.
struct rows_of_lhs {
  const float* data;
  const offset_list& row;
  std::size_t count;
};
struct rounded_rows {
  float* data;
  std::size_t pitch;
};

// Copies a few strided rows to lines with the elements' offsets in the rhs, which are dense.
inline void copy_rows(const rows_of_lhs& rows, const loop_nest& depth, float* to) {
  const item_range all{0, depth.points()};
  for (std::size_t i = 0; i < rows.count; ++i, to += all.end)
    for_each_run<3>(depth, depth.loops, all,
                    [&](const auto& offset, const auto& step, std::ptrdiff_t count) {
                      const float* from = rows.data + rows.row[i] + offset[of_lhs];
                      float* line = to + offset[of_rhs];
                      for (; count > 0; --count, from += step[of_lhs], line += step[of_rhs])
                        *line = *from;
                    });
}

// Rounds a block's rows by round(row, depth, to). Those that are not contiguous are copied to a
// line first, which has room for the depth.
template <class F>
void round_rows(const rows_of_lhs& rows, const loop_nest& loops, range depth, float* line,
                const rounded_rows& to, F round) {
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
    round(row, depth.count, to.data + i * to.pitch);
  }
}

// Adds n sums to totals. Highway does not promote to double on WebAssembly.
HWY_INLINE void add_to_totals(const float* sum, std::size_t n, double* total) {
  std::size_t j = 0;
#if !HWY_ARCH_WASM
  const hn::ScalableTag<double> d;
  if constexpr (hn::MaxLanes(d) > 1) {
    const std::size_t lanes = hn::Lanes(d), vectors = n - n % lanes;
    for (; j < vectors; j += lanes) {
      const auto more = hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, decltype(d)>(), sum + j));
      hn::StoreU(hn::Add(hn::LoadU(d, total + j), more), d, total + j);
    }
  }
#endif
  for (; j < n; ++j) total[j] += static_cast<double>(sum[j]);
}

class gemm_operands {
 public:
  gemm_operands(const contraction& x, const call& c)
      : x_(x),
        row_count_(static_cast<std::size_t>(x.rows.points())),
        depth_count_(static_cast<std::size_t>(x.depth.points())),
        lhs_step_(x.depth.inner_stride(of_lhs)),
        rhs_step_(x.depth.inner_stride(of_rhs)),
        packed_(x.is_packed() ? reinterpret_cast<const std::byte*>(x.rhs) : nullptr),
        columns_(x.columns, packed_ != nullptr),
        plan_(x, row_count_, columns_.count(), depth_count_),
        at_(x, plan_.capacity, plan_.at, c.scratch) {
    packed_lhs_ = reinterpret_cast<float*>(c.scratch + plan_.at.lhs);
    packed_rhs_ = reinterpret_cast<float*>(c.scratch + plan_.at.rhs);
    contiguous_rhs_ = x.columns.inner_stride(of_rhs) == 1;
  }

  // Packs the rhs for reuse, tile after tile, each over the full depth.
  void pack_for_reuse(const float* rhs, stored_type as, std::byte* packed) {
    plan_.rhs_in_place = false;
    const dot_blocks& capacity = plan_.capacity;
    for (range columns{0, 0}; columns.first < columns_.count(); columns.first = columns.end()) {
      columns.count = columns_.panel_at(columns.first, capacity.columns);
      at_.compute_columns(columns);
      for (range depth{0, 0}; depth.first < depth_count_; depth.first += capacity.depth) {
        depth.count = std::min(capacity.depth, depth_count_ - depth.first);
        at_.compute_depth(depth);
        pack_rhs(rhs, columns, depth);
        for (std::size_t first = columns.first; first < columns.end();) {
          const n_tile t = columns_.tile_at(first);
          first = t.end();
          const float* from = packed_tile(t, columns, depth);
          const std::size_t count = t.width() * depth.count;
          if (as == stored_type::float32)
            std::copy_n(from, count, in_packed<float>(packed, t, depth));
          else if (as == stored_type::bfloat16_pair)
            to_bf16_pairs(from, t.width(), depth.count, in_packed<bf16_pair>(packed, t, depth));
          else
            std::transform(from, from + count, in_packed<bf16>(packed, t, depth), to_bf16);
        }
      }
    }
  }

 protected:
  float* packed_tile(const n_tile& t, range columns, range depth) const {
    return packed_rhs_ + (t.first - columns.first) * depth.count;
  }

  // A tile in the packed operand, whose elements are of type T.
  template <class T, class Byte>
  T* in_packed(Byte* packed, const n_tile& t, range depth) const {
    using element = std::remove_const_t<T>;
    return reinterpret_cast<T*>(packed) +
           detail::number_of_block(t.first, t.width(), in_units<element>({0, depth_count_}).count,
                                   in_units<element>(depth).first, t.first);
  }

  // Packs lines (rows or columns) that have unit stride from one to the next.
  template <class D>
  HWY_INLINE void pack_lines(D d, const float* from, const offset_list& element,
                             std::ptrdiff_t element_stride, range depth, packed_tiles to) const {
    float* const packed = to.data;
    for (std::size_t k = 0, count; k < depth.count; k += count) {
      count = run_within(x_.depth, depth.first + k, depth.count - k);
      to.data = packed + k * to.width;
      pack_interleaved_lines(d, {from + element[k], element_stride, count}, to);
    }
  }

  // Packs lines of an operand with any other stride.
  template <class D>
  HWY_INLINE void pack(D d, const strided_lines& s, dot_operand o, range depth, std::size_t width,
                       float* packed) const {
    const loop_nest& all = x_.depth;
    const auto step = static_cast<std::ptrdiff_t>(width), inner_count = all.extent[all.last()];
    const bool dense = transposes_lines && s.depth >= 4 && is_dense(all, o);
    const std::ptrdiff_t* const first = all.stride[o];
    const auto in_order = [=](int n) { return std::is_sorted(first, first + n, std::greater<>()); };
    // Where a block is a small part of the depth, few of the elements that are read are stored.
    if (dense && !in_order(all.loops) && in_order(all.last()) && depth_count_ <= 4 * depth.count &&
        all.inner_stride(o) == all.points(all.last()))
      return pack_contiguous_lines(
          d, {s.data, s.line, {0, 1}, s.lines, depth_count_},
          {packed, depth.count * width, all.points(all.last()), inner_count * step, step,
           -static_cast<std::ptrdiff_t>(depth.first) * step});
    const bool contiguous = transposes_lines && all.inner_stride(o) == 1;
    for (std::size_t k = 0, count = s.depth; k < s.depth; k += count, packed += count * width) {
      if (contiguous && !(dense && in_order(all.loops)))
        count = run_within(all, depth.first + k, s.depth - k);
      const strided_lines run{s.data, s.line, s.element.from(k), s.lines, count};
      if (contiguous && count >= 4)
        pack_contiguous_lines(d, run,
                              {packed, count * width, static_cast<std::ptrdiff_t>(count), step});
      else
        pack_elements(run, width, packed);
    }
  }

  void pack_rhs(const float* rhs, range columns, range depth) const {
    const tag d;
    for (std::size_t first = columns.first; first < columns.end();) {
      const n_tile t = columns_.tile_at(first);
      first = t.end();
      if (plan_.rhs_in_place && t.is_full()) continue;
      float* const packed = packed_tile(t, columns, depth);
      const offset_list column = at_.columns().rhs.from(t.first - columns.first);
      if (!t.in_one_run || !contiguous_rhs_) {
        pack(d, {rhs, column, at_.depth().rhs, t.count, depth.count}, of_rhs, depth, t.width(),
             packed);
        continue;
      }
      std::size_t tiles = 1;  // this one and the next ones that are as wide
      const std::size_t run = columns_.run(t.first, columns.end() - t.first);
      for (; t.is_full() && (tiles + 1) * t.width() <= run; ++tiles) {
        const n_tile next = columns_.tile_at(first);
        if (next.vectors != t.vectors) break;
        first = next.end();
      }
      pack_lines(d, rhs + column[0], at_.depth().rhs, rhs_step_, depth,
                 {packed, t.width(), t.count, tiles, t.width() * depth.count, panel_advance});
    }
  }

  // Makes a packed panel floats: of blocks, or else of bfloat16.
  template <bool OfBlocks>
  void promote(range columns, range depth) const {
    const tag d;
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t first = columns.first; first < columns.end();) {
      const n_tile t = columns_.tile_at(first);
      first = t.end();
      float* to = packed_tile(t, columns, depth);
      if constexpr (OfBlocks) {
        promote_blocks(d, x_.packed, blocks_of(t, depth), t.width(), depth.count, to);
      } else {
        const bf16* from = in_packed<const bf16>(packed_, t, depth);
        const std::size_t count = t.width() * depth.count;
        for (std::size_t i = 0; i < count; i += lanes)
          hn::StoreU(promoted<bf16>(load(d, from + i)), d, to + i);
      }
    }
  }

  // A tile's blocks in the packed operand.
  const std::uint8_t* blocks_of(const n_tile& t, range depth) const {
    const detail::stored_info& f = detail::entry_of(x_.packed);
    const std::size_t blocks = (depth_count_ + f.block - 1) / f.block;
    return reinterpret_cast<const std::uint8_t*>(packed_) +
           detail::number_of_block(t.first, t.width(), blocks, depth.first / f.block, t.first) *
               f.bits / 8;
  }

  void pack_lhs(const float* lhs, range rows, range depth) const {
    const hn::CappedTag<float, tile_rows> d;
    for (std::size_t first = 0, count; first < rows.count; first += count) {
      count = std::min(tile_rows, rows.count - first);
      const std::size_t run = run_within(x_.rows, rows.first + first, rows.count - first);
      float* const packed = packed_lhs_ + first * depth.count;
      if (x_.rows.inner_stride(of_lhs) != 1 || run < count) {
        pack(d, {lhs, at_.rows().lhs.from(first), at_.depth().lhs, count, depth.count}, of_lhs,
             depth, tile_rows, packed);
        continue;
      }
      const std::size_t micro_panels = std::max<std::size_t>(run / tile_rows, 1);
      pack_lines(d, lhs + at_.rows().lhs[first], at_.depth().lhs, lhs_step_, depth,
                 {packed, tile_rows, count, micro_panels, tile_rows * depth.count, block_advance});
      count = std::max(count, micro_panels * tile_rows);
    }
  }

  const contraction& x_;
  std::size_t row_count_, depth_count_;
  std::ptrdiff_t lhs_step_, rhs_step_;  // along the innermost loop of the depth
  const std::byte* packed_;             // the rhs, as pack_for_reuse leaves it; or null
  n_tiles columns_;
  gemm_plan plan_;
  block_offsets at_;
  bool contiguous_rhs_;              // unit stride along the columns' inner loop
  float *packed_lhs_, *packed_rhs_;  // in the scratch
};

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
