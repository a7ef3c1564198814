// The contraction kernel: splits the result into cache blocks, panels and tiles, as BLIS does.
#include "kernels/dot.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "kernels/dot_loops.hpp"
#include "kernels/dot_offsets.hpp"
#include "weft/kernels/dot_blocking.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dot.cpp"
#include "hwy/foreach_target.h"  // must come before hwy-inl.h
#include "kernels/dot_columns-inl.h"
#include "kernels/dot_edge-inl.h"
#include "kernels/dot_end-inl.h"
#include "kernels/dot_lines-inl.h"
#include "kernels/dot_method-inl.h"
#include "kernels/dot_pack-inl.h"
#include "kernels/dot_share-inl.h"
#include "kernels/dot_tile-inl.h"
#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {
namespace {

// Prefetch distance in bytes for weights that are read once. Half of a page of 4 KiB and more
// measured slower.
constexpr std::size_t stream_ahead = 1024;

// Prefetch distance, in steps of the depth, for a left operand with unit stride along its rows:
// where its depth stride is a power of two, all these lines map to a few sets of the cache.
constexpr std::ptrdiff_t lines_ahead = 8;

// The depth that is packed at a time of all tiles of a panel, or of all strips of a block, if their
// lines are contiguous: a row of a panel is then read from end to end, and one of several strips,
// which are narrower than a cache line, while it is in the cache.
constexpr std::size_t panel_advance = 8;
constexpr std::size_t block_advance = 16;

// The operands at one index of the batch loops.
struct operands {
  const float *left, *right;
  float* result;
  const float* addend[2];
};

// Computes a contraction for each index of its batch loops, or one partition of it.
class product {
 public:
  product(const contraction& x, const call& c)
      : x_(x),
        row_count_(static_cast<std::size_t>(x.rows.size())),
        depth_count_(static_cast<std::size_t>(x.depth.size())),
        left_step_(x.depth.inner().stride.left),
        right_step_(x.depth.inner().stride.right),
        packed_(c.packed),
        packed_as_(c.packed_as),
        batch_{0, static_cast<std::size_t>(x.batch.size())},
        rows_{0, row_count_},
        columns_(x.columns, packed_ != nullptr),
        method_(x, c, row_count_, columns_.count(), depth_count_),
        at_(x, method_.room, c.scratch) {
    const dot_scratch at(method_.room.rows, method_.room.columns, method_.room.depth);
    packed_left_ = reinterpret_cast<float*>(c.scratch + at.left);
    packed_right_ = reinterpret_cast<float*>(c.scratch + at.right);
    offset_list(0, max_tile_columns)
        .places(reinterpret_cast<float*>(c.scratch + at.tile), tile_rows, tile_row_);
    addend_tiles_ = reinterpret_cast<float*>(c.scratch + at.addends);
    adjacent_right_ = x.columns.inner().stride.right == 1;
    adjacent_result_ = x.columns.inner().stride.result == 1;
    addends_ = x.addends();
    scale_ = static_cast<float>(c.scale);
    ends_ = scale_ != 1 || addends_ > 0;
    activate_ = tile_activation_of(c.epilogue);
    if (c.part.count > 1) {
      const bool packs_right = packed_ == nullptr && !method_.right_in_place;
      take(c.part, {!method_.left_in_place, packs_right, method_.by_lines()}, batch_, rows_,
           columns_);
    }
  }

  // The batch indices of this partition.
  const range& batch() const { return batch_; }

  // Inlined into the loop over the batch: a call would slow down small products.
  HWY_INLINE void run(const operands& o) {
    if (method_.by_lines()) at_.find_rows({0, row_count_});
    if (method_.along_depth && !method_.left_in_place) copy_left(o.left);
    for (range rows{rows_.first, 0}; rows.first < rows_.end(); rows.first = rows.end()) {
      rows.count = std::min(method_.pass_rows, rows_.end() - rows.first);
      pass(o, rows);
    }
  }

  // Packs the right operand for reuse, tile after tile, each over the full depth.
  void pack_all(const float* right, std::byte* packed) {
    method_.right_in_place = false;
    const dot_blocks& room = method_.room;
    for (range columns{0, 0}; columns.first < columns_.count(); columns.first = columns.end()) {
      columns.count = columns_.panel_at(columns.first, room.columns);
      at_.find_columns(columns);
      for (range depth{0, 0}; depth.first < depth_count_; depth.first += room.depth) {
        depth.count = std::min(room.depth, depth_count_ - depth.first);
        at_.find_depth(depth);
        pack_right(right, columns, depth);
        for (std::size_t first = columns.first; first < columns.end();) {
          const column_tile t = columns_.tile_at(first);
          first = t.end();
          const float* from = packed_tile(t, columns, depth);
          const std::size_t count = t.width() * depth.count;
          if (packed_as_ == precision::float32)
            std::copy_n(from, count,
                        reinterpret_cast<float*>(packed) + place_in_packed<float>(t, depth));
          else if (method_.pairs)
            pair_halves(
                from, t.width(), depth.count,
                reinterpret_cast<half_pair*>(packed) + place_in_packed<half_pair>(t, depth));
          else
            std::transform(from, from + count,
                           reinterpret_cast<half*>(packed) + place_in_packed<half>(t, depth),
                           nearest_half);
        }
      }
    }
  }

 private:
  // Computes all columns of these rows.
  HWY_INLINE void pass(const operands& o, range all) {
    range columns{columns_.part().first, 0};
    for (; columns.first < columns_.part().end(); columns.first = columns.end()) {
      columns.count = columns_.panel_at(columns.first, method_.block.columns);
      at_.find_columns(columns);
      if (method_.by_lines()) {
        method_.along_depth ? multiply_along_depth(o, columns) : multiply_along_columns(o, columns);
        continue;
      }
      for (range depth{0, 0}; depth.first < depth_count_; depth.first += method_.block.depth) {
        depth.count = std::min(method_.block.depth, depth_count_ - depth.first);
        if (packed_ == nullptr || !method_.left_in_place) at_.find_depth(depth);
        if (packed_ == nullptr) {
          // If tiles end with the columns' inner loop, all are full, and none needs packing.
          if (!method_.right_in_place || !columns_.tiles_end_with_loops())
            pack_right(o.right, columns, depth);
        } else if (method_.widens) {
          widen(columns, depth);
        }
        for (range rows{all.first, 0}; rows.first < all.end(); rows.first += method_.block.rows) {
          rows.count = std::min(method_.block.rows, all.end() - rows.first);
          at_.find_rows(rows);
          if (!method_.left_in_place) pack_left(o.left, rows, depth);
          if (packed_ == nullptr || packed_as_ == precision::float32 || method_.widens) {
            multiply<float>(o, columns, depth, rows);
          } else if (!method_.pairs) {
            multiply<half>(o, columns, depth, rows);
#if HWY_NATIVE_DOT_BF16
          } else {
            round_left(o.left, rows, depth);
            multiply<half_pair>(o, columns, depth, rows);
#endif
          }
        }
      }
    }
  }

  float* packed_tile(const column_tile& t, range columns, range depth) const {
    return packed_right_ + (t.first - columns.first) * depth.count;
  }

  // A range of the depth in units of T: a bfloat16 pair is two of the depth.
  template <class T>
  static range in_steps(range depth) {
    constexpr std::size_t step = std::is_same_v<T, half_pair> ? 2 : 1;
    return {depth.first / step, (depth.count + step - 1) / step};
  }

  // The offset of a tile in the packed operand, in elements of type T.
  template <class T>
  std::size_t place_in_packed(const column_tile& t, range depth) const {
    return t.first * in_steps<T>({0, depth_count_}).count + in_steps<T>(depth).first * t.width();
  }

  // Packs lines (rows or columns) that have unit stride from one to the next.
  template <class D>
  HWY_INLINE void pack_lines(D d, const float* from, const offset_list& element,
                             std::ptrdiff_t element_stride, range depth, packed_tiles to) const {
    float* const packed = to.data;
    for (std::size_t k = 0, count; k < depth.count; k += count) {
      count = x_.depth.run(depth.first + k, depth.count - k);
      to.data = packed + k * to.width;
      pack_adjacent_lines(d, {from + element[k], element_stride, count}, to);
    }
  }

  // Packs lines with any other stride.
  template <class D>
  HWY_INLINE void pack(D d, const strip& s, std::ptrdiff_t element_stride, range depth,
                       std::size_t width, float* packed) const {
    if (element_stride != 1) return pack_elements(s, width, packed);
    for (std::size_t k = 0, count; k < depth.count; k += count) {
      count = x_.depth.run(depth.first + k, depth.count - k);
      pack_adjacent_elements(d, {s.data, s.line, s.element.from(k), s.lines, count}, width,
                             packed + k * width);
    }
  }

  void pack_right(const float* right, range columns, range depth) const {
    const tag d;
    for (std::size_t first = columns.first; first < columns.end();) {
      const column_tile t = columns_.tile_at(first);
      first = t.end();
      if (method_.right_in_place && t.whole()) continue;
      float* const packed = packed_tile(t, columns, depth);
      const offset_list column = at_.columns().right.from(t.first - columns.first);
      if (!t.one_run || !adjacent_right_) {
        pack(d, {right, column, at_.depth().right, t.count, depth.count}, right_step_, depth,
             t.width(), packed);
        continue;
      }
      std::size_t tiles = 1;  // this one and the next ones that are as wide
      const std::size_t run = columns_.run(t.first, columns.end() - t.first);
      for (; t.whole() && (tiles + 1) * t.width() <= run; ++tiles) {
        const column_tile next = columns_.tile_at(first);
        if (next.vectors != t.vectors) break;
        first = next.end();
      }
      pack_lines(d, right + column[0], at_.depth().right, right_step_, depth,
                 {packed, t.width(), t.count, tiles, t.width() * depth.count, panel_advance});
    }
  }

  void widen(range columns, range depth) const {
    const tag d;
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t first = columns.first; first < columns.end();) {
      const column_tile t = columns_.tile_at(first);
      first = t.end();
      const half* from = reinterpret_cast<const half*>(packed_) + place_in_packed<half>(t, depth);
      float* to = packed_tile(t, columns, depth);
      const std::size_t count = t.width() * depth.count;
      for (std::size_t i = 0; i < count; i += lanes)
        hn::StoreU(widened<half>(load(d, from + i)), d, to + i);
    }
  }

  void pack_left(const float* left, range rows, range depth) const {
    const hn::CappedTag<float, tile_rows> d;
    for (std::size_t first = 0, count; first < rows.count; first += count) {
      count = std::min(tile_rows, rows.count - first);
      const std::size_t run = x_.rows.run(rows.first + first, rows.count - first);
      float* const packed = packed_left_ + first * depth.count;
      if (x_.rows.inner().stride.left != 1 || run < count) {
        pack(d, {left, at_.rows().left.from(first), at_.depth().left, count, depth.count},
             left_step_, depth, tile_rows, packed);
        continue;
      }
      const std::size_t strips = std::max<std::size_t>(run / tile_rows, 1);
      pack_lines(d, left + at_.rows().left[first], at_.depth().left, left_step_, depth,
                 {packed, tile_rows, count, strips, tile_rows * depth.count, block_advance});
      count = std::max(count, strips * tile_rows);
    }
  }

#if HWY_NATIVE_DOT_BF16
  // Rounds the left operand to pairs of bfloat16 in the packed block: row by row if it could be
  // read in place, else the strips that were packed as floats.
  void round_left(const float* left, range rows, range depth) const {
    const std::size_t steps = in_steps<half_pair>(depth).count;
    if (method_.left_in_place) {
      for (std::size_t i = 0; i < rows.count; ++i)
        round_line(left + at_.rows().left[i] + depth.first, depth.count, packed_left_ + i * steps);
    } else {
      const hn::CappedTag<float, tile_rows> d;
      for (std::size_t i = 0; i < rows.count; i += tile_rows)
        round_strip(d, packed_left_ + i * depth.count, depth.count, packed_left_ + i * steps);
    }
  }
#endif

  // The left operand of a tile: `count` rows of the block from `row` on. Surplus rows of the tile
  // repeat the last one.
  template <class T>
  left_strip left_of(const operands& o, range depth, std::size_t row, std::size_t count) const {
    const std::size_t steps = in_steps<T>(depth).count;
    const float* const packed = packed_left_ + row * steps;
    left_strip a;
    a.step = method_.left_in_place ? left_step_ : static_cast<std::ptrdiff_t>(tile_rows);
    if (!method_.left_in_place)
      offset_list(0, 1).places(packed, count, a.row);
    else if (std::is_same_v<T, half_pair>)
      offset_list(0, static_cast<std::ptrdiff_t>(steps)).places(packed, count, a.row);
    else
      at_.rows().left.from(row).places(
          o.left + static_cast<std::ptrdiff_t>(depth.first) * left_step_, count, a.row);
    return a;
  }

  // Copies a few strided rows to contiguous lines.
  void copy_left(const float* left) const {
    float* to = packed_left_;
    for (std::size_t i = 0; i < row_count_; ++i, to += depth_count_) {
      const float* from = left + at_.rows().left[i];
      for (std::size_t k = 0; k < depth_count_; ++k, from += left_step_) to[k] = *from;
    }
  }

  void multiply_along_depth(const operands& o, range columns) const {
    const float* left[few_rows];
    if (method_.left_in_place)
      at_.rows().left.places(o.left, row_count_, left);
    else
      offset_list(0, static_cast<std::ptrdiff_t>(depth_count_))
          .places<const float>(packed_left_, row_count_, left);
    for (std::size_t first = columns.first; first < columns.end();) {
      const column_tile t = columns_.tile_at(first);
      first = t.end();
      for (std::size_t j = 0; j < t.count; j += dot_columns) {
        const float* column[dot_columns];
        const std::size_t count = std::min(t.count - j, dot_columns);
        at_.columns().right.from(t.first - columns.first + j).places(o.right, count, column);
        // A tile has room for full vectors, and so for surplus columns.
        for (std::size_t row = 0; row < row_count_;)
          row += dot_products(left + row, row_count_ - row, column, count, depth_count_,
                              tile_row_[row] + j);
      }
      end_rows(o, t, columns);
      spread_tile(o, t, columns, 0, row_count_);
    }
  }

  void multiply_along_columns(const operands& o, range columns) const {
    float* result[few_rows];
    at_.rows().result.places(o.result + at_.columns().result[0], row_count_, result);
    const float* left[few_rows];
    at_.rows().left.places(o.left, row_count_, left);
    for (std::size_t row = 0; row < row_count_;)
      row += add_lines({left + row, left_step_, o.right + at_.columns().right[0], right_step_,
                        depth_count_, columns.count, result + row},
                       row_count_ - row);
    if (!ends_ && activate_ == nullptr) return;
    for (std::size_t first = columns.first; first < columns.end();) {
      const column_tile t = columns_.tile_at(first);
      first = t.end();
      // The epilogue may write full vectors, for which the tile has room but not the result.
      for (std::size_t i = 0; i < row_count_; ++i)
        std::copy_n(result[i] + (t.first - columns.first), t.count, tile_row_[i]);
      end_rows(o, t, columns);
      spread_tile(o, t, columns, 0, row_count_);
    }
  }

  template <class T>
  right_strip<T> strip_of(const column_tile& t, range columns, range depth,
                          const operands& o) const {
    const auto width = static_cast<std::ptrdiff_t>(t.width());
    if (packed_ != nullptr && !method_.widens)
      return {reinterpret_cast<const T*>(packed_) + place_in_packed<T>(t, depth), width};
    if constexpr (std::is_same_v<T, float>) {
      if (!method_.right_in_place || !t.whole()) return {packed_tile(t, columns, depth), width};
      return {o.right + at_.columns().right[t.first - columns.first] +
                  static_cast<std::ptrdiff_t>(depth.first) * right_step_,
              right_step_};
    }
    return {};
  }

  // The prefetch target in packed weights, in the tile's columns of the next panel: each strip of
  // rows prefetches another slice, of `bytes` bytes of each vector. A burst of prefetches would
  // delay the loads of the tile itself.
  template <class T>
  fetched part_of_next(const right_strip<T>& right, const column_tile& t, range columns,
                       range depth, std::size_t strip, std::size_t bytes) const {
    if (row_count_ <= few_rows)
      return {reinterpret_cast<const std::byte*>(right.data) + stream_ahead,
              static_cast<std::ptrdiff_t>(t.width() * sizeof(T))};
    const range all = in_steps<T>({0, depth_count_}), part = in_steps<T>(depth);
    const std::size_t to_next = part.end() < all.count
                                    ? part.count * t.width()
                                    : columns.count * all.count - part.first * t.width();
    const std::size_t step = t.vectors * bytes;
    return {reinterpret_cast<const std::byte*>(right.data + to_next) + strip * step * part.count,
            static_cast<std::ptrdiff_t>(step)};
  }

  // How many rows of the next strip each tile of a panel prefetches, so that together they prefetch
  // all: rows that follow each other in memory form a single line.
  std::size_t rows_each(range columns, range depth) const {
    if (x_.rows.inner().stride.left != static_cast<std::ptrdiff_t>(depth.count)) return 1;
    const std::size_t width = tile_vectors * hn::Lanes(tag());
    const std::size_t tiles = (columns.count + width - 1) / width;
    return std::max<std::size_t>(tile_rows >> (std::bit_width(tiles) - 1), 1);
  }

  template <class T>
  void multiply(const operands& o, range columns, range depth, range rows) const {
    for (range near{columns.first, 0}; near.first < columns.end(); near.first = near.end()) {
      near.count =
          std::min(columns_.panel_at(near.first, method_.near_columns), columns.end() - near.first);
      multiply_near<T>(o, columns, near, depth, rows);
    }
  }

  template <class T>
  void multiply_near(const operands& o, range columns, range near, range depth, range rows) const {
    const auto skipped = static_cast<std::ptrdiff_t>(depth.first);
    const bool add = depth.first != 0;
    const bool last = depth.end() == depth_count_;
    const std::size_t steps = in_steps<T>(depth).count;
    std::size_t bytes = 0;  // not for all: the division slows down small products
    if (packed_ != nullptr) {
      const std::size_t strips = (rows.count + tile_rows - 1) / tile_rows;
      bytes = (hn::Lanes(tag()) * sizeof(T) + strips - 1) / strips;
    }
    const std::size_t next_rows = rows_each(near, depth);
    for (std::size_t row = 0; row < rows.count; row += tile_rows) {
      const std::size_t count = std::min(tile_rows, rows.count - row);
      const left_strip a = left_of<T>(o, depth, row, count);
      float* result[tile_rows];
      at_.rows().result.from(row).places(o.result, count, result);
      std::size_t next = row + tile_rows;  // the first row that the tile prefetches
      for (std::size_t first = near.first; first < near.end(); next += next_rows) {
        const column_tile t = columns_.tile_at(first);
        first = t.end();
        const right_strip<T> b = strip_of<T>(t, columns, depth, o);
        fetched later{reinterpret_cast<const std::byte*>(a.row[0]), 0};
        if (packed_ != nullptr && !method_.widens)
          later = part_of_next(b, t, columns, depth, row / tile_rows, bytes);
        else if (method_.left_in_place && left_step_ != 1)
          later = {reinterpret_cast<const std::byte*>(a.row[0] + lines_ahead * left_step_),
                   left_step_ * static_cast<std::ptrdiff_t>(sizeof(float))};
        else if (method_.left_in_place && next < std::min(row + 2 * tile_rows, rows.count))
          later = {reinterpret_cast<const std::byte*>(o.left + at_.rows().left[next] +
                                                      skipped * left_step_),
                   static_cast<std::ptrdiff_t>(next_rows * sizeof(float))};
        const bool whole = t.whole() && adjacent_result_;
        tile_result c{tile_row_, 0, add, nullptr};
        if (whole) {
          c.row = result;
          c.column = at_.columns().result[t.first - columns.first];
        }
        if (!whole && add) collect_tile(o, t, columns, row, count);
        tile_end end;
        if (last && ends_) {
          find_end(o, t, columns, row, count, end);
          c.end = &end;
        }
        tile_of<T>(count, t.vectors, a.step)(a, b, steps, later, c);
        // Not in the microkernel, whose accumulators occupy the registers that this needs.
        if (last && activate_ != nullptr) activate_({c.row, c.column, count, t.count});
        if (!whole) spread_tile(o, t, columns, row, count);
      }
    }
  }

  void find_end(const operands& o, const column_tile& t, range columns, std::size_t row,
                std::size_t rows, tile_end& e) const {
    const place_in_operands& stride = x_.columns.inner().stride;
    e.scale = scale_;
    e.addends = addends_;
    if (addends_ > 0) rows_of_addend(o, 0, stride.a, t, columns, row, rows, e.addend[0]);
    if (addends_ > 1) rows_of_addend(o, 1, stride.b, t, columns, row, rows, e.addend[1]);
  }

  // Applies the epilogue to a tile in the scratch that has all of few rows.
  void end_rows(const operands& o, const column_tile& t, range columns) const {
    const tile_sums sums{tile_row_, 0, row_count_, t.count};
    if (ends_) {
      tile_end e;
      find_end(o, t, columns, 0, row_count_, e);
      end_tile(sums, e);
    }
    if (activate_ != nullptr) activate_(sums);
  }

  // Finds the tile's rows of an addend, copied to the scratch unless they are full vectors or
  // broadcast. Surplus rows of the tile repeat the last one.
  void rows_of_addend(const operands& o, std::size_t which, std::ptrdiff_t stride,
                      const column_tile& t, range columns, std::size_t row, std::size_t rows,
                      addend_rows& a) const {
    const offset_list &in_row = at_.rows().addend[which], &in_column = at_.columns().addend[which];
    const std::size_t first = t.first - columns.first;
    const bool adjacent = t.one_run && stride == 1;
    a.broadcast = t.one_run && stride == 0;
    if (a.broadcast || (t.whole() && adjacent)) {
      in_row.from(row).places(o.addend[which] + in_column[first], rows, a.row);
      return;
    }
    float* copies[max_tile_rows];
    offset_list(0, max_tile_columns)
        .places(addend_tiles_ + which * max_tile_rows * max_tile_columns, rows, copies);
    collect({o.addend[which], in_row, in_column, row, first, rows, t.count, adjacent}, copies);
    std::copy_n(copies, max_tile_rows, a.row);
  }

  // The tile's elements in the result.
  template <class T>
  HWY_INLINE tile_elements<T> in_result(T* result, const column_tile& t, range columns,
                                        std::size_t row, std::size_t rows) const {
    const std::size_t first = t.first - columns.first;
    const bool adjacent = t.one_run && adjacent_result_;
    return {result, at_.rows().result, at_.columns().result, row, first, rows, t.count, adjacent};
  }

  // Copy an edge tile between the result and the scratch. Not inlined: the loop over the tiles
  // needs the registers.
  HWY_NOINLINE void collect_tile(const operands& o, const column_tile& t, range columns,
                                 std::size_t row, std::size_t rows) const {
    collect(in_result<const float>(o.result, t, columns, row, rows), tile_row_);
  }
  HWY_NOINLINE void spread_tile(const operands& o, const column_tile& t, range columns,
                                std::size_t row, std::size_t rows) const {
    spread(tile_row_, in_result(o.result, t, columns, row, rows));
  }

  const contraction& x_;
  std::size_t row_count_, depth_count_;
  std::ptrdiff_t left_step_, right_step_;  // along the innermost loop of the depth
  const std::byte* packed_;                // the right operand, as pack_all leaves it; or null
  precision packed_as_;
  // The ranges of this partition.
  range batch_, rows_;
  tiled_columns columns_;
  dot_method method_;
  block_offsets at_;
  bool adjacent_right_, adjacent_result_;  // unit stride along the columns' inner loop
  bool ends_;                              // whether sums are scaled, or anything is added to them
  int addends_;
  float scale_;
  tile_activation activate_;  // null where there is none
  // In the scratch.
  float *packed_left_, *packed_right_, *addend_tiles_;
  float* tile_row_[tile_rows];
};

// A contraction of depth 0: the epilogue of zeros. Left and right may have no memory.
void end_zeros(const contraction& x, op epilogue) {
  const tile_activation activate = tile_activation_of(epilogue);
  for (std::ptrdiff_t i = 0; i < x.batch.size(); ++i) {
    for (std::ptrdiff_t j = 0; j < x.rows.size(); ++j) {
      for (std::ptrdiff_t k = 0; k < x.columns.size(); ++k) {
        const place_in_operands at[]{x.batch.at(i), x.rows.at(j), x.columns.at(k)};
        float sum[max_dot_lanes]{};
        float* const row[]{sum};
        if (x.a != nullptr) sum[0] += x.a[at[0].a + at[1].a + at[2].a];
        if (x.b != nullptr) sum[0] += x.b[at[0].b + at[1].b + at[2].b];
        if (activate != nullptr) activate({row, 0, 1, 1});
        x.result[at[0].result + at[1].result + at[2].result] = sum[0];
      }
    }
  }
}

void dot(const call& c) noexcept {
  for (int i = 0; i < c.loops; ++i) {
    if (c.extent[i] == 0 && c.operands[0].stride[i] != 0) return;
  }
  const contraction x(c);
  if (x.depth.size() == 0) {
    if (c.part.index == 0) end_zeros(x, c.epilogue);
    return;
  }
  product each(x, c);
  const auto addend = [](const float* data, std::ptrdiff_t at) {
    return data == nullptr ? nullptr : data + at;
  };
  for (std::size_t i = each.batch().first; i < each.batch().end(); ++i) {
    const place_in_operands at = x.batch.at(static_cast<std::ptrdiff_t>(i));
    each.run({x.left + at.left,
              x.right + at.right,
              x.result + at.result,
              {addend(x.a, at.a), addend(x.b, at.b)}});
  }
}

void pack_dot(const call& c, std::byte* packed) noexcept {
  const contraction x(c);
  product(x, c).pack_all(x.right, packed);
}

}  // namespace

// Highway's dispatch tables do not take noexcept functions, but functions that return them.
void (*DotOfTarget())(const call&) noexcept {
  return &dot;
}
void (*PackDotOfTarget())(const call&, std::byte*) noexcept {
  return &pack_dot;
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::kernels {

HWY_EXPORT(DotOfTarget);
HWY_EXPORT(PackDotOfTarget);

void (*dot_kernel() noexcept)(const call&) noexcept {
  return HWY_DYNAMIC_DISPATCH(DotOfTarget)();
}
void (*pack_dot_kernel() noexcept)(const call&, std::byte*) noexcept {
  return HWY_DYNAMIC_DISPATCH(PackDotOfTarget)();
}

}  // namespace weft::kernels
#endif
