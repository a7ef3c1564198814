// gather, scatter_add, write and zero: what all SIMD targets share.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/loop_nest.hpp"
#include "weft/kernels/call.hpp"
#include "weft/kernels/scatter_scratch.hpp"

namespace weft::kernels {

inline constexpr std::ptrdiff_t copy_chunk = 4096;  // a chunk, in elements of the innermost loop

inline void zero(const call& c) noexcept {
  const loop_nest n = coalesce(c, 1);
  if (n.empty()) return;
  const std::ptrdiff_t size = bytes(c.operands[0].type);
  const std::ptrdiff_t stride = n.inner_stride(0);
  auto* to = static_cast<std::byte*>(c.operands[0].data);
  for_each_chunk(n, c.part, copy_chunk,
                 [=](const std::ptrdiff_t* at, std::ptrdiff_t begin, std::ptrdiff_t end) {
                   std::byte* row = to + at[0] * size;
                   if (stride == 1) {
                     std::memset(row + begin * size, 0,
                                 static_cast<std::size_t>((end - begin) * size));
                     return;
                   }
                   for (std::ptrdiff_t i = begin; i < end; ++i)
                     std::memset(row + i * stride * size, 0, static_cast<std::size_t>(size));
                 });
}

// A table whose rows are chosen by indices.
struct indexed_table {
  std::size_t rows;       // as unsigned, negative indices are beyond it too
  std::ptrdiff_t stride;  // from row to row, in bytes
};

// Gathers n elements of type T, each from the row given by its index, or 0 if there is no such row.
// Steps are strides in elements. `same_column`: all are from the same column of the table, and
// results and indices are contiguous. `contiguous`: that column is contiguous too, which saves the
// multiplication, the highest latency here.
template <class T, bool same_column, bool contiguous>
void gather_elements(std::ptrdiff_t n, const indexed_table& table, const std::ptrdiff_t* step,
                     std::byte* to, const std::byte* from, const std::int32_t* index) {
  constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(T));
  const std::ptrdiff_t to_step = same_column ? size : step[0] * size,
                       from_step = same_column ? 0 : step[1] * size,
                       index_step = same_column ? 1 : step[2],
                       row = contiguous ? size : table.stride;
  for_each_element(n, [=, rows = table.rows](std::ptrdiff_t i) {
    T gathered{};
    const std::ptrdiff_t at = index[i * index_step];
    if (HWY_LIKELY(static_cast<std::size_t>(at) < rows))
      std::memcpy(&gathered, from + i * from_step + at * row, sizeof(T));
    std::memcpy(to + i * to_step, &gathered, sizeof(T));
  });
}
template <class T>
auto gather_elements_of(const indexed_table& table, const std::ptrdiff_t* step) {
  if (step[0] != 1 || step[1] != 0 || step[2] != 1) return &gather_elements<T, false, false>;
  return table.stride == sizeof(T) ? &gather_elements<T, true, true>
                                   : &gather_elements<T, true, false>;
}

// Elements of any type are copied as bytes.
inline void gather(const call& c) noexcept {
  const loop_nest n = coalesce(c, 3);
  if (n.empty()) return;
  const std::ptrdiff_t size = bytes(c.operands[0].type);
  auto* result = static_cast<std::byte*>(c.operands[0].data);
  const auto* source = static_cast<const std::byte*>(c.operands[1].data);
  const auto* indices = static_cast<const std::int32_t*>(c.operands[2].data);
  const indexed_table table{static_cast<std::size_t>(c.axis_extent), c.axis_stride * size};
  const int last = n.last();
  const std::ptrdiff_t step[]{n.stride[0][last], n.stride[1][last], n.stride[2][last]};
  const bool whole_rows = step[0] == 1 && step[1] == 1 && step[2] == 0;
  const auto gather_some = size == 1   ? gather_elements_of<std::uint8_t>(table, step)
                           : size == 2 ? gather_elements_of<std::uint16_t>(table, step)
                                       : gather_elements_of<std::uint32_t>(table, step);
  for_each_block(n, c.part, copy_chunk,
                 [=](const std::ptrdiff_t* at, const std::ptrdiff_t* next, std::ptrdiff_t rows,
                     std::ptrdiff_t begin, std::ptrdiff_t end) {
                   const auto length = static_cast<std::size_t>((end - begin) * size);
                   auto* to = result + (at[0] + begin * step[0]) * size;
                   const auto* from = source + (at[1] + begin * step[1]) * size;
                   const auto* index = indices + at[2] + begin * step[2];
                   for (std::ptrdiff_t r = 0; r < rows; ++r) {
                     if (!whole_rows)
                       gather_some(end - begin, table, step, to, from, index);
                     else if (HWY_LIKELY(static_cast<std::size_t>(*index) < table.rows))
                       std::memcpy(to, from + *index * table.stride, length);
                     else
                       std::memset(to, 0, length);
                     to += next[0] * size;
                     from += next[1] * size;
                     index += next[2];
                   }
                 });
}

// Copies elements of `size` bytes.
inline void copy_elements(const loop_nest& n, std::ptrdiff_t size, const partition& part,
                          std::byte* to, const std::byte* from) {
  if (n.empty()) return;
  const std::ptrdiff_t to_step = n.inner_stride(0), from_step = n.inner_stride(1);
  for_each_chunk(
      n, part, copy_chunk, [&](const std::ptrdiff_t* at, std::ptrdiff_t begin, std::ptrdiff_t end) {
        const auto move = [&](std::ptrdiff_t i, std::ptrdiff_t count) {
          std::memcpy(to + (at[0] + i * to_step) * size, from + (at[1] + i * from_step) * size,
                      static_cast<std::size_t>(count * size));
        };
        if (to_step == 1 && from_step == 1) return move(begin, end - begin);
        for (std::ptrdiff_t i = begin; i < end; ++i) move(i, 1);
      });
}

inline void write(const call& c) noexcept {
  const operand &at = c.operands[2], &count = c.operands[3];
  const bool has_count = count.data != nullptr;
  const auto ring = static_cast<std::ptrdiff_t>(c.scalar);
  const int row = std::countr_zero(c.over);
  // The outer loops change the position or the number of the rows; the inner ones are a copy.
  unsigned outer_loops = 0;
  for (int l = 0; l < c.loops; ++l)
    if (at.stride[l] != 0 || (has_count && count.stride[l] != 0)) outer_loops |= 1u << l;
  const loop_nest n = coalesce(c, 4, outer_loops);
  if (n.empty()) return;
  const std::ptrdiff_t size = bytes(c.operands[0].type);
  for_each(n, n.loops, [&](const std::ptrdiff_t* offset) {
    const std::ptrdiff_t start = static_cast<const std::int32_t*>(at.data)[offset[2]];
    std::ptrdiff_t rows = c.extent[row];
    if (has_count)
      rows =
          std::min(rows, std::ptrdiff_t{static_cast<const std::int32_t*>(count.data)[offset[3]]});
    const auto put = [&](std::ptrdiff_t begin, std::ptrdiff_t first) {
      const std::ptrdiff_t end = std::min(rows, c.axis_extent - first);
      begin = std::max(begin, -first);
      if (begin >= end) return;
      std::ptrdiff_t extent[max_loops];
      std::copy_n(c.extent, c.loops, extent);
      extent[row] = end - begin;
      const std::ptrdiff_t to = offset[0] + (first + begin) * c.axis_stride;
      const std::ptrdiff_t from = offset[1] + begin * c.operands[1].stride[row];
      copy_elements(coalesce(c, 2, ~outer_loops, 0, extent), size, c.part,
                    static_cast<std::byte*>(c.operands[0].data) + to * size,
                    static_cast<const std::byte*>(c.operands[1].data) + from * size);
    };
    put(0, start);
    if (ring > 0) put(std::max<std::ptrdiff_t>(0, c.axis_extent - start), start - ring);
  });
}

// Whether each index chooses a contiguous row, in the innermost loop.
inline bool adds_whole_rows(const call& c) {
  const loop_nest n = coalesce(c, 3, ~0u, call_order);
  return n.inner_stride(0) == 1 && n.inner_stride(1) == 1 && n.inner_stride(2) == 0;
}

// The loops of a call: `places` move the result, `points` are added up at each place, in the call's
// order. The elements of a whole row are in none of them.
struct scatter_loops {
  loop_nest places{}, points{};
  std::ptrdiff_t row = 1;  // the elements of a whole row

  scatter_loops(const call& c, bool whole_rows) {
    const loop_nest n = coalesce(c, 3, ~0u, call_order);
    const basic_loop<max_operands> inner = n.at(n.last());
    // A part may have rows of one element, whose loop is not there.
    whole_rows = whole_rows && adds_whole_rows(c);
    if (whole_rows) row = inner.extent;
    for (int l = 0; l < n.loops - whole_rows; ++l)
      (n.stride[0][l] != 0 ? places : points).push(n.at(l));
    if (places.loops == 0) places.push({});
    if (points.loops == 0) points.push({});
  }
};

// The rows of a table that have got many additions in one place: their sums so far.
class scatter_totals {
 public:
  scatter_totals(const call& c, std::ptrdiff_t row)
      : row_(row),
        counts_(reinterpret_cast<std::int32_t*>(c.scratch)),
        slots_(counts_ + c.axis_extent),
        totals_(reinterpret_cast<double*>(c.scratch + scatter_index_bytes(c))) {}

  void begin(std::ptrdiff_t rows) {
    std::fill_n(counts_, rows, 0);
    std::fill_n(slots_, rows, -1);
    used_ = 0;
  }
  // The additions to row `at` since its last total.
  std::int32_t& count(std::ptrdiff_t at) { return counts_[at]; }
  // Adds what row `at` has got since then, which is then 0, to its total.
  void add(std::ptrdiff_t at, float* row) {
    if (slots_[at] < 0) {
      slots_[at] = used_++;
      std::fill_n(total(at), row_, 0.0);
    }
    double* const sum = total(at);
    for (std::ptrdiff_t j = 0; j < row_; ++j) {
      sum[j] += static_cast<double>(row[j]);
      row[j] = 0;
    }
    counts_[at] = 0;
  }
  // Completes the sums; row `at` is at to + at * stride.
  void end(std::ptrdiff_t rows, float* to, std::ptrdiff_t stride) {
    for (std::ptrdiff_t at = 0; used_ > 0 && at < rows; ++at) {
      if (slots_[at] < 0) continue;
      double* const sum = total(at);
      float* const row = to + at * stride;
      for (std::ptrdiff_t j = 0; j < row_; ++j)
        row[j] = static_cast<float>(sum[j] + static_cast<double>(row[j]));
    }
  }

 private:
  double* total(std::ptrdiff_t at) const { return totals_ + slots_[at] * row_; }

  std::ptrdiff_t row_;
  std::int32_t *counts_, *slots_;  // of each row
  double* totals_;
  std::int32_t used_ = 0;
};
// Adds n elements, each to the row given by its index, if that is one of `rows`. `same_column`: all
// go to the same column of the table, and elements and indices are contiguous. `contiguous`: that
// column is contiguous too, as in gather_elements. The sum of consecutive additions to one element,
// such as all distances beyond a table's range, stays in a register, without the latency of memory.
// `to` points into the first of `rows`.
template <bool same_column, bool contiguous>
void add_elements(std::ptrdiff_t n, item_range rows, std::ptrdiff_t row, const std::ptrdiff_t* step,
                  float* to, const float* from, const std::int32_t* index) {
  if constexpr (contiguous) row = 1;
  const std::ptrdiff_t to_step = same_column ? 0 : step[0], from_step = same_column ? 1 : step[1],
                       index_step = same_column ? 1 : step[2];
  const auto row_count = static_cast<std::size_t>(rows.end - rows.begin);
  float discarded = 0, sum = 0;
  float* current = &discarded;
  for_each_element(n, [&](std::ptrdiff_t i) {
    const std::ptrdiff_t at = index[i * index_step] - rows.begin;
    if (HWY_UNLIKELY(static_cast<std::size_t>(at) >= row_count)) return;
    float* const next = to + i * to_step + at * row;
    if (HWY_LIKELY(next != current)) {
      *current = sum;
      current = next;
      sum = *next;
    }
    sum += from[i * from_step];
  });
  *current = sum;
}

// Rows of n contiguous elements, each to be added to the row of a table that its index gives, if
// that is one of `rows`. Steps are strides in elements.
struct scattered_rows {
  std::size_t n;
  item_range rows;
  std::ptrdiff_t row;  // row stride of the table
  float* to;
  const float* from;
  const std::int32_t* index;
  std::ptrdiff_t count, to_step, from_step, index_step;
};

// How a target adds whole rows: many that indices choose, and one.
struct row_additions {
  void (*scattered)(scattered_rows);
  void (*one)(std::size_t n, const float* from, float* to);
};

// Adds whole rows, one after another, to a table at `to`.
inline void add_many_rows(const scatter_loops& n, item_range rows, std::ptrdiff_t stride, float* to,
                          const float* from, const std::int32_t* index, scatter_totals& totals,
                          const row_additions& add) {
  const auto row_count = static_cast<std::size_t>(rows.end - rows.begin);
  for_each<3>(n.points, n.points.loops, [&](const std::ptrdiff_t* point) {
    const std::ptrdiff_t at = index[point[2]] - rows.begin;
    if (HWY_UNLIKELY(static_cast<std::size_t>(at) >= row_count)) return;
    if (HWY_UNLIKELY(totals.count(at) == max_chain_of_additions)) totals.add(at, to + at * stride);
    ++totals.count(at);
    add.one(static_cast<std::size_t>(n.row), from + point[1], to + at * stride);
  });
}
// The same for single elements, in double: a column of the table at a time, in the scratch.
inline void add_many_elements(const scatter_loops& n, item_range rows, const float* from,
                              const std::int32_t* index, double* column) {
  const auto row_count = static_cast<std::size_t>(rows.end - rows.begin);
  double discarded = 0, sum = 0;
  double* current = &discarded;
  for_each_run<3>(
      n.points, n.points.loops, {0, n.points.points()},
      [&](const std::ptrdiff_t* first, const std::ptrdiff_t* step, std::ptrdiff_t count) {
        const float* const x = from + first[1];
        const std::int32_t* const chosen = index + first[2];
        const std::ptrdiff_t x_step = step[1], index_step = step[2];
        for_each_element(count, [&](std::ptrdiff_t i) {
          const std::ptrdiff_t at = chosen[i * index_step] - rows.begin;
          if (HWY_UNLIKELY(static_cast<std::size_t>(at) >= row_count)) return;
          double* const next = column + at;
          if (HWY_LIKELY(next != current)) {
            *current = sum;
            current = next;
            sum = *next;
          }
          sum += static_cast<double>(x[i * x_step]);
        });
      });
  *current = sum;
}

// Many additions to an element: of rows at most max_chain_of_additions, and then to a total in
// double.
inline void scatter_add_many(const call& c, bool whole_rows, item_range rows,
                             const row_additions& add) {
  const scatter_loops n(c, whole_rows);
  if (n.places.empty()) return;
  const std::ptrdiff_t count = rows.end - rows.begin;
  auto* const result = static_cast<float*>(c.operands[0].data) + rows.begin * c.axis_stride;
  const auto* const g = static_cast<const float*>(c.operands[1].data);
  const auto* const indices = static_cast<const std::int32_t*>(c.operands[2].data);
  scatter_totals totals(c, n.row);
  auto* const column = reinterpret_cast<double*>(c.scratch);
  for_each<3>(n.places, n.places.loops, [&](const std::ptrdiff_t* place) {
    float* const to = result + place[0];
    const auto* const from = g + place[1];
    const auto* const index = indices + place[2];
    if (whole_rows) {
      totals.begin(count);
      add_many_rows(n, rows, c.axis_stride, to, from, index, totals, add);
      return totals.end(count, to, c.axis_stride);
    }
    std::fill_n(column, count, 0.0);
    add_many_elements(n, rows, from, index, column);
    for (std::ptrdiff_t at = 0; at < count; ++at)
      to[at * c.axis_stride] = static_cast<float>(column[at]);
  });
}

// Clears the table's rows in `rows` and adds to them.
inline void scatter_add_to(const call& c, bool whole_rows, item_range rows,
                           const row_additions& add_row) {
  // The elements to clear: the loops along which the result moves, and the indexed axis.
  owning_call<> elements;
  elements.operands[0].data = static_cast<float*>(c.operands[0].data) + rows.begin * c.axis_stride;
  const auto add_loop = [&](std::ptrdiff_t extent, std::ptrdiff_t stride) {
    elements.extent[elements.loops] = extent;
    elements.operands[0].stride[elements.loops++] = stride;
  };
  for (int l = 0; l < c.loops; ++l)
    if (c.operands[0].stride[l] != 0) add_loop(c.extent[l], c.operands[0].stride[l]);
  add_loop(rows.end - rows.begin, c.axis_stride);
  zero(elements);
  if (additions_of(c) > max_chain_of_additions)
    return scatter_add_many(c, whole_rows, rows, add_row);

  const loop_nest n = coalesce(c, 3, ~0u, call_order);
  if (n.empty()) return;
  auto* result = static_cast<float*>(c.operands[0].data);
  const auto* g = static_cast<const float*>(c.operands[1].data);
  const auto* indices = static_cast<const std::int32_t*>(c.operands[2].data);
  const int last = n.last();
  const std::ptrdiff_t length = n.extent[last];
  const std::ptrdiff_t step[]{n.stride[0][last], n.stride[1][last], n.stride[2][last]};
  if (step[0] == 1 && step[1] == 1 && step[2] == 0)
    return for_each_run(
        n, last, {0, n.points(last)},
        [&](const std::ptrdiff_t* at, const std::ptrdiff_t* next, std::ptrdiff_t count) {
          add_row.scattered({static_cast<std::size_t>(length), rows, c.axis_stride, result + at[0],
                             g + at[1], indices + at[2], count, next[0], next[1], next[2]});
        });
  const bool same_column = step[0] == 0 && step[1] == 1 && step[2] == 1;
  const auto add = !same_column         ? &add_elements<false, false>
                   : c.axis_stride == 1 ? &add_elements<true, true>
                                        : &add_elements<true, false>;
  float* const first = result + rows.begin * c.axis_stride;
  for_each(n, last, [&](const std::ptrdiff_t* at) {
    add(length, rows, c.axis_stride, step, first + at[0], g + at[1], indices + at[2]);
  });
}
// Additions to an element are in the order of the loops, so these are not partitioned. A part has a
// range of the table's columns, by a loop along which the result moves; if that has too few units,
// a range of its rows.
inline void run_scatter_add(const call& c, const row_additions& add) {
  // Of the whole call: a sum does not depend on the partition.
  const bool whole_rows = adds_whole_rows(c);
  if (c.part.count > 1)
    if (const int loop = longest_result_loop(c); loop >= 0 && units_of(c, loop) >= c.part.count)
      return scatter_add_to(slice_loop(c, loop), whole_rows, {0, c.axis_extent}, add);
  scatter_add_to(c, whole_rows, range_of(c.axis_extent, c.part), add);
}

}  // namespace weft::kernels
