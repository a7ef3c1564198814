// A call's loops in canonical form: no loop of extent 1, the result's unit stride innermost, and
// loops that are contiguous with each other in all operands coalesced. And loops over such a nest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "hwy/base.h"
#include "weft/kernels/call.hpp"
#include "weft/kernels/loop_nest.hpp"

namespace weft::kernels {

// The unit in which a loop is partitioned: a cache line if it is contiguous in the result, so that
// no two threads write to one, else one iteration.
inline std::ptrdiff_t unit_of(const call& c, int loop) {
  return c.operands[0].stride[loop] == 1 ? 64 / bytes(c.operands[0].type) : 1;
}
inline std::ptrdiff_t units_of(const call& c, int loop) {
  const std::ptrdiff_t unit = unit_of(c, loop);
  return (c.extent[loop] + unit - 1) / unit;
}

// Among the loops along which the result moves, the first with the most units; -1 if there is none.
inline int longest_result_loop(const call& c) {
  int longest = -1;
  for (int l = 0; l < c.loops; ++l)
    if (c.operands[0].stride[l] != 0 && (longest < 0 || units_of(c, l) > units_of(c, longest)))
      longest = l;
  return longest;
}

// c restricted to its part's range of one loop, and no longer partitioned.
inline owning_call<> slice_loop(const call& whole, int loop) {
  owning_call<> c(whole, whole.operands);
  const std::ptrdiff_t unit = unit_of(c, loop);
  const auto [first, last] = range_of(units_of(c, loop), c.part);
  const std::ptrdiff_t begin = std::min(first * unit, c.extent[loop]);
  c.extent[loop] = std::min(last * unit, c.extent[loop]) - begin;
  for (operand& o : c.operands)
    if (o.data != nullptr)
      o.data = static_cast<std::byte*>(o.data) + begin * o.stride[loop] * bytes(o.type);
  c.part = {};
  return c;
}

inline constexpr int call_order = -1;

// The nest of those of c's loops whose bits are in `which`, over the first `operands` operands; it
// has at least one loop. Loops are sorted by the stride of operand `key`, the smallest innermost,
// or not at all if it is call_order. Those with stride 0 in it come outermost and keep their order,
// so that accumulation into one element stays in the call's order. `extent` replaces the call's
// extents.
HWY_INLINE loop_nest coalesce(const call& c, int operands, unsigned which, int key,
                              const std::ptrdiff_t* extent) {
  const auto stride = [&c](int o, int l) { return c.operands[o].stride[l]; };
  const auto by_key = [&](int l) {
    if (key == call_order) return std::ptrdiff_t{0};
    return stride(key, l) == 0 ? PTRDIFF_MAX : std::abs(stride(key, l));
  };
  loop_nest n;
  coalesce_into(n, c.loops, extent, which, by_key, stride, operands);
  if (n.loops == 0) {
    n.push({1, {}});
    for (int o = 0; o < operands; ++o) n.stride[o][0] = 1;
  }
  return n;
}
HWY_INLINE loop_nest coalesce(const call& c, int operands, unsigned which = ~0u, int key = 0) {
  return coalesce(c, operands, which, key, c.extent);
}

// Calls f(offsets, steps, count) for runs of points along the last of the first `loops` loops:
// `offsets` are those of the operands at the run's first point, `steps` their strides from point to
// point, both in the unit of n's strides. `points` is a range of the points' indices. Not for an
// empty nest. `operands` may be lower where fewer are enough.
template <int operands = max_operands, class F>
HWY_INLINE void for_each_run(const loop_nest& n, int loops, item_range points, F&& f) {
  std::ptrdiff_t index[max_loops]{};
  std::ptrdiff_t offset[operands]{};
  std::ptrdiff_t remaining = points.end - points.begin;
  if (remaining == 0) return;
  std::ptrdiff_t remaining_index = points.begin;
  for (int l = loops - 1; remaining_index > 0; remaining_index /= n.extent[l--]) {
    index[l] = remaining_index % n.extent[l];
    for (int o = 0; o < operands; ++o) offset[o] += n.stride[o][l] * index[l];
  }
  const int last = std::max(loops - 1, 0);  // without loops, there is one point
  std::ptrdiff_t step[operands];
  for (int o = 0; o < operands; ++o) step[o] = n.stride[o][last];
  for (;;) {
    const std::ptrdiff_t count = std::min(remaining, n.extent[last] - index[last]);
    f(std::as_const(offset), std::as_const(step), count);
    remaining -= count;
    if (remaining == 0) return;
    // Advances to the beginning of the next run: this one ends its loop.
    for (int o = 0; o < operands; ++o) offset[o] -= step[o] * index[last];
    index[last] = 0;
    int l = last - 1;
    for (; ++index[l] == n.extent[l]; index[l--] = 0)
      for (int o = 0; o < operands; ++o) offset[o] -= n.stride[o][l] * (n.extent[l] - 1);
    for (int o = 0; o < operands; ++o) offset[o] += n.stride[o][l];
  }
}

// Calls f(offsets) at each of the points.
template <int operands = max_operands, class F>
HWY_INLINE void for_each(const loop_nest& n, int loops, item_range points, F&& f) {
  for_each_run<operands>(
      n, loops, points,
      [&](const std::ptrdiff_t* offset, const std::ptrdiff_t* step, std::ptrdiff_t count) {
        std::ptrdiff_t here[operands];
        for (int o = 0; o < operands; ++o) here[o] = offset[o];
        for (std::ptrdiff_t i = 0; i < count; ++i) {
          f(std::as_const(here));
          for (int o = 0; o < operands; ++o) here[o] += step[o];
        }
      });
}
template <int operands = max_operands, class F>
void for_each(const loop_nest& n, int loops, F&& f) {
  for_each<operands>(n, loops, {0, n.points(loops)}, f);
}

// A partition of the nest in chunks of its innermost loop: a range of rows, of which only the first
// may begin, and only the last end, inside the row.
struct row_chunks {
  item_range rows;
  std::ptrdiff_t begin, end;  // of the first row, and of the last one
};
HWY_INLINE row_chunks chunks_of(const loop_nest& n, const partition& part, std::ptrdiff_t chunk) {
  const std::ptrdiff_t length = n.extent[n.last()], rows = n.points(n.last());
  const row_chunks all{{0, rows}, 0, length};
  if (part.count == 1) return all;                             // saves the divisions
  const std::ptrdiff_t chunks = (length + chunk - 1) / chunk;  // per row
  const auto [first, end] = range_of(rows * chunks, part);
  if (first == end) return {};
  const std::ptrdiff_t last = end - 1;
  return {{first / chunks, last / chunks + 1},
          first % chunks * chunk,
          std::min((last % chunks + 1) * chunk, length)};
}

// Calls f(offsets, begin, end) for each row of a partition, with its range of elements, in whole
// chunks.
template <int operands = max_operands, class F>
void for_each_chunk(const loop_nest& n, const partition& part, std::ptrdiff_t chunk, F&& f) {
  const auto [rows, first_begin, last_end] = chunks_of(n, part, chunk);
  const std::ptrdiff_t length = n.extent[n.last()];
  std::ptrdiff_t begin = first_begin, remaining = rows.end - rows.begin;
  for_each<operands>(n, n.last(), rows, [&, last_end = last_end](const std::ptrdiff_t* offset) {
    f(offset, std::exchange(begin, 0), --remaining == 0 ? last_end : length);
  });
}

// Calls f(offsets, steps, rows, begin, end) for rows of n with their range of elements: many rows
// at a time, as one call for each short row would cost too much, or, if rows are longer than a
// chunk and there are several partitions, whole chunks of one.
template <class F>
HWY_INLINE void for_each_block(const loop_nest& n, const partition& part, std::ptrdiff_t chunk,
                               F f) {
  const int last = n.last();
  const std::ptrdiff_t length = n.extent[last];
  if (length > chunk && part.count > 1) {
    constexpr std::ptrdiff_t of_one_row[max_operands]{};
    return for_each_chunk(n, part, chunk,
                          [&](const std::ptrdiff_t* offset, std::ptrdiff_t begin,
                              std::ptrdiff_t end) { f(offset, of_one_row, 1, begin, end); });
  }
  for_each_run(n, last, range_of(n.points(last), part),
               [&](const std::ptrdiff_t* offset, const std::ptrdiff_t* step, std::ptrdiff_t rows) {
                 f(offset, step, rows, 0, length);
               });
}

// Calls f(i) for each i below n, for elements that are copied one by one. Unrolled by four, as
// pointer increments and the loop's end take compilers as long as an element.
template <class F>
HWY_INLINE void for_each_element(std::ptrdiff_t n, F f) {
  std::ptrdiff_t i = 0;
  for (const std::ptrdiff_t quads = n & ~std::ptrdiff_t{3}; i < quads; i += 4) {
    f(i);
    f(i + 1);
    f(i + 2);
    f(i + 3);
  }
  for (; i < n; ++i) f(i);
}

}  // namespace weft::kernels
