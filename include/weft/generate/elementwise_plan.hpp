// The plan of a small fusion group of elementwise operations.
#pragma once

#include <cstddef>

#include "weft/generate/loop_nest.hpp"
#include "weft/generate/signature.hpp"

namespace weft::generate {

struct elementwise_plan {
  bool supported = false;
  std::ptrdiff_t length = 1;  // of the rows that vectors run along
  loop_nest rows{};
  int inputs = 0;
  bool broadcast[max_fused_inputs]{};  // one element per row
  int fused_count = 0;
  kernels::fused_op fused[max_fused_ops]{};
};

// Beyond, the general kernel's setup cost is negligible.
inline constexpr std::ptrdiff_t max_fused_elements = 8192;

// Whether an operation on floats has a generated form: that of its vector_op.
constexpr bool is_generated_op(op o) {
  const element_types types = info(o).types;
  return is_elementwise(o) && (types == element_types::floats || types == element_types::numbers ||
                               types == element_types::same);
}

// For a fixed instruction (is_fixed), whose fused operations begin at `fused_ops`.
constexpr elementwise_plan plan_of_elementwise(const instruction& s, const operand_ref* operands,
                                               const kernels::fused_op* fused_ops) {
  elementwise_plan p;
  if (s.run != kernel::elementwise) return p;
  for (int o = 0; o < s.operands; ++o)
    if (operands[o].type != dtype::float32) return p;
  p.inputs = s.operands - 1;
  p.fused_count = s.fused_count;
  for (int l = 0; l < p.fused_count; ++l) p.fused[l] = fused_ops[l];
  if (p.fused_count == 0) p.fused[p.fused_count++] = {s.kind, dtype::float32, {0, 1, 2}, {}};
  for (int l = 0; l < p.fused_count; ++l)
    if (p.fused[l].type != dtype::float32 || !is_generated_op(p.fused[l].kind)) return p;
  const signature loops = signature_of(s, operands);
  if (loops.points() == 0 || loops.points() > max_fused_elements) return p;
  for (int l = 0; l < loops.loops; ++l) p.rows.push(loop_of(loops, l));
  sort_and_coalesce(p.rows, 0);
  if (p.rows.loops > 0) {
    const loop row = remove(p.rows, p.rows.last());
    p.length = row.extent;
    if (row.stride[0] != 1) return p;
    for (int i = 0; i < p.inputs; ++i) {
      p.broadcast[i] = row.stride[i + 1] == 0;
      if (!p.broadcast[i] && row.stride[i + 1] != 1) return p;
    }
  }
  p.supported = true;
  return p;
}

}  // namespace weft::generate
