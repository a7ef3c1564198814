// What the entries of one class have in common: an entry of the operation table derives from its
// class, and says what differs. See graph/ops.hpp.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/op.hpp"

namespace weft {

// Said in an entry instead of a function `adjoint`: what reaches the operation is not
// differentiable, or is an adjoint itself and has no second derivative.
struct no_adjoint {};

// Nothing is computed. The memory plan and the lowering know each leaf.
struct leaf_operation {
  using adjoint = no_adjoint;
  static constexpr void lower(auto&, int) {}
};

// A view has a function view(v) that gives the memory plan its strides and offset; see
// passes/memory_layout.hpp. It computes nothing unless it owns a buffer.
struct view_operation {
  static constexpr void lower(auto&, int) {}
};

struct source_operation {
  using adjoint = no_adjoint;
  static constexpr double flops(const auto&, const auto&) { return 0; }
};

struct elementwise_operation {
  static constexpr double flops_per_element = 1;
  static constexpr void lower(auto& ctx, int id) { lower_elementwise(ctx, id); }
};

// Over reduced_axes.
struct reduction_operation {
  static constexpr double flops(const auto& g, const auto& n) {
    return static_cast<double>(g.nodes[n.operand[0]].axes.extent()) * n.operands;
  }
  static constexpr void lower(auto& ctx, int id) { lower_reduction(ctx, id); }
};

// Along row_axes, independently for each row.
struct rowwise_operation {
  static constexpr void lower(auto& ctx, int id) { lower_rowwise(ctx, id); }
};

struct indexed_operation {
  static constexpr double flops(const auto&, const auto&) { return 0; }
};

struct assembly_operation {
  static constexpr double flops(const auto&, const auto&) { return 0; }
};

// See graph/graph.hpp. The adjoint of a scan is one of its whole body; see
// passes/differentiate.hpp.
struct scan_operation {
  using adjoint = no_adjoint;
  static constexpr double flops(const auto&, const auto&) { return 0; }
};

}  // namespace weft
#include "weft/header_end.hpp"
