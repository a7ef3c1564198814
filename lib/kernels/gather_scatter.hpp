// gather, scatter_add, write and zero: what all SIMD targets share.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/loop_nest.hpp"
#include "kernels/partition.hpp"
#include "weft/kernels/call.hpp"

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
    std::ptrdiff_t end = std::min(c.extent[row], c.axis_extent - start);
    if (has_count)
      end = std::min<std::ptrdiff_t>(end, static_cast<const std::int32_t*>(count.data)[offset[3]]);
    const std::ptrdiff_t begin = std::max<std::ptrdiff_t>(0, -start);
    if (begin >= end) return;
    std::ptrdiff_t extent[max_loops];
    std::copy_n(c.extent, c.loops, extent);
    extent[row] = end - begin;
    const std::ptrdiff_t to = offset[0] + (start + begin) * c.axis_stride;
    const std::ptrdiff_t from = offset[1] + begin * c.operands[1].stride[row];
    copy_elements(coalesce(c, 2, ~outer_loops, 0, extent), size, c.part,
                  static_cast<std::byte*>(c.operands[0].data) + to * size,
                  static_cast<const std::byte*>(c.operands[1].data) + from * size);
  });
}

}  // namespace weft::kernels
