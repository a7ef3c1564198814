// Loops with constant extents and strides.
#pragma once

#include "weft/generate/signature.hpp"
#include "weft/kernels/loop_nest.hpp"

namespace weft::generate {

// The operands of an instruction, or of an attention, which has some more.
inline constexpr int max_nest_operands = 7;
static_assert(max_operands <= max_nest_operands);

using loop = kernels::basic_loop<max_nest_operands>;
using loop_nest = kernels::basic_loop_nest<max_nest_operands>;

// Removes loop l and returns it.
constexpr loop remove(loop_nest& n, int l) {
  const loop removed = n.at(l);
  for (; l < n.last(); ++l) n.set(l, n.at(l + 1));
  n.set(--n.loops, {0, {}});
  return removed;
}

// Sorts the loops by their strides in operand `key`, the largest outermost, and coalesces them.
constexpr void sort_and_coalesce(loop_nest& n, int key) {
  loop_nest sorted{};
  kernels::coalesce_into(
      sorted, n.loops, n.extent, ~0u, [&](int l) { return n.stride[key][l]; },
      [&](int o, int l) { return n.stride[o][l]; });
  n = sorted;
}

constexpr loop loop_of(const signature& s, int l) {
  loop of{s.extent[l], {}};
  for (int o = 0; o < s.operands; ++o) of.stride[o] = s.stride[o][l];
  return of;
}

}  // namespace weft::generate
