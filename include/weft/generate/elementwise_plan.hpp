// The plan of a small fusion group of elementwise operations.
#pragma once

#include <cstddef>

#include "weft/generate/nest.hpp"
#include "weft/generate/signature.hpp"

namespace weft::generate {

struct elementwise_plan {
  bool possible = false;
  std::ptrdiff_t length = 1;  // of the rows that vectors run along
  nest rows;
  int inputs = 0;
  bool broadcast[max_fused_inputs]{};  // one element per row
  int links = 0;
  kernels::fused_op link[max_fused_ops]{};
};

// Beyond, the general kernel's setup cost is negligible.
inline constexpr std::ptrdiff_t max_chain_elements = 8192;

// Whether an operation on floats has a generated form: that of its vector_op.
constexpr bool is_generated_function(op o) {
  element_types const types = info(o).types;
  return is_elementwise(o) && (types == element_types::floats || types == element_types::numbers ||
                               types == element_types::same);
}

// Whether every fused operation takes a machine instruction or two.
constexpr bool is_cheap(const elementwise_plan& p) {
  for (int l = 0; l < p.links; ++l)
    if (has_flag(p.link[l].kind, op_flag::expensive) && p.link[l].kind != op::sqrt) return false;
  return true;
}

// For a fixed instruction (is_fixed), whose fused operations begin at `links`.
constexpr elementwise_plan plan_of_elementwise(const instruction& s,
                                               const kernels::fused_op* links) {
  elementwise_plan p;
  if (s.run != kernel::elementwise) return p;
  for (int o = 0; o < s.operands; ++o)
    if (s.operand[o].type != dtype::float32) return p;
  p.inputs = s.operands - 1;
  p.links = s.fused_count;
  for (int l = 0; l < p.links; ++l) p.link[l] = links[l];
  if (p.links == 0) p.link[p.links++] = {s.kind, dtype::float32, {0, 1, 2}, {}};
  for (int l = 0; l < p.links; ++l)
    if (p.link[l].type != dtype::float32 || !is_generated_function(p.link[l].kind)) return p;
  signature const loops = signature_of(s);
  if (loops.points() == 0 || loops.points() > max_chain_elements) return p;
  for (int l = 0; l < loops.loops; ++l) p.rows.push(loop_of(loops, l));
  p.rows.arrange(0);
  if (p.rows.loops > 0) {
    loop const row = p.rows.take(p.rows.loops - 1);
    p.length = row.extent;
    if (row.stride.at[0] != 1) return p;
    for (int i = 0; i < p.inputs; ++i) {
      p.broadcast[i] = row.stride.at[i + 1] == 0;
      if (!p.broadcast[i] && row.stride.at[i + 1] != 1) return p;
    }
  }
  p.possible = true;
  return p;
}

}  // namespace weft::generate
