// scatter_add: adds rows, or single elements, to the rows of a table that indices choose.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/gather_scatter.hpp"
#include "kernels/loop_nest.hpp"
#include "kernels/partition.hpp"
#include "weft/kernels/call.hpp"
#include "weft/kernels/scatter_scratch.hpp"

namespace weft::kernels {

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
