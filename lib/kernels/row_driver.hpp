// Drives rows of strided operands through kernels that take contiguous memory: shared by all SIMD
// targets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/loop_nest.hpp"
#include "kernels/philox_schedule.hpp"
#include "weft/kernels/call.hpp"
#include "weft/kernels/row_scratch.hpp"

namespace weft::kernels {

// What a dropout draws from, and the threshold below which it drops: see is_dropped in
// weft/kernels/philox.hpp.
struct dropout_state {
  philox_schedule schedule;
  std::uint32_t threshold;
};

// to[i] = f(from[0][i], …) for one or more rows of n contiguous elements. step[0] is the row stride
// of the result in bytes, step[1 + i] that of input i; a single row needs no strides. Only dropout
// reads the dropout_state.
using elementwise_loop = void (*)(std::ptrdiff_t rows, std::size_t n, void* to,
                                  const void* const* from, const std::ptrdiff_t* step,
                                  const dropout_state&);

// Copies n elements of `size` bytes; strides are in elements.
template <std::size_t size>
HWY_INLINE void copy_strided(std::ptrdiff_t n, std::byte* to, std::ptrdiff_t to_stride,
                             const std::byte* from, std::ptrdiff_t from_stride) {
  constexpr auto bytes = static_cast<std::ptrdiff_t>(size);
  for_each_element(n, [=](std::ptrdiff_t i) {
    std::memcpy(to + i * to_stride * bytes, from + i * from_stride * bytes, size);
  });
}

// Copies where one of the strides is 1. Not inline: rows that need no copy would pay for its setup.
HWY_NOINLINE inline void copy_elements(dtype type, std::ptrdiff_t n, std::byte* to,
                                       std::ptrdiff_t to_stride, const std::byte* from,
                                       std::ptrdiff_t from_stride) {
  const auto copy = [=]<std::size_t size>(std::integral_constant<std::size_t, size>) {
    to_stride == 1 ? copy_strided<size>(n, to, 1, from, from_stride)
                   : copy_strided<size>(n, to, to_stride, from, 1);
  };
  if (bytes(type) == 1) return copy(std::integral_constant<std::size_t, 1>());
  if (bytes(type) == 2) return copy(std::integral_constant<std::size_t, 2>());
  copy(std::integral_constant<std::size_t, 4>());
}

// Writes the ids of two consecutive elements. Only dropout reads ids, and they have a constant
// stride.
inline void iota_ids(std::ptrdiff_t first, std::ptrdiff_t stride, std::byte* to) {
  const std::uint32_t numbers[]{static_cast<std::uint32_t>(first),
                                static_cast<std::uint32_t>(first + stride)};
  std::memcpy(to, numbers, sizeof numbers);
}

// Capacity of a staging buffer in elements, on which fusion groups run at a time.
inline constexpr std::ptrdiff_t staging_elements = 1024;
// Elements staged at a time: half, as a burst of stores to buffers and result stalls the processor.
inline constexpr std::ptrdiff_t staged_elements = staging_elements / 2;

// Fills rows of n elements with one value each: `pitch` is the row stride of `to`, `step` that of
// the values in `from`, both in bytes. A row shorter than `overrun` bytes may be overrun up to that
// size.
using fill_loop = void (*)(dtype type, std::ptrdiff_t rows, std::ptrdiff_t n, std::byte* to,
                           std::ptrdiff_t pitch, const std::byte* from, std::ptrdiff_t step);
inline constexpr std::ptrdiff_t overrun = 64;

// The chunk, in elements, in which run_elementwise partitions rows: whatever the partition, a row's
// vectors begin at the same elements.
inline constexpr std::ptrdiff_t row_chunk = 4096;

// Copies without staging where one side is contiguous along the innermost loop and the other is
// strided or broadcast. Returns whether c is such a copy.
inline bool copy_unstaged(const call& c, const loop_nest& n, fill_loop fill) {
  const int last = n.last();
  const std::ptrdiff_t length = n.extent[last];
  const std::ptrdiff_t to_step = n.stride[0][last], from_step = n.stride[1][last];
  if (c.kind != op::copy || c.fused_count > 0 || (to_step == 1) == (from_step == 1)) return false;
  const dtype type = c.operands[0].type;
  const std::ptrdiff_t size = bytes(type);
  auto* const to = static_cast<std::byte*>(c.operands[0].data);
  const auto* const from = static_cast<const std::byte*>(c.operands[1].data);
  if (from_step == 0) {
    if (length * size < overrun || (length > row_chunk && c.part.count > 1)) return false;
    for_each_run(n, last, range_of(n.points(last), c.part),
                 [&](const std::ptrdiff_t* at, const std::ptrdiff_t* row, std::ptrdiff_t rows) {
                   fill(type, rows, length, to + at[0] * size, row[0] * size, from + at[1] * size,
                        row[1] * size);
                 });
    return true;
  }
  for_each_chunk(n, c.part, row_chunk,
                 [&](const std::ptrdiff_t* at, std::ptrdiff_t begin, std::ptrdiff_t end) {
                   copy_elements(type, end - begin, to + (at[0] + begin * to_step) * size, to_step,
                                 from + (at[1] + begin * from_step) * size, from_step);
                 });
  return true;
}

// run_elementwise where operands are not contiguous along n's innermost loop, or rows are too long.
// Such an operand is copied to a buffer, several short rows or a part of a long one at a time; a
// result is computed in one.
template <class F>
HWY_NOINLINE void run_staged(const call& c, loop_nest& n, int inputs, std::ptrdiff_t max_elements,
                             fill_loop fill, const void* (&from)[max_operands - 1], F f) {
  if (copy_unstaged(c, n, fill)) return;
  alignas(64) std::byte buffer[max_operands][staging_elements * 4 + overrun];
  const std::ptrdiff_t length = n.extent[n.last()];
  std::byte* data[max_operands];
  std::ptrdiff_t size[max_operands], stride[max_operands];
  bool staged[max_operands], has_ids = false;
  std::ptrdiff_t chunk = max_elements;
  for (int o = 0; o <= inputs; ++o) {
    data[o] = static_cast<std::byte*>(c.operands[o].data);
    size[o] = bytes(c.operands[o].type);
    stride[o] = n.inner_stride(o);
    staged[o] = stride[o] != 1 || !data[o];
    // One element is staged once for all chunks of a row.
    if (staged[o]) chunk = std::min(chunk, stride[o] == 0 ? staging_elements : staged_elements);
    has_ids = has_ids || !data[o];
    // In bytes from here on.
    for (int l = 0; l < n.loops; ++l) n.stride[o][l] *= size[o];
  }
  constexpr std::ptrdiff_t line = 16;  // floats; a vector load across two lines is slower
  const std::ptrdiff_t pitch = (length + line - 1) / line * line;
  std::ptrdiff_t next[max_operands]{};  // the row strides of the memory that f gets
  // Copies `count` elements of some rows of input o, the first of which is at `offset`, to a
  // buffer.
  const auto load = [&](int o, std::ptrdiff_t offset, std::ptrdiff_t row, std::ptrdiff_t rows,
                        std::ptrdiff_t count) {
    if (!data[o]) return iota_ids(offset / size[o], stride[o], buffer[o]);
    // Up to the pitch, so that the vector load of a row's tail lies within one store, from which it
    // is forwarded.
    if (stride[o] == 0)
      return fill(c.operands[o].type, rows, rows > 1 ? pitch : count, buffer[o], next[o],
                  data[o] + offset, row);
    for (std::ptrdiff_t r = 0; r < rows; ++r)
      copy_elements(c.operands[o].type, count, buffer[o] + r * next[o], 1,
                    data[o] + (offset + r * row), stride[o]);
  };
  for_each_block(n, c.part, row_chunk,
                 [&](const std::ptrdiff_t* offset, const std::ptrdiff_t* row, std::ptrdiff_t rows,
                     std::ptrdiff_t begin, std::ptrdiff_t end) {
                   for (int o = 0; o <= inputs; ++o)
                     next[o] = staged[o] && row[o] != 0 ? pitch * size[o] : row[o];
                   // All rows, if each can read what is staged; but element ids are those of one
                   // row.
                   std::ptrdiff_t rows_at_once = rows;
                   for (int o = 0; o <= inputs; ++o)
                     if (staged[o] && row[o] != 0)
                       rows_at_once = std::max<std::ptrdiff_t>(staged_elements / pitch, 1);
                   if (has_ids) rows_at_once = 1;
                   for (std::ptrdiff_t r = 0, some; r < rows; r += some) {
                     some = std::min(rows_at_once, rows - r);
                     for (std::ptrdiff_t i = begin, count; i < end; i += count) {
                       count = std::min(chunk, end - i);
                       const auto here = [&](int o) {
                         return offset[o] + r * row[o] + i * stride[o] * size[o];
                       };
                       for (int o = 1; o <= inputs; ++o) {
                         from[o - 1] = staged[o] ? buffer[o] : data[o] + here(o);
                         // What is broadcast along the row, or along the rows, stays in its buffer.
                         const bool is_there =
                             data[o] && ((stride[o] == 0 && i > begin) ||
                                         (row[o] == 0 && r > 0 && count == length));
                         if (staged[o] && !is_there)
                           load(o, here(o), row[o], row[o] == 0 ? 1 : some, count);
                       }
                       std::byte* const to = staged[0] ? buffer[0] : data[0] + here(0);
                       f(some, static_cast<std::size_t>(count), to, next);
                       for (std::ptrdiff_t j = 0; staged[0] && j < some; ++j)
                         copy_elements(c.operands[0].type, count, data[0] + (here(0) + j * row[0]),
                                       stride[0], to + j * next[0], 1);
                     }
                   }
                 });
}

// Calls f(rows, n, to, step) over c's loops, for rows of at most `max_elements` elements, with the
// arguments of an elementwise_loop; from[i] then points to input i. Operands that are not
// contiguous along the innermost loop are staged, a chunk at a time, in a buffer that stays in L1:
// so there is one loop for each operation, whatever the strides.
template <class F>
void run_elementwise(const call& c, int inputs, std::ptrdiff_t max_elements, fill_loop fill,
                     const void* (&from)[max_operands - 1], F f) {
  loop_nest n = coalesce(c, 1 + inputs);
  if (n.empty()) return;
  const int last = n.last();
  const std::ptrdiff_t length = n.extent[last];
  bool contiguous = length <= max_elements && (length <= row_chunk || c.part.count == 1);
  for (int o = 0; o <= inputs; ++o)
    contiguous = contiguous && n.stride[o][last] == 1 && c.operands[o].data;
  if (!contiguous) return run_staged(c, n, inputs, max_elements, fill, from, f);
  for (int o = 0; o <= inputs; ++o)
    for (int l = 0; l < last; ++l) n.stride[o][l] *= bytes(c.operands[o].type);
  // Not in run_staged: short rows would pay for the setup of its buffers.
  const auto at = [&](int o, const std::ptrdiff_t* offset) {
    return static_cast<std::byte*>(c.operands[o].data) + offset[o];
  };
  for_each_run(n, last, range_of(n.points(last), c.part),
               [&](const std::ptrdiff_t* offset, const std::ptrdiff_t* step, std::ptrdiff_t rows) {
                 // A constant trip count, so that the loop is unrolled.
                 for (int o = 1; o < max_operands; ++o) from[o - 1] = at(o, offset);
                 f(rows, static_cast<std::size_t>(length), at(0, offset), step);
               });
}

// Runs c's fusion group over its loops; loops[l] computes operation l. Intermediate values are in
// buffers that stay in L1, several short rows of them concatenated.
inline void run_fused(const call& c, fill_loop fill, const elementwise_loop* loops) {
  alignas(64) std::byte intermediates[max_fused_ops - 1][staging_elements * 4];
  const void* from[max_fused_inputs]{};
  struct op_arguments {
    const void* const* values[3];  // addresses of the pointers to its inputs
    dropout_state dropout;
    bool contiguous;         // all rows are contiguous, and so done as one
    std::ptrdiff_t step[4];  // else row strides in bytes, the result's first
  } ops[max_fused_ops];
  const void* results_of_ops[max_fused_ops - 1];
  int inputs = 0;
  for (int l = 0; l < c.fused_count; ++l) {
    if (l + 1 < c.fused_count) results_of_ops[l] = intermediates[l];
    if (c.fused_ops[l].kind == op::dropout) {  // once for all rows
      const dropout_params drop = c.fused_ops[l].drop;
      ops[l].dropout = {philox_schedule(c.random, drop.stream), drop.threshold};
    }
    ops[l].contiguous = true;
    for (int j = 0; j < 3; ++j) {
      const int v = c.fused_ops[l].from[j];
      ops[l].values[j] = v < max_fused_inputs ? from + v : results_of_ops + (v - max_fused_inputs);
      if (j < operands_of_elementwise(c.fused_ops[l].kind) && v < max_fused_inputs)
        inputs = std::max(inputs, v + 1);
    }
  }
  const auto set_row_strides = [&](std::ptrdiff_t length, const std::ptrdiff_t* step) {
    for (int l = 0; l < c.fused_count; ++l) {
      const fused_op& k = c.fused_ops[l];
      ops[l].contiguous = true;
      const auto set_stride = [&](int o, dtype type, bool is_intermediate, std::ptrdiff_t row) {
        const std::ptrdiff_t contiguous_stride = length * bytes(type);
        ops[l].step[o] = is_intermediate ? contiguous_stride : row;
        ops[l].contiguous = ops[l].contiguous && ops[l].step[o] == contiguous_stride;
      };
      set_stride(0, k.type, l + 1 < c.fused_count, step[0]);
      for (int j = 0; j < operands_of_elementwise(k.kind); ++j) {
        const int v = k.from[j];
        if (v < max_fused_inputs)
          set_stride(1 + j, c.operands[1 + v].type, false, step[1 + v]);
        else
          set_stride(1 + j, c.fused_ops[v - max_fused_inputs].type, true, 0);
      }
    }
  };
  const auto run_ops = [&](std::ptrdiff_t rows, std::size_t n, std::byte* to,
                           const std::ptrdiff_t* step) {
    std::ptrdiff_t rows_at_once = 1;
    if (rows > 1) {
      const auto length = static_cast<std::ptrdiff_t>(n);
      rows_at_once = std::max<std::ptrdiff_t>(staging_elements / length, 1);
      set_row_strides(length, step);
    }
    for (;;) {
      const std::ptrdiff_t count = std::min(rows_at_once, rows);
      for (int l = 0; l < c.fused_count; ++l) {
        const op_arguments& k = ops[l];
        const void* const here[]{*k.values[0], *k.values[1], *k.values[2]};
        loops[l](k.contiguous ? 1 : count, k.contiguous ? n * static_cast<std::size_t>(count) : n,
                 l + 1 == c.fused_count ? to : intermediates[l], here, k.step, k.dropout);
      }
      rows -= count;
      if (rows == 0) return;
      to += count * step[0];
      for (int i = 0; i < max_fused_inputs; ++i)
        from[i] = static_cast<const std::byte*>(from[i]) + count * step[1 + i];
    }
  };
  run_elementwise(c, inputs, staging_elements, fill, from, run_ops);
}

// Rows per call of a row function: several, so that the latencies of their reductions overlap.
inline constexpr std::ptrdiff_t max_rows = 4;
struct row_pointers {
  float* to;
  const void* from[max_row_inputs];  // null where the call has none

  const float* floats(int i) const { return static_cast<const float*>(from[i]); }
};
struct row_arguments {
  std::size_t length;
  double scalar, scale;
  std::size_t rows;  // 1 to max_rows
  // Row pointers of the result and the inputs. Those of one operand are adjacent, so that no
  // function loads two pointers as one vector: they were stored one by one, and store-to-load
  // forwarding would fail.
  std::byte* at[1 + max_row_inputs][max_rows];
  bool subtract_mean;            // normalisations: whether the mean is subtracted
  float *gain_sums, *bias_sums;  // their adjoints: rows to accumulate into, or null

  bool has(int input) const { return at[1 + input][0] != nullptr; }
  row_pointers row(std::size_t r) const {
    row_pointers row{reinterpret_cast<float*>(at[0][r]), {}};
    for (int i = 0; i < max_row_inputs; ++i) row.from[i] = at[1 + i][r];
    return row;
  }
};
using row_function = void (*)(const row_arguments&);

// The same for `width` interleaved rows, whose k-th elements are contiguous.
struct column_arguments {
  std::size_t length, width;
  double scale;
  std::byte* at[1 + max_row_inputs];  // the first row's first element
  // Strides in bytes from a row's element to its next, and from row to row; 0 for an absent input.
  std::ptrdiff_t step[1 + max_row_inputs], size[1 + max_row_inputs];

  bool has(int input) const { return at[1 + input] != nullptr; }
  // Pointers to the first elements of the rows from `row` on.
  row_pointers from(std::size_t row) const {
    const auto address = [&](int o) { return at[o] + static_cast<std::ptrdiff_t>(row) * size[o]; };
    row_pointers first{reinterpret_cast<float*>(address(0)), {}};
    for (int i = 0; i < max_row_inputs; ++i) first.from[i] = address(1 + i);
    return first;
  }
};
using column_function = void (*)(const column_arguments&);

// Transposes a matrix of floats with contiguous rows, whose stride is `row`: its column k is
// written to the row at to[k * pitch].
using transpose_function = void (*)(const float* from, std::ptrdiff_t row, std::size_t rows,
                                    std::size_t columns, float* to, std::ptrdiff_t pitch);

// Rows of an operand and their packed copies: `step` is the row stride of the operand, `pitch` that
// of the copies, in bytes.
struct packed_rows {
  std::ptrdiff_t count, step, pitch;

  bool interleaved(dtype type) const {
    return count > 1 && type == dtype::float32 && step == bytes(type);
  }
};

// Packs rows of operand o, the points of each in loop order.
inline void pack(const loop_nest& row, int o, dtype type, const packed_rows& rows,
                 const std::byte* from, std::byte* to, transpose_function transpose) {
  const std::ptrdiff_t length = row.extent[row.last()], next = row.inner_stride(o);
  for_each(row, row.last(), [&](const std::ptrdiff_t* offset) {
    const std::byte* const here = from + offset[o] * bytes(type);
    if (rows.interleaved(type))
      transpose(reinterpret_cast<const float*>(here), next, static_cast<std::size_t>(length),
                static_cast<std::size_t>(rows.count), reinterpret_cast<float*>(to),
                rows.pitch / bytes(type));
    else
      for (std::ptrdiff_t r = 0; r < rows.count; ++r)
        copy_elements(type, length, to + r * rows.pitch, 1, here + r * rows.step, next);
    to += length * bytes(type);
  });
}
// The inverse of pack, for the result.
inline void unpack(const loop_nest& row, const packed_rows& rows, const std::byte* from,
                   std::byte* to, transpose_function transpose) {
  constexpr auto type = dtype::float32;
  const std::ptrdiff_t length = row.extent[row.last()], next = row.inner_stride(0);
  for_each(row, row.last(), [&](const std::ptrdiff_t* offset) {
    std::byte* const here = to + offset[0] * bytes(type);
    if (rows.interleaved(type))
      transpose(reinterpret_cast<const float*>(from), rows.pitch / bytes(type),
                static_cast<std::size_t>(rows.count), static_cast<std::size_t>(length),
                reinterpret_cast<float*>(here), next);
    else
      for (std::ptrdiff_t r = 0; r < rows.count; ++r)
        copy_elements(type, length, here + r * rows.step, next, from + r * rows.pitch, 1);
    from += length * bytes(type);
  });
}

// Whether operand o has one element for each row.
inline bool is_per_row(const call& c, int o) {
  return c.kind == op::log_softmax_adjoint && c.operands[3].data && (o == 2 || o == 3);
}

// Runs f on all rows of c if they are interleaved in all operands (unit stride from row to row) and
// their elements are one loop that is not too long. Returns whether it did. A row's bits do not
// depend on the rows next to it.
inline bool run_interleaved_rows(const call& c, const loop_nest& rows, const loop_nest& row,
                                 column_function f) {
  constexpr std::ptrdiff_t min_rows = 8, max_length = 256;  // sums are not split into blocks
  const int last = rows.last();
  if (!f || row.loops > 1 || row.extent[0] > max_length || rows.extent[last] < min_rows)
    return false;
  column_arguments a{static_cast<std::size_t>(row.extent[0]), 0, c.scale, {}, {}, {}};
  for (int o = 0; o <= row_inputs(c.kind); ++o) {
    if (!c.operands[o].data) continue;
    if (rows.stride[o][last] != 1) return false;
    a.size[o] = bytes(c.operands[o].type);
    a.step[o] = row.stride[o][0] * a.size[o];
  }
  for_each_run(rows, rows.loops, range_of(rows.points(), c.part),
               [&](const std::ptrdiff_t* offset, const std::ptrdiff_t*, std::ptrdiff_t count) {
                 a.width = static_cast<std::size_t>(count);
                 for (int o = 0; o <= max_row_inputs; ++o)
                   a.at[o] = static_cast<std::byte*>(c.operands[o].data) + offset[o] * a.size[o];
                 f(a);
               });
  return true;
}

// Runs f on each row of c: the loops in c.over. Rows that are not contiguous are processed
// interleaved, or packed in c.scratch, which has row_scratch_bytes(c).
inline void run_rowwise(const call& c, row_function f, column_function interleaved_function,
                        transpose_function transpose) {
  const int inputs = row_inputs(c.kind);
  loop_nest rows = coalesce(c, 1 + inputs, ~c.over);
  const loop_nest row = coalesce(c, 1 + inputs, c.over);
  if (row.empty()) return;
  const auto length = static_cast<std::size_t>(row.points());
  const std::ptrdiff_t points = rows.points();
  const std::size_t capacity = packed_rows_bytes(static_cast<std::size_t>(points), length);
  std::byte* data[1 + max_row_inputs]{};
  std::byte* packed[1 + max_row_inputs]{};
  bool packs = false;
  for (int o = 0; o <= inputs; ++o) {
    data[o] = static_cast<std::byte*>(c.operands[o].data);
    if (!data[o] || is_per_row(c, o) || (row.loops == 1 && row.stride[o][0] == 1)) continue;
    packed[o] = c.scratch + static_cast<std::size_t>(o) * capacity;
    packs = true;
  }
  if (packs && run_interleaved_rows(c, rows, row, interleaved_function)) return;

  const auto pitch = static_cast<std::ptrdiff_t>(packed_row_bytes(length));
  const std::ptrdiff_t rows_at_once =
      packs ? static_cast<std::ptrdiff_t>(capacity) / pitch : PTRDIFF_MAX;
  row_arguments a{length, c.scalar, c.scale, 0, {}, subtracts_mean(c.kind), nullptr, nullptr};
  std::ptrdiff_t step[1 + max_row_inputs]{};  // row strides
  for (int o = 0; o <= inputs; ++o) {
    // In bytes from here on.
    for (int l = 0; l < rows.loops; ++l)
      rows.stride[o][l] *= data[o] ? bytes(c.operands[o].type) : 0;
    step[o] = rows.inner_stride(o);
  }
  std::ptrdiff_t next[1 + max_row_inputs];  // row strides of the memory that f gets
  for (int o = 0; o <= inputs; ++o) next[o] = packed[o] && step[o] != 0 ? pitch : step[o];
  const auto run_from = [&](std::byte* const* first, std::ptrdiff_t count) {
    for (std::ptrdiff_t i = 0; i < count; i += max_rows) {
      a.rows = static_cast<std::size_t>(std::min(max_rows, count - i));
      // Also those of absent operands, and beyond a.rows: checks would take longer.
      for (int o = 0; o <= inputs; ++o) {
        std::byte *const here = first[o] + i * next[o], **const at = a.at[o];
        for (std::ptrdiff_t r = 0; r < max_rows; ++r) at[r] = here + r * next[o];
      }
      f(a);
    }
  };
  const auto run_rows = [&](item_range part) {
    for_each_run(rows, rows.loops, part,
                 [&](const std::ptrdiff_t* offset, const std::ptrdiff_t*, std::ptrdiff_t end) {
                   for (std::ptrdiff_t i = 0, count; i < end; i += count) {
                     count = std::min(rows_at_once, end - i);
                     std::byte* first[1 + max_row_inputs];
                     for (int o = 0; o <= inputs; ++o) {
                       std::byte* const here = data[o] + (offset[o] + i * step[o]);
                       first[o] = packed[o] ? packed[o] : here;
                       if (packed[o] && o > 0)
                         pack(row, o, c.operands[o].type,
                              {step[o] == 0 ? 1 : count, step[o], pitch}, here, packed[o],
                              transpose);
                     }
                     run_from(first, count);
                     if (packed[0])
                       unpack(row, {count, step[0], pitch}, packed[0],
                              data[0] + (offset[0] + i * step[0]), transpose);
                   }
                 });
  };
  if (c.axis_extent == 0) return run_rows(range_of(points, c.part));
  // Partitions consist of whole blocks, so that the sums do not depend on their number.
  float* const sums = reinterpret_cast<float*>(data[0]) + c.axis_stride;
  constexpr auto unit = static_cast<std::ptrdiff_t>(rows_per_partial);
  const item_range blocks = range_of(c.axis_extent, c.part);
  for (std::ptrdiff_t b = blocks.begin; b < blocks.end; ++b) {
    a.gain_sums = sums + static_cast<std::size_t>(b) * length;
    a.bias_sums = a.gain_sums + static_cast<std::size_t>(c.axis_extent) * length;
    std::fill_n(a.gain_sums, length, 0.0f);
    std::fill_n(a.bias_sums, length, 0.0f);
    run_rows({std::min(b * unit, points), std::min((b + 1) * unit, points)});
  }
}

}  // namespace weft::kernels
