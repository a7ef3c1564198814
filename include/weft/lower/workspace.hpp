// Assigns memory that the plan of the nodes does not include: scratch and staged inputs, at the end
// of the workspace, and packed parameters.
#pragma once

#include <utility>

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

// Assigns packed copies to parameters that are the right-hand operand (k x n) of a dot and whose
// extents are all fixed: in the parameters' order, so that two programs with the same parameters,
// such as a prefill and a step, can share what one of them has packed.
constexpr void assign_packed_parameters(lowering& ctx) {
  std::size_t
      next[max_parameters]{};  // the size of each parameter's copies, then the offset of one
  for (int i = 0; i < ctx.d.count.instructions; ++i) {
    instruction& s = ctx.d.instructions[i];
    if (s.run != kernel::dot) continue;
    const auto c = call_at_bounds(ctx.d, s);
    s.rhs = static_cast<std::int8_t>(kernels::rhs_operand(c));
    const operand_ref& columns = rhs_of(ctx.d, s);
    bool pack =
        columns.where == block::parameters && columns.shift_count == 0 && kernels::can_be_packed(c);
    for (int l = 0; l < s.loops; ++l)
      pack = pack && (columns.stride[l] == 0 || s.extent[l].fixed());
    if (!pack) continue;
    // Half of every offset, which bfloat16 uses, is aligned too.
    const std::size_t bytes =
        kernels::round_up(kernels::packed_bytes(c, precision::float32), 2 * alignment);
    s.packed = next[columns.leaf];
    next[columns.leaf] += bytes;
    ctx.d.packed_bytes += bytes;
  }
  std::size_t before = 0;
  for (int p = 0; p < ctx.d.count.parameters; ++p) before += std::exchange(next[p], before);
  for (int i = 0; i < ctx.d.count.instructions; ++i) {
    instruction& s = ctx.d.instructions[i];
    if (s.packed != not_packed) s.packed += next[rhs_of(ctx.d, s).leaf];
  }
}

// Whether an operand is a whole parameter [rows, columns], and its loops are, but for those that it
// does not have, one along the rows and one along the columns. Returns their numbers, or -1.
struct loops_of_matrix {
  int rows = -1, columns = -1;
};
constexpr loops_of_matrix loops_of(const instruction& s, const operand_ref& r,
                                   const parameter_ref& p) {
  loops_of_matrix found;
  if (p.rank != 2 || p.extent[0] < 2 || p.extent[1] < 2 || r.offset != 0 || r.shift_count > 0)
    return found;
  const auto is = [&](int l, std::size_t stride, std::size_t extent) {
    return r.stride[l] == static_cast<std::ptrdiff_t>(stride) && s.extent[l].fixed() &&
           s.extent[l].most == extent;
  };
  for (int l = 0; l < s.loops; ++l) {
    if (r.stride[l] == 0) continue;
    if (found.rows < 0 && is(l, p.extent[1], p.extent[0]))
      found.rows = l;
    else if (found.columns < 0 && is(l, 1, p.extent[1]))
      found.columns = l;
    else
      return {};
  }
  return found;
}

// Whether a contraction packs the parameter, its operand `rhs`, with its rows as columns.
constexpr bool packs_rows(const instruction& s, const operand_ref& result, const operand_ref& rhs,
                          const parameter_ref& p) {
  const loops_of_matrix l = loops_of(s, rhs, p);
  return l.rows >= 0 && l.columns >= 0 && result.stride[l.rows] != 0 &&
         result.stride[l.columns] == 0;
}

// Whether a gather reads rows of the whole parameter.
constexpr bool gathers_rows(const instruction& s, const operand_ref& table,
                            const parameter_ref& p) {
  const loops_of_matrix l = loops_of(s, table, p);
  return l.rows < 0 && l.columns >= 0 && s.axis.fixed() && s.axis.most == p.extent[0] &&
         s.axis_stride == static_cast<std::ptrdiff_t>(p.extent[1]);
}

// Finds how each parameter is read.
constexpr void find_uses_of_parameters(lowering& ctx) {
  parameter_ref* const all = ctx.d.parameters;
  for (int i = 0; i < ctx.d.count.parameters; ++i) all[i].rows_packed_by = -1;
  for (int i = 0; i < ctx.d.count.instructions; ++i) {
    const instruction& s = ctx.d.instructions[i];
    if (s.packed == not_packed) continue;
    const operand_ref& rhs = rhs_of(ctx.d, s);
    parameter_ref& p = all[rhs.leaf];
    if (p.rows_packed_by < 0 && packs_rows(s, *operands_of(ctx.d, s), rhs, p)) p.rows_packed_by = i;
  }
  for (int i = 0; i < ctx.d.count.instructions; ++i) {
    const instruction& s = ctx.d.instructions[i];
    const operand_ref* const operands = operands_of(ctx.d, s);
    const operand_ref* const packed = s.packed == not_packed ? nullptr : &rhs_of(ctx.d, s);
    for (int o = 0; o < s.operands; ++o) {
      const operand_ref& r = operands[o];
      if (r.where != block::parameters || &r == packed) continue;
      const bool of_packed = s.run == kernel::gather && o == 1 && all[r.leaf].rows_packed_by >= 0 &&
                             gathers_rows(s, r, all[r.leaf]);
      if (!of_packed) all[r.leaf].read_as_floats = true;
    }
  }
}

}  // namespace weft::detail
