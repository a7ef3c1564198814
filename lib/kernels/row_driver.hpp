// Drives rows of strided operands through kernels that take contiguous memory: shared by all SIMD
// targets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/copy_elements.hpp"
#include "kernels/loop_nest.hpp"
#include "weft/kernels/call.hpp"
#include "weft/kernels/row_scratch.hpp"

namespace weft::kernels {

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
  bool subtract_mean;            // normalizations: whether the mean is subtracted
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

// Rows of an operand and their contiguous copies: `step` is the row stride of the operand, `pitch`
// that of the copies, in bytes.
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

// The rows of c: the loops in c.over. Those that are not contiguous are copied to c.scratch, which
// has row_scratch_bytes(c).
class rows_run {
 public:
  HWY_INLINE rows_run(const call& c, loop_nest& rows, const loop_nest& row,
                      transpose_function transpose)
      : c_(c),
        rows_(rows),
        row_(row),
        transpose_(transpose),
        inputs_(row_inputs(c.kind)),
        pitch_(
            static_cast<std::ptrdiff_t>(packed_row_bytes(static_cast<std::size_t>(row.points())))),
        a_{static_cast<std::size_t>(row.points()),
           c.scalar,
           c.scale,
           0,
           {},
           subtracts_mean(c.kind),
           nullptr,
           nullptr} {
    const std::size_t capacity =
        packed_rows_bytes(static_cast<std::size_t>(rows.points()), a_.length);
    for (int o = 0; o <= inputs_; ++o) {
      data_[o] = static_cast<std::byte*>(c.operands[o].data);
      if (!data_[o] || is_per_row(c, o) || (row.loops == 1 && row.stride[o][0] == 1)) continue;
      packed_[o] = c.scratch + static_cast<std::size_t>(o) * capacity;
      rows_at_once_ = static_cast<std::ptrdiff_t>(capacity) / pitch_;
    }
  }

  bool packs() const { return rows_at_once_ != PTRDIFF_MAX; }

  // Strides of the rows are in bytes from here on.
  HWY_INLINE void run(row_function f) {
    for (int o = 0; o <= inputs_; ++o) {
      for (int l = 0; l < rows_.loops; ++l)
        rows_.stride[o][l] *= data_[o] ? bytes(c_.operands[o].type) : 0;
      step_[o] = rows_.inner_stride(o);
      next_[o] = packed_[o] && step_[o] != 0 ? pitch_ : step_[o];
    }
    const std::ptrdiff_t points = rows_.points();
    if (c_.axis_extent == 0) return run_rows(f, range_of(points, c_.part));
    // Partitions consist of whole blocks, so that the sums do not depend on their number.
    float* const sums = reinterpret_cast<float*>(data_[0]) + c_.axis_stride;
    constexpr auto unit = static_cast<std::ptrdiff_t>(rows_per_partial);
    const item_range blocks = range_of(c_.axis_extent, c_.part);
    for (std::ptrdiff_t b = blocks.begin; b < blocks.end; ++b) {
      a_.gain_sums = sums + static_cast<std::size_t>(b) * a_.length;
      a_.bias_sums = a_.gain_sums + static_cast<std::size_t>(c_.axis_extent) * a_.length;
      std::fill_n(a_.gain_sums, a_.length, 0.0f);
      std::fill_n(a_.bias_sums, a_.length, 0.0f);
      run_rows(f, {std::min(b * unit, points), std::min((b + 1) * unit, points)});
    }
  }

 private:
  void run_rows(row_function f, item_range part) {
    for_each_run(rows_, rows_.loops, part,
                 [&](const std::ptrdiff_t* offset, const std::ptrdiff_t*, std::ptrdiff_t end) {
                   for (std::ptrdiff_t i = 0, count; i < end; i += count) {
                     count = std::min(rows_at_once_, end - i);
                     std::byte* first[1 + max_row_inputs];
                     for (int o = 0; o <= inputs_; ++o) {
                       std::byte* const here = data_[o] + (offset[o] + i * step_[o]);
                       first[o] = packed_[o] ? packed_[o] : here;
                       if (packed_[o] && o > 0)
                         pack(row_, o, c_.operands[o].type,
                              {step_[o] == 0 ? 1 : count, step_[o], pitch_}, here, packed_[o],
                              transpose_);
                     }
                     run_from(f, first, count);
                     if (packed_[0])
                       unpack(row_, {count, step_[0], pitch_}, packed_[0],
                              data_[0] + (offset[0] + i * step_[0]), transpose_);
                   }
                 });
  }
  HWY_INLINE void run_from(row_function f, std::byte* const* first, std::ptrdiff_t count) {
    for (std::ptrdiff_t i = 0; i < count; i += max_rows) {
      a_.rows = static_cast<std::size_t>(std::min(max_rows, count - i));
      // Also those of absent operands, and beyond a_.rows: checks would take longer.
      for (int o = 0; o <= inputs_; ++o) {
        std::byte *const here = first[o] + i * next_[o], **const at = a_.at[o];
        for (std::ptrdiff_t r = 0; r < max_rows; ++r) at[r] = here + r * next_[o];
      }
      f(a_);
    }
  }

  const call& c_;
  loop_nest& rows_;
  const loop_nest& row_;
  const transpose_function transpose_;
  const int inputs_;
  const std::ptrdiff_t pitch_;
  row_arguments a_;
  std::byte* data_[1 + max_row_inputs]{};
  std::byte* packed_[1 + max_row_inputs]{};
  std::ptrdiff_t rows_at_once_ = PTRDIFF_MAX;  // unless all are contiguous
  std::ptrdiff_t step_[1 + max_row_inputs]{};  // row strides
  std::ptrdiff_t next_[1 + max_row_inputs];    // row strides of the memory that f gets
};

// Runs f on each row of c. Rows that are not contiguous are processed interleaved, if they can be.
inline void run_rowwise(const call& c, row_function f, column_function interleaved_function,
                        transpose_function transpose) {
  const int inputs = row_inputs(c.kind);
  loop_nest rows = coalesce(c, 1 + inputs, ~c.over);
  const loop_nest row = coalesce(c, 1 + inputs, c.over);
  if (row.empty()) return;
  rows_run all(c, rows, row, transpose);
  if (all.packs() && run_interleaved_rows(c, rows, row, interleaved_function)) return;
  all.run(f);
}

}  // namespace weft::kernels
