// From an instruction to the call of its kernel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "weft/kernels/dot_blocking.hpp"
#include "weft/lower/program.hpp"

namespace weft {

// A graph's distances between positions have 64 bits, whose least and greatest mean that there is
// no limit: so do those of a machine's index, which can have fewer.
constexpr std::ptrdiff_t saturated(std::int64_t distance) {
  return static_cast<std::ptrdiff_t>(std::clamp<std::int64_t>(distance, PTRDIFF_MIN, PTRDIFF_MAX));
}

// The call of an attention or its adjoint, without extents, random state, scratch and part.
// set(operand, operand_ref) fills in one of its operands.
template <class Set>
constexpr kernels::attention_call attention_call_of(const instruction& s,
                                                    const attention_attributes& a,
                                                    const operand_ref* operands, Set set) {
  kernels::attention_call c;
  c.loops = s.loops;
  c.scale = s.scale;
  c.soft_cap = s.scalar;
  c.visible.lowest = saturated(a.lowest);
  c.visible.highest = saturated(a.highest);
  c.length_more = saturated(a.length_more);
  c.distances = static_cast<std::ptrdiff_t>(a.distances);
  c.origin = static_cast<std::ptrdiff_t>(a.origin);
  c.drop = a.drop;
  for (int o = 0; o < s.operands; ++o)
    if (operands[o].where != block::none) set(c.operands[o], operands[o]);
  return c;
}

// The call of an instruction with all lengths at their bounds and without pointers, to determine
// the largest scratch and packed size that it needs.
constexpr kernels::call call_at_bounds(const instruction& s, const operand_ref* operands) {
  kernels::call c;
  c.kind = s.kind;
  c.loops = s.loops;
  c.over = s.over;
  for (int l = 0; l < s.loops; ++l) c.extent[l] = static_cast<std::ptrdiff_t>(s.extent[l].most);
  for (int o = 0; o < s.operands; ++o) {
    c.operands[o].type = operands[o].type;
    for (int l = 0; l < s.loops; ++l) c.operands[o].stride[l] = operands[o].stride[l];
  }
  c.scalar = s.scalar;
  c.scale = s.scale;
  c.epilogue = s.epilogue;
  c.axis_extent = static_cast<std::ptrdiff_t>(s.axis.most);
  c.axis_stride = s.axis_stride;
  return c;
}

// The same for an attention or its adjoint.
constexpr kernels::attention_call call_at_bounds(const instruction& s,
                                                 const attention_attributes& a,
                                                 const operand_ref* operands) {
  auto c = attention_call_of(s, a, operands, [&](kernels::operand& to, const operand_ref& from) {
    to.type = from.type;
    for (int l = 0; l < s.loops; ++l) to.stride[l] = from.stride[l];
  });
  for (int l = 0; l < s.loops; ++l) c.extent[l] = static_cast<std::ptrdiff_t>(s.extent[l].most);
  return c;
}

template <class Tables>
constexpr kernels::call call_at_bounds(const Tables& tables, const instruction& s) {
  return call_at_bounds(s, operands_of(tables, s));
}

// The operand of a contraction that can be packed.
template <class Tables>
constexpr const operand_ref& rhs_of(const Tables& tables, const instruction& s) {
  return operands_of(tables, s)[kernels::rhs_operand(call_at_bounds(tables, s))];
}

}  // namespace weft
