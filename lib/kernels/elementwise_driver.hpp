// Drives strided operands through loops that take contiguous rows: shared by all SIMD targets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/copy_elements.hpp"
#include "kernels/loop_nest.hpp"
#include "kernels/philox_schedule.hpp"
#include "weft/kernels/call.hpp"

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

// The operands of an elementwise call that are not contiguous along n's innermost loop, or whose
// rows are too long. Such an operand is copied to a buffer, several short rows or a part of a long
// one at a time; a result is computed in one.
class staging {
 public:
  // Strides of n are in bytes from here on.
  HWY_INLINE staging(const call& c, loop_nest& n, int inputs, std::ptrdiff_t max_elements,
                     fill_loop fill)
      : c_(c), fill_(fill), inputs_(inputs), length_(n.extent[n.last()]), chunk_(max_elements) {
    for (int o = 0; o <= inputs; ++o) {
      data_[o] = static_cast<std::byte*>(c.operands[o].data);
      size_[o] = bytes(c.operands[o].type);
      stride_[o] = n.inner_stride(o);
      staged_[o] = stride_[o] != 1 || !data_[o];
      // One element is staged once for all chunks of a row.
      if (staged_[o])
        chunk_ = std::min(chunk_, stride_[o] == 0 ? staging_elements : staged_elements);
      has_ids_ = has_ids_ || !data_[o];
      for (int l = 0; l < n.loops; ++l) n.stride[o][l] *= size_[o];
    }
    constexpr std::ptrdiff_t line = 16;  // floats; a vector load across two lines is slower
    pitch_ = (length_ + line - 1) / line * line;
  }

  // Calls f for the elements [begin, end) of `rows` rows, the first of which is at `offset`; `row`
  // has the row strides.
  template <class F>
  HWY_INLINE void run(const std::ptrdiff_t* offset, const std::ptrdiff_t* row, std::ptrdiff_t rows,
                      std::ptrdiff_t begin, std::ptrdiff_t end,
                      const void* (&from)[max_operands - 1], F& f) {
    for (int o = 0; o <= inputs_; ++o)
      next_[o] = staged_[o] && row[o] != 0 ? pitch_ * size_[o] : row[o];
    // All rows, if each can read what is staged; but element ids are those of one row.
    std::ptrdiff_t rows_at_once = rows;
    for (int o = 0; o <= inputs_; ++o)
      if (staged_[o] && row[o] != 0)
        rows_at_once = std::max<std::ptrdiff_t>(staged_elements / pitch_, 1);
    if (has_ids_) rows_at_once = 1;
    for (std::ptrdiff_t r = 0, some; r < rows; r += some) {
      some = std::min(rows_at_once, rows - r);
      for (std::ptrdiff_t i = begin, count; i < end; i += count) {
        count = std::min(chunk_, end - i);
        const auto here = [&](int o) { return offset[o] + r * row[o] + i * stride_[o] * size_[o]; };
        for (int o = 1; o <= inputs_; ++o) {
          from[o - 1] = staged_[o] ? buffer_[o] : data_[o] + here(o);
          // What is broadcast along the row, or along the rows, stays in its buffer.
          const bool is_there = data_[o] && ((stride_[o] == 0 && i > begin) ||
                                             (row[o] == 0 && r > 0 && count == length_));
          if (staged_[o] && !is_there) load(o, here(o), row[o], row[o] == 0 ? 1 : some, count);
        }
        std::byte* const to = staged_[0] ? buffer_[0] : data_[0] + here(0);
        f(some, static_cast<std::size_t>(count), to, next_);
        for (std::ptrdiff_t j = 0; staged_[0] && j < some; ++j)
          copy_elements(c_.operands[0].type, count, data_[0] + (here(0) + j * row[0]), stride_[0],
                        to + j * next_[0], 1);
      }
    }
  }

 private:
  // Copies `count` elements of some rows of input o, the first of which is at `offset`, to a
  // buffer.
  HWY_INLINE void load(int o, std::ptrdiff_t offset, std::ptrdiff_t row, std::ptrdiff_t rows,
                       std::ptrdiff_t count) {
    if (!data_[o]) return iota_ids(offset / size_[o], stride_[o], buffer_[o]);
    // Up to the pitch, so that the vector load of a row's tail lies within one store, from which it
    // is forwarded.
    if (stride_[o] == 0)
      return fill_(c_.operands[o].type, rows, rows > 1 ? pitch_ : count, buffer_[o], next_[o],
                   data_[o] + offset, row);
    for (std::ptrdiff_t r = 0; r < rows; ++r)
      copy_elements(c_.operands[o].type, count, buffer_[o] + r * next_[o], 1,
                    data_[o] + (offset + r * row), stride_[o]);
  }

  alignas(64) std::byte buffer_[max_operands][staging_elements * 4 + overrun];
  const call& c_;
  const fill_loop fill_;
  const int inputs_;
  const std::ptrdiff_t length_;
  std::ptrdiff_t chunk_, pitch_;
  std::byte* data_[max_operands];
  std::ptrdiff_t size_[max_operands], stride_[max_operands];
  bool staged_[max_operands], has_ids_ = false;
  std::ptrdiff_t next_[max_operands]{};  // the row strides of the memory that f gets
};

// run_elementwise where an operand is staged.
template <class F>
HWY_NOINLINE void run_staged(const call& c, loop_nest& n, int inputs, std::ptrdiff_t max_elements,
                             fill_loop fill, const void* (&from)[max_operands - 1], F f) {
  if (copy_unstaged(c, n, fill)) return;
  staging s(c, n, inputs, max_elements, fill);
  for_each_block(n, c.part, row_chunk,
                 [&](const std::ptrdiff_t* offset, const std::ptrdiff_t* row, std::ptrdiff_t rows,
                     std::ptrdiff_t begin,
                     std::ptrdiff_t end) { s.run(offset, row, rows, begin, end, from, f); });
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

// A fusion group; loops[l] computes operation l. Intermediate values are in buffers that stay in
// L1, several short rows of them concatenated.
class fused_run {
 public:
  HWY_INLINE fused_run(const call& c, const elementwise_loop* loops) : c_(c), loops_(loops) {
    for (int l = 0; l < c.fused_count; ++l) {
      if (l + 1 < c.fused_count) results_of_ops_[l] = intermediates_[l];
      if (c.fused_ops[l].kind == op::dropout) {  // once for all rows
        const dropout_params drop = c.fused_ops[l].drop;
        ops_[l].dropout = {philox_schedule(c.random, drop.stream), drop.threshold};
      }
      ops_[l].contiguous = true;
      for (int j = 0; j < 3; ++j) {
        const int v = c.fused_ops[l].from[j];
        ops_[l].values[j] =
            v < max_fused_inputs ? from + v : results_of_ops_ + (v - max_fused_inputs);
        if (j < operands_of_elementwise(c.fused_ops[l].kind) && v < max_fused_inputs)
          inputs = std::max(inputs, v + 1);
      }
    }
  }

  // Computes `rows` rows of n elements, as an elementwise_loop does.
  HWY_INLINE void operator()(std::ptrdiff_t rows, std::size_t n, std::byte* to,
                             const std::ptrdiff_t* step) {
    std::ptrdiff_t rows_at_once = 1;
    if (rows > 1) {
      const auto length = static_cast<std::ptrdiff_t>(n);
      rows_at_once = std::max<std::ptrdiff_t>(staging_elements / length, 1);
      set_row_strides(length, step);
    }
    for (;;) {
      const std::ptrdiff_t count = std::min(rows_at_once, rows);
      for (int l = 0; l < c_.fused_count; ++l) {
        const op_arguments& k = ops_[l];
        const void* const here[]{*k.values[0], *k.values[1], *k.values[2]};
        loops_[l](k.contiguous ? 1 : count, k.contiguous ? n * static_cast<std::size_t>(count) : n,
                  l + 1 == c_.fused_count ? to : intermediates_[l], here, k.step, k.dropout);
      }
      rows -= count;
      if (rows == 0) return;
      to += count * step[0];
      for (int i = 0; i < max_fused_inputs; ++i)
        from[i] = static_cast<const std::byte*>(from[i]) + count * step[1 + i];
    }
  }

  int inputs = 0;
  const void* from[max_fused_inputs]{};

 private:
  void set_row_strides(std::ptrdiff_t length, const std::ptrdiff_t* step) {
    for (int l = 0; l < c_.fused_count; ++l) {
      const fused_op& k = c_.fused_ops[l];
      ops_[l].contiguous = true;
      const auto set_stride = [&](int o, dtype type, bool is_intermediate, std::ptrdiff_t row) {
        const std::ptrdiff_t contiguous_stride = length * bytes(type);
        ops_[l].step[o] = is_intermediate ? contiguous_stride : row;
        ops_[l].contiguous = ops_[l].contiguous && ops_[l].step[o] == contiguous_stride;
      };
      set_stride(0, k.type, l + 1 < c_.fused_count, step[0]);
      for (int j = 0; j < operands_of_elementwise(k.kind); ++j) {
        const int v = k.from[j];
        if (v < max_fused_inputs)
          set_stride(1 + j, c_.operands[1 + v].type, false, step[1 + v]);
        else
          set_stride(1 + j, c_.fused_ops[v - max_fused_inputs].type, true, 0);
      }
    }
  }

  struct op_arguments {
    const void* const* values[3];  // addresses of the pointers to its inputs
    dropout_state dropout;
    bool contiguous;         // all rows are contiguous, and so done as one
    std::ptrdiff_t step[4];  // else row strides in bytes, the result's first
  };

  alignas(64) std::byte intermediates_[max_fused_ops - 1][staging_elements * 4];
  const call& c_;
  const elementwise_loop* const loops_;
  op_arguments ops_[max_fused_ops];
  const void* results_of_ops_[max_fused_ops - 1];
};

// Runs c's fusion group over its loops.
inline void run_fused(const call& c, fill_loop fill, const elementwise_loop* loops) {
  fused_run group(c, loops);
  run_elementwise(c, group.inputs, staging_elements, fill, group.from,
                  [&](std::ptrdiff_t rows, std::size_t n, std::byte* to,
                      const std::ptrdiff_t* step) { group(rows, n, to, step); });
}

}  // namespace weft::kernels
