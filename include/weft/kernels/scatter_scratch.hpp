// The bytes of scratch of scatter_add.
#pragma once
#include "weft/header_begin.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "weft/kernels/call.hpp"

namespace weft::kernels {

// Additions to one element in float, before their sum goes to a total in double: few enough that a
// result loses little precision.
inline constexpr std::int32_t max_chain_of_additions = 256;

// The most additions to one element.
constexpr std::size_t additions_of(const call& c) {
  std::size_t n = 1;
  for (int l = 0; l < c.loops; ++l)
    if (c.operands[0].stride[l] == 0) n *= static_cast<std::size_t>(c.extent[l]);
  return n;
}

// Two integers for each row of the table: its additions since the last total, and its total's
// place.
constexpr std::size_t scatter_index_bytes(const call& c) {
  return (2 * sizeof(std::int32_t) * static_cast<std::size_t>(c.axis_extent) + 63) / 64 * 64;
}
// Followed by accumulators in double: of the rows that can have so many additions or, where single
// elements are added, of all elements of a column.
constexpr std::size_t scatter_scratch_bytes(const call& c) {
  const std::size_t additions = additions_of(c), rows = static_cast<std::size_t>(c.axis_extent);
  if (additions <= max_chain_of_additions) return 0;
  std::size_t row = 1;
  for (int l = 0; l < c.loops; ++l)
    if (c.operands[0].stride[l] != 0) row *= static_cast<std::size_t>(c.extent[l]);
  const std::size_t totals =
      std::max(row * std::min(rows, additions / max_chain_of_additions), rows);
  return scatter_index_bytes(c) + (totals * sizeof(double) + 63) / 64 * 64;
}

}  // namespace weft::kernels
#include "weft/header_end.hpp"
