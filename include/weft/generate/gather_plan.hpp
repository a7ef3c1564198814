// The plan of a small gather of rows, an embedding.
#pragma once

#include <cstddef>

#include "weft/generate/loop_nest.hpp"
#include "weft/generate/signature.hpp"

namespace weft::generate {

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

}  // namespace weft::generate
