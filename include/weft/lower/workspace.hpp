// Assigns memory that the plan of the nodes does not include: scratch and staged inputs, at the end
// of the workspace, and packed parameters.
#pragma once

#include "weft/kernels/attention_adjoint_scratch.hpp"
#include "weft/kernels/attention_scratch.hpp"
#include "weft/kernels/scratch.hpp"
#include "weft/lower/call.hpp"
#include "weft/lower/lowering.hpp"

namespace weft::detail {

constexpr std::size_t scratch_of(lowering& ctx, const instruction& s) {
  if (s.run != kernel::attention && s.run != kernel::attention_adjoint)
    return kernels::scratch_bytes(call_at_bounds(s));
  kernels::attention_call const c = call_at_bounds(s, ctx.d.attentions[s.attention]);
  return s.run == kernel::attention ? kernels::attention_scratch_bytes(c)
                                    : kernels::attention_adjoint_scratch_bytes(c);
}

constexpr void assign_scratch(lowering& ctx) {
  std::size_t scratch = 0;
  for (int i = 0; i < ctx.d.count.instructions; ++i) {
    std::size_t const b = scratch_of(ctx, ctx.d.instructions[i]);
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

// Assigns packed copies to parameters that are the right-hand operand (k x n) of a dot and whose
// extents are all fixed.
constexpr void assign_packed_parameters(lowering& ctx) {
  for (int i = 0; i < ctx.d.count.instructions; ++i) {
    instruction& s = ctx.d.instructions[i];
    if (s.run != kernel::dot) continue;
    kernels::call const c = call_at_bounds(s);
    operand_ref const& columns = s.operand[kernels::rhs_operand(c)];
    bool pack =
        columns.where == block::parameters && columns.shift_count == 0 && kernels::can_be_packed(c);
    for (int l = 0; l < s.loops; ++l)
      pack = pack && (columns.stride[l] == 0 || s.extent[l].fixed());
    if (!pack) continue;
    s.packed = ctx.d.packed_bytes;
    // Half of every offset, which bfloat16 uses, is aligned too.
    ctx.d.packed_bytes +=
        kernels::round_up(kernels::packed_bytes(c, precision::float32), 2 * alignment);
  }
}

}  // namespace weft::detail
