// What lies behind the plan of the nodes: scratch, staged inputs, packed parameters.
#pragma once

#include "weft/kernels/attention_adjoint_scratch.hpp"
#include "weft/kernels/attention_scratch.hpp"
#include "weft/kernels/scratch.hpp"
#include "weft/lower/call.hpp"
#include "weft/lower/drafting.hpp"

namespace weft::detail {

constexpr std::size_t scratch_of(drafting& in, const step& s) {
  if (s.run != kernel::attention && s.run != kernel::attention_adjoint)
    return kernels::scratch_bytes(call_at_bounds(s));
  kernels::attention_call const c = call_at_bounds(s, in.d.attentions[s.attention]);
  return s.run == kernel::attention ? kernels::attention_scratch_bytes(c)
                                    : kernels::attention_adjoint_scratch_bytes(c);
}

constexpr void lay_out_workspace(drafting& in) {
  std::size_t scratch = 0;
  for (int i = 0; i < in.d.count.steps; ++i) {
    std::size_t const b = scratch_of(in, in.d.steps[i]);
    if (scratch < b) scratch = b;
  }
  in.d.scratch_offset = in.p.workspace_bytes;
  in.d.scratch_bytes = align(scratch);
  in.d.workspace_bytes = in.p.workspace_bytes + in.d.scratch_bytes;
  for (int i = 0; i < in.d.count.inputs; ++i) {
    in.d.inputs[i].staging = in.d.workspace_bytes;
    in.d.workspace_bytes += align(bytes_of(in.g.nodes[in.g.inputs[i].node]));
  }
}

// Parameters that give the columns of a contraction, with axes whose extents are known.
constexpr void lay_out_packed(drafting& in) {
  for (int i = 0; i < in.d.count.steps; ++i) {
    step& s = in.d.steps[i];
    if (s.run != kernel::dot) continue;
    kernels::call const c = call_at_bounds(s);
    operand_ref const& columns = s.operand[kernels::columns_operand(c)];
    bool pack =
        columns.where == block::parameters && columns.shift_count == 0 && kernels::can_be_packed(c);
    for (int l = 0; l < s.loops; ++l)
      pack = pack && (columns.stride[l] == 0 || s.extent[l].fixed());
    if (!pack) continue;
    s.packed = in.d.packed_bytes;
    // Half of every offset is aligned too.
    in.d.packed_bytes +=
        kernels::round_up(kernels::packed_bytes(c, precision::float32), 2 * alignment);
  }
}

}  // namespace weft::detail
