// From an instruction to the call of its kernel.
#pragma once
#include "weft/header_begin.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "weft/lower/program.hpp"

namespace weft {

// A graph's distances between positions have 64 bits, whose least and greatest mean that there is
// no limit: so do those of a machine's index, which can have fewer.
constexpr std::ptrdiff_t saturated(std::int64_t distance) {
  return static_cast<std::ptrdiff_t>(std::clamp<std::int64_t>(distance, PTRDIFF_MIN, PTRDIFF_MAX));
}

// Fills in what does not depend on a run.
template <class Tables>
constexpr void describe(kernels::call& c, const Tables& tables, const instruction& s) {
  c.kind = s.kind;
  c.loops = s.loops;
  c.over = s.over;
  c.scalar = s.scalar;
  c.scale = s.scale;
  c.epilogue = s.epilogue;
  c.fused_count = s.fused_count;
  c.axis_stride = s.axis_stride;
  if (!is_attention(s.kind)) return;
  const lowered_attention& a = tables.attentions[s.attention];
  c.attention = {{saturated(a.lowest), saturated(a.highest), 0},
                 saturated(a.length_more),
                 static_cast<std::ptrdiff_t>(a.distances),
                 static_cast<std::ptrdiff_t>(a.origin),
                 a.drop};
}

// The call of an instruction with all lengths at their bounds and without pointers, to determine
// the largest scratch and panels that it needs.
template <std::size_t Most = kernels::max_operands, class Tables>
constexpr kernels::owning_call<Most> call_at_bounds(const Tables& tables, const instruction& s) {
  kernels::owning_call<Most> c;
  describe(c, tables, s);
  const operand_ref* const operands = operands_of(tables, s);
  for (int l = 0; l < s.loops; ++l) c.extent[l] = static_cast<std::ptrdiff_t>(s.extent[l].most);
  for (int o = 0; o < s.operands; ++o) {
    c.operands[o].type = operands[o].type;
    for (int l = 0; l < s.loops; ++l) c.operands[o].stride[l] = operands[o].stride[l];
  }
  c.axis_extent = static_cast<std::ptrdiff_t>(s.axis.most);
  return c;
}

// Whether gathers alone read the parameter, so that it is packed as a table.
template <class Tables>
constexpr bool is_table(const Tables& tables, const parameter_ref& p) {
  return !p.read_as_floats && p.rows_packed_by >= 0 &&
         tables.instructions[p.rows_packed_by].run == kernel::gather;
}

// The operand of a contraction or a gather that can be packed.
template <class Tables>
constexpr const operand_ref& rhs_of(const Tables& tables, const instruction& s) {
  return operands_of(tables, s)[s.rhs];
}

}  // namespace weft
#include "weft/header_end.hpp"
