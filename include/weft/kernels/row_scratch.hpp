// The bytes of scratch of reductions and rowwise operations.
#pragma once

#include <cstddef>

#include "weft/kernels/call.hpp"

namespace weft::kernels {

inline constexpr int max_row_inputs = 4;

// The inputs that a rowwise operation may have, those that it can do without among them.
constexpr int row_inputs(op kind) {
  switch (kind) {
    case op::softmax:  // x, mask
    case op::softmax_adjoint:
      return 2;
    case op::log_softmax_adjoint:  // y, g, indices
      return 3;
    case op::normalize:  // x, gain, bias, addend
    case op::rms_normalize:
    case op::normalize_adjoint:  // x, g, gain, addend
    case op::rms_normalize_adjoint:
      return 4;
    default:
      return 1;
  }
}

constexpr std::size_t packed_row_bytes(std::size_t length) {
  return (length * sizeof(float) + 63) / 64 * 64;
}

// A rowwise operation has room for one packed row of each operand, whether its strides make it pack
// them or not: so the size depends on extents alone, and grows with them. Reductions need none.
constexpr std::size_t row_scratch_bytes(const call& c) {
  if (!is_rowwise(c.kind)) return 0;
  std::size_t length = 1;
  for (int l = 0; l < c.loops; ++l)
    if (c.over >> l & 1u) length *= static_cast<std::size_t>(c.extent[l]);
  return static_cast<std::size_t>(1 + row_inputs(c.kind)) * packed_row_bytes(length);
}

}  // namespace weft::kernels
