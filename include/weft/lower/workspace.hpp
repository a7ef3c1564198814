// Assigns memory that the plan of the nodes does not include, at the end of the workspace: scratch
// and staged inputs.
#pragma once

#include "weft/kernels/scratch.hpp"
#include "weft/lower/call.hpp"
#include "weft/lower/lowering.hpp"

namespace weft::detail {

constexpr std::size_t scratch_of(lowering& ctx, const instruction& s) {
  if (s.operands <= kernels::max_operands) return kernels::scratch_bytes(call_at_bounds(ctx.d, s));
  return kernels::scratch_bytes(call_at_bounds<attention_adjoint_slots.size()>(ctx.d, s));
}

constexpr void assign_scratch(lowering& ctx) {
  std::size_t scratch = 0;
  for (int i = 0; i < ctx.d.count.instructions; ++i) {
    const std::size_t b = scratch_of(ctx, ctx.d.instructions[i]);
    if (scratch < b) scratch = b;
  }
  ctx.d.scratch_offset = ctx.p.workspace_bytes;
  ctx.d.scratch_bytes = align(scratch);
  ctx.d.workspace_bytes = ctx.p.workspace_bytes + ctx.d.scratch_bytes;
  for (int i = 0; i < ctx.d.count.inputs; ++i) {
    ctx.d.inputs[i].staging = ctx.d.workspace_bytes;
    ctx.d.workspace_bytes += align(bytes_of(ctx.g.nodes[ctx.g.inputs[i].node]));
  }
}

}  // namespace weft::detail
