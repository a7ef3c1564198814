// Loops with constant extents and strides.
#pragma once

#include <cstddef>

#include "weft/generate/signature.hpp"

namespace weft::generate {

// The operands of an instruction, or of an attention, which has some more.
inline constexpr int max_nest_operands = 7;
static_assert(max_operands <= max_nest_operands);

// Offsets in all operands, in elements.
struct offsets {
  std::ptrdiff_t at[max_nest_operands]{};
  friend constexpr bool operator==(const offsets&, const offsets&) = default;
};

struct loop {
  std::ptrdiff_t extent = 1;
  offsets stride;
};

// The innermost loop is the last.
struct loop_nest {
  int loops = 0;
  loop at[max_loops]{};

  constexpr void push(const loop& l) { at[loops++] = l; }

  // Sorts the loops by their strides in operand `key`, the largest outermost, and coalesces two
  // loops that iterate like one.
  constexpr void sort_and_coalesce(int key) {
    for (int i = 1; i < loops; ++i)
      for (int j = i; j > 0 && at[j - 1].stride.at[key] < at[j].stride.at[key]; --j) {
        loop const l = at[j];
        at[j] = at[j - 1];
        at[j - 1] = l;
      }
    int last = 0;
    for (int i = 1; i < loops; ++i) {
      offsets coalesced = at[i].stride;
      for (std::ptrdiff_t& s : coalesced.at) s *= at[i].extent;
      if (coalesced == at[last].stride)
        at[last] = {at[last].extent * at[i].extent, at[i].stride};
      else
        at[++last] = at[i];
    }
    loops = loops == 0 ? 0 : last + 1;
    for (int i = loops; i < max_loops; ++i) at[i] = {};
  }

  // Removes loop i and returns it.
  constexpr loop remove(int i) {
    loop const removed = at[i];
    for (int j = i; j + 1 < loops; ++j) at[j] = at[j + 1];
    at[--loops] = {};
    return removed;
  }
};

constexpr loop loop_of(const signature& s, int l) {
  loop of{s.extent[l], {}};
  for (int o = 0; o < s.operands; ++o) of.stride.at[o] = s.stride[o][l];
  return of;
}

}  // namespace weft::generate
