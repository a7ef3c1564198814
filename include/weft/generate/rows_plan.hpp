// The plans of small instructions along rows: softmax and normalization, gathers of rows (an
// embedding), rotations of pairs (graph/rotation.hpp), fusion groups of elementwise operations.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>

#include "weft/generate/signature.hpp"

namespace weft::generate {

struct rows_plan {
  bool supported = false;
  std::ptrdiff_t length = 1;
  loop rows;          // the innermost loop over rows
  loop_nest outer{};  // all other loops
};

inline constexpr std::ptrdiff_t max_rows_elements = 8192;

// Rows of at most max_length elements, as they stay in registers from load to store.
constexpr rows_plan plan_of_rows(const signature& s, std::ptrdiff_t max_length) {
  rows_plan p;
  if (s.run != kernel::rowwise || (s.kind != op::softmax && !is_normalization(s.kind))) return p;
  if (s.points() == 0 || s.points() > max_rows_elements) return p;
  loop_nest row{};
  for (int l = 0; l < s.loops; ++l) (s.over >> l & 1u ? row : p.outer).push(loop_of(s, l));
  sort_and_coalesce(row, 0);
  sort_and_coalesce(p.outer, 0);
  if (p.outer.loops > 0) p.rows = remove(p.outer, p.outer.last());
  if (row.loops != 1) return p;
  for (int o = 0; o < s.operands; ++o)
    if (row.stride[o][0] != 1) return p;
  if (s.operands > (s.kind == op::softmax ? 2 : 4)) return p;  // has a mask or an addend
  p.length = row.extent[0];
  p.supported = p.length <= max_length;
  return p;
}

struct gather_plan {
  bool supported = false;
  std::ptrdiff_t length = 1;              // of the rows, contiguous in the table and the result
  loop_nest rows{};                       // strides of the result, the table and the indices
  std::ptrdiff_t extent = 0, stride = 0;  // of the indexed axis
};

inline constexpr std::ptrdiff_t max_gathered_elements = 8192;

// For a fixed instruction (is_fixed).
constexpr gather_plan plan_of_gather(const instruction& s, const operand_ref* operands) {
  gather_plan p;
  if (s.run != kernel::gather || operands[2].where == block::numbers) return p;
  for (int o = 0; o < 2; ++o)
    if (bytes(operands[o].type) != 4 || operands[o].where == block::numbers) return p;
  const signature loops = signature_of(s, operands);
  if (loops.points() == 0 || loops.points() > max_gathered_elements) return p;
  for (int l = 0; l < loops.loops; ++l) p.rows.push(loop_of(loops, l));
  sort_and_coalesce(p.rows, 0);
  if (p.rows.loops == 0) return p;
  const loop row = remove(p.rows, p.rows.last());
  p.length = row.extent;
  p.extent = static_cast<std::ptrdiff_t>(s.axis.most);
  p.stride = s.axis_stride;
  p.supported = row.stride[0] == 1 && row.stride[1] == 1 && row.stride[2] == 0;
  return p;
}

struct rotate_plan {
  bool supported = false;
  std::ptrdiff_t pairs = 1, elements = 2;  // elements after the pairs are copied
  std::ptrdiff_t partner = 1;              // offset from a pair's first element to its second
  loop_nest rows{};                        // strides of the result, x, the cosines and the sines
};

inline constexpr std::ptrdiff_t max_rotated_pairs = 4096;

// For a fixed instruction (is_fixed) whose elements are contiguous, and its angles too.
constexpr rotate_plan plan_of_rotate(const instruction& s, const operand_ref* operands) {
  rotate_plan p;
  if (s.run != kernel::rotate) return p;
  std::ptrdiff_t points = 1;
  for (int l = 0; l < s.loops; ++l) {
    loop here{static_cast<std::ptrdiff_t>(s.extent[l].most), {}};
    for (int o = 0; o < s.operands; ++o) here.stride[o] = operands[o].stride[l];
    points *= here.extent;
    if ((s.over >> l & 1u) == 0) {
      if (here.extent != 1) p.rows.push(here);
      continue;
    }
    p.pairs = here.extent;
    const std::ptrdiff_t next = s.axis_stride == 1 ? 2 : 1;
    for (int o = 0; o < 2; ++o)
      if (here.stride[o] != next) return p;
    for (int o = 2; o < 4; ++o)
      if (here.stride[o] != 1) return p;
  }
  p.partner = s.axis_stride;
  p.elements = static_cast<std::ptrdiff_t>(s.axis.most);
  sort_and_coalesce(p.rows, 0);
  p.supported = points > 0 && points <= max_rotated_pairs;
  return p;
}

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
#include "weft/header_end.hpp"
