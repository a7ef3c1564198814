// The plan of a small softmax or normalisation.
#pragma once

#include <cstddef>

#include "weft/generate/loop_nest.hpp"
#include "weft/generate/signature.hpp"

namespace weft::generate {

struct rows_plan {
  bool supported = false;
  std::ptrdiff_t length = 1;
  loop rows;          // the innermost loop over rows
  loop_nest outer{};  // all other loops
};

// A row stays in registers from load to store.
inline constexpr std::ptrdiff_t max_row_vectors = 8;
inline constexpr std::ptrdiff_t max_rows_elements = 8192;

constexpr rows_plan plan_of_rows(const signature& s, int lanes) {
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
  p.supported = p.length <= max_row_vectors * lanes;
  return p;
}

}  // namespace weft::generate
