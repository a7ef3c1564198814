// The bytes of scratch of reductions and rowwise operations.
#pragma once
#include "weft/header_begin.hpp"

#include <algorithm>
#include <cstddef>

#include "weft/kernels/call.hpp"

namespace weft::kernels {

inline constexpr int max_row_inputs = 4;

// The number of inputs that a rowwise operation may have, optional ones included.
constexpr int row_inputs(op kind) {
  return most_operands(kind);
}

constexpr std::size_t packed_row_bytes(std::size_t length) {
  return (length * sizeof(float) + 63) / 64 * 64;
}
// Several rows are copied at once, since adjacent elements of interleaved rows share cache lines:
// as many as a line has floats, or fewer if rows are long, so that the copied operands stay in the
// L1 cache.
constexpr std::size_t packed_rows_bytes(std::size_t rows, std::size_t length) {
  const std::size_t row = packed_row_bytes(length), limit = 16 << 10, line = 64 / sizeof(float);
  return std::min(std::min(rows, line) * row, std::max(row, limit));
}

// A rowwise operation has capacity for copied rows of each operand, whether or not its strides make
// it copy them: so the size depends on extents only, and grows with them. Reductions need none.
constexpr std::size_t row_scratch_bytes(const call& c) {
  if (!is_rowwise(c.kind)) return 0;
  std::size_t rows = 1, length = 1;
  for (int l = 0; l < c.loops; ++l)
    (c.over >> l & 1u ? length : rows) *= static_cast<std::size_t>(c.extent[l]);
  return static_cast<std::size_t>(1 + row_inputs(c.kind)) * packed_rows_bytes(rows, length);
}

}  // namespace weft::kernels
#include "weft/header_end.hpp"
