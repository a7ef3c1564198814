// From an instruction to the call of its kernel.
#pragma once

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

// The call of an attention or its adjoint, without extents, random state, scratch and part.
// set(operand, operand_ref) fills in one of its operands.
template <class Set>
constexpr kernels::attention_call attention_call_of(const instruction& s, const attention_ref& a,
                                                    Set set) {
  kernels::attention_call c;
  c.loops = s.loops;
  c.scale = s.scale;
  c.soft_cap = s.scalar;
  c.visible.lowest = saturated(a.lowest);
  c.visible.highest = saturated(a.highest);
  c.length_more = saturated(a.length_more);
  c.distances = static_cast<std::ptrdiff_t>(a.distances);
  c.origin = static_cast<std::ptrdiff_t>(a.origin);
  set(c.query, a.query);
  set(c.key, a.key);
  set(c.value, a.value);
  if (a.has_mask) set(c.mask, a.mask);
  if (a.has_bias) set(c.bias, a.bias);
  if (a.has_offset) set(c.offset, a.offset);
  if (a.has_begins) set(c.begins, a.begins);
  if (a.has_lengths) set(c.lengths, a.lengths);
  if (a.has_relative) set(c.relative, a.relative);
  if (a.has_sink) set(c.sink, a.sink);
  set(c.element_ids, a.numbers);
  c.drop = a.drop;
  set(c.result, a.result);
  set(c.statistics, a.statistics);
  if (s.run == kernel::attention) return c;
  set(c.g, a.g);
  set(c.query_gradient, a.query_gradient);
  set(c.key_gradient, a.key_gradient);
  set(c.value_gradient, a.value_gradient);
  if (a.has_bias_gradient) set(c.bias_gradient, a.bias_gradient);
  if (a.has_relative_gradient) set(c.relative_gradient, a.relative_gradient);
  if (a.has_sink_gradient) set(c.sink_gradient, a.sink_gradient);
  return c;
}

// The call of an instruction with all lengths at their bounds and without pointers, to determine
// the largest scratch and packed size that it needs.
constexpr kernels::call call_at_bounds(const instruction& s) {
  kernels::call c;
  c.kind = s.kind;
  c.loops = s.loops;
  c.over = s.over;
  for (int l = 0; l < s.loops; ++l) c.extent[l] = static_cast<std::ptrdiff_t>(s.extent[l].most);
  for (int o = 0; o < s.operands; ++o) {
    c.operands[o].type = s.operand[o].type;
    for (int l = 0; l < s.loops; ++l) c.operands[o].stride[l] = s.operand[o].stride[l];
  }
  c.scalar = s.scalar;
  c.scale = s.scale;
  c.epilogue = s.epilogue;
  c.axis_extent = static_cast<std::ptrdiff_t>(s.axis.most);
  c.axis_stride = s.axis_stride;
  return c;
}

// The same for an attention or its adjoint.
constexpr kernels::attention_call call_at_bounds(const instruction& s, const attention_ref& a) {
  auto c = attention_call_of(s, a, [&](kernels::operand& to, const operand_ref& from) {
    to.type = from.type;
    for (int l = 0; l < s.loops; ++l) to.stride[l] = from.stride[l];
  });
  for (int l = 0; l < s.loops; ++l) c.extent[l] = static_cast<std::ptrdiff_t>(s.extent[l].most);
  return c;
}

}  // namespace weft
