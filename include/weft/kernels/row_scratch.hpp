// The bytes of scratch of reductions and rowwise operations.
#pragma once

#include <cstddef>

#include "weft/kernels/call.hpp"

namespace weft::kernels {

// A rowwise operation has room for one packed row of each operand, whether its strides make it pack
// them or not: so the size depends on extents alone, and grows with them. Reductions need none.
constexpr std::size_t row_scratch_bytes(const call& c) {
  if (!is_rowwise(c.kind)) return 0;
  std::size_t row = sizeof(float);
  for (int l = 0; l < c.loops; ++l)
    if (c.over >> l & 1u) row *= static_cast<std::size_t>(c.extent[l]);
  const std::size_t operands = c.kind >= op::softmax_adjoint ? 3 : 2;
  return operands * ((row + 63) / 64 * 64);
}

}  // namespace weft::kernels
