// How a call's strides become contiguous pieces: what all SIMD targets share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "kernels/nest.hpp"
#include "weft/kernels/call.hpp"

namespace weft::kernels {

// to[i] = f(from[0][i], …) for i < n, all of them contiguous.
using elementwise_loop = void (*)(std::size_t n, void* to, const void* const* from);

// Copies n elements of `size` bytes between strides, which are in elements.
template <std::size_t size>
void copy_strided(std::ptrdiff_t n, std::byte* to, std::ptrdiff_t to_stride, const std::byte* from,
                  std::ptrdiff_t from_stride) {
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    std::memcpy(to, from, size);
    if (i + 1 == n) break;  // a pointer past the operand is not made
    to += to_stride * static_cast<std::ptrdiff_t>(size);
    from += from_stride * static_cast<std::ptrdiff_t>(size);
  }
}

inline void copy_elements(element type, std::ptrdiff_t n, std::byte* to, std::ptrdiff_t to_stride,
                          const std::byte* from, std::ptrdiff_t from_stride) {
  if (bytes(type) == 1) return copy_strided<1>(n, to, to_stride, from, from_stride);
  copy_strided<4>(n, to, to_stride, from, from_stride);
}

// Runs f over c's loops. Operands that are not contiguous along the innermost loop pass, a piece
// at a time, through a buffer that stays in the first level of cache: so there is one loop for each
// operation, whatever the strides.
inline void run_elementwise(const call& c, int inputs, elementwise_loop f) {
  const nest n = canonical(c, 1 + inputs);
  if (n.empty) return;
  constexpr std::ptrdiff_t piece = 256;
  alignas(64) std::byte buffer[max_operands][piece * 4];
  const std::ptrdiff_t length = n.extent[n.last()];
  std::ptrdiff_t stride[max_operands]{};
  bool contiguous = true;
  for (int o = 0; o <= inputs; ++o) {
    stride[o] = n.stride[o][n.last()];
    contiguous = contiguous && stride[o] == 1;
  }
  const std::ptrdiff_t step = contiguous ? length : std::min(piece, length);

  walk(n, n.last(), [&](const std::ptrdiff_t* offset) {
    const auto at = [&](int o, std::ptrdiff_t i) {
      const operand& a = c.operands[o];
      return static_cast<std::byte*>(a.data) + (offset[o] + i * stride[o]) * bytes(a.type);
    };
    for (std::ptrdiff_t i = 0; i < length; i += step) {
      const std::ptrdiff_t count = std::min(step, length - i);
      const void* from[max_operands - 1]{};
      for (int o = 1; o <= inputs; ++o) {
        from[o - 1] = stride[o] == 1 ? at(o, i) : buffer[o];
        // A broadcast value stays in the buffer for the whole loop.
        if (stride[o] != 1 && (stride[o] != 0 || i == 0))
          copy_elements(c.operands[o].type, count, buffer[o], 1, at(o, i), stride[o]);
      }
      std::byte* to = stride[0] == 1 ? at(0, i) : buffer[0];
      f(static_cast<std::size_t>(count), to, from);
      if (to == buffer[0])
        copy_elements(c.operands[0].type, count, at(0, i), stride[0], buffer[0], 1);
    }
  });
}

// What a row function gets besides its rows.
struct row_arguments {
  std::size_t length;
  float* to;
  const float* from[2];
  double scalar;
};
using row_function = void (*)(const row_arguments&);

// Copies the points of a row, in the order of its loops, to or from a packed row.
inline void pack(const nest& row, int o, const float* from, float* to) {
  const std::ptrdiff_t length = row.extent[row.last()];
  walk(row, row.last(), [&](const std::ptrdiff_t* offset) {
    for (std::ptrdiff_t i = 0; i < length; ++i)
      *to++ = from[offset[o] + i * row.stride[o][row.last()]];
  });
}
inline void unpack(const nest& row, const float* from, float* to) {
  const std::ptrdiff_t length = row.extent[row.last()];
  walk(row, row.last(), [&](const std::ptrdiff_t* offset) {
    for (std::ptrdiff_t i = 0; i < length; ++i)
      to[offset[0] + i * row.stride[0][row.last()]] = *from++;
  });
}

// Runs f on each row of c: the loops in c.over. Rows that are not contiguous go through c.scratch,
// which has row_scratch_bytes(c).
inline void run_rowwise(const call& c, int inputs, row_function f) {
  const nest rows = canonical(c, 1 + inputs, ~c.over);
  const nest row = canonical(c, 1 + inputs, c.over);
  if (rows.empty || row.empty) return;
  const auto length = static_cast<std::size_t>(row.points());
  const std::size_t packed_bytes = (length * sizeof(float) + 63) / 64 * 64;
  float* packed[max_operands]{};
  for (int o = 0; o <= inputs; ++o)
    if (row.loops > 1 || row.stride[o][0] != 1)
      packed[o] = reinterpret_cast<float*>(c.scratch + static_cast<std::size_t>(o) * packed_bytes);

  walk(rows, rows.loops, [&](const std::ptrdiff_t* offset) {
    const auto at = [&](int o) { return static_cast<float*>(c.operands[o].data) + offset[o]; };
    row_arguments a{length, packed[0] ? packed[0] : at(0), {}, c.scalar};
    for (int o = 1; o <= inputs; ++o) {
      a.from[o - 1] = packed[o] ? packed[o] : at(o);
      if (packed[o]) pack(row, o, at(o), packed[o]);
    }
    f(a);
    if (packed[0]) unpack(row, packed[0], at(0));
  });
}

}  // namespace weft::kernels
