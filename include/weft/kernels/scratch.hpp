// The bytes of scratch that a call needs.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>

#include "weft/kernels/attention_adjoint_scratch.hpp"
#include "weft/kernels/attention_scratch.hpp"
#include "weft/kernels/call.hpp"
#include "weft/kernels/dot_blocking.hpp"
#include "weft/kernels/row_scratch.hpp"
#include "weft/kernels/scatter_scratch.hpp"

namespace weft::kernels {

// Depends on extents and strides only, not on pointers. It never shrinks when an extent grows, so
// the plan passes the bound of an axis. If a dot's rhs is packed, see packed_dot_scratch_bytes.
constexpr std::size_t scratch_bytes(const call& c) {
  if (c.kind == op::dot) return dot_scratch_bytes(c);
  if (c.kind == op::scatter_add) return scatter_scratch_bytes(c);
  if (c.kind == op::attention) return attention_scratch_bytes(c);
  if (c.kind == op::attention_adjoint) return attention_adjoint_scratch_bytes(c);
  if (is_rowwise(c.kind) || is_reduction(c.kind)) return row_scratch_bytes(c);
  return 0;
}

}  // namespace weft::kernels
#include "weft/header_end.hpp"
