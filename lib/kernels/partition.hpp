// A partition of a call, as a call of its own.
#pragma once

#include <algorithm>
#include <cstddef>

#include "weft/kernels/call.hpp"

namespace weft::kernels {

// The unit in which a loop is partitioned: a cache line if it is contiguous in the result, so that
// no two threads write to one, else one iteration.
inline std::ptrdiff_t unit_of(const call& c, int loop) {
  return c.operands[0].stride[loop] == 1 ? 64 / bytes(c.operands[0].type) : 1;
}
inline std::ptrdiff_t units_of(const call& c, int loop) {
  const std::ptrdiff_t unit = unit_of(c, loop);
  return (c.extent[loop] + unit - 1) / unit;
}

// Among the loops along which the result moves, the first with the most units; -1 if there is none.
inline int longest_result_loop(const call& c) {
  int longest = -1;
  for (int l = 0; l < c.loops; ++l)
    if (c.operands[0].stride[l] != 0 && (longest < 0 || units_of(c, l) > units_of(c, longest)))
      longest = l;
  return longest;
}

// c restricted to its part's range of one loop, and no longer partitioned.
inline owning_call<> slice_loop(const call& whole, int loop) {
  owning_call<> c(whole, whole.operands);
  const std::ptrdiff_t unit = unit_of(c, loop);
  const auto [first, last] = range_of(units_of(c, loop), c.part);
  const std::ptrdiff_t begin = std::min(first * unit, c.extent[loop]);
  c.extent[loop] = std::min(last * unit, c.extent[loop]) - begin;
  for (operand& o : c.operands)
    if (o.data != nullptr)
      o.data = static_cast<std::byte*>(o.data) + begin * o.stride[loop] * bytes(o.type);
  c.part = {};
  return c;
}

}  // namespace weft::kernels
