// The plan of a small rotation of pairs, as defined in graph/rotation.hpp.
#pragma once

#include <cstddef>

#include "weft/generate/loop_nest.hpp"
#include "weft/generate/signature.hpp"

namespace weft::generate {

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

}  // namespace weft::generate
