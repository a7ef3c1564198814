// What the rows of a normalisation's adjoint (x, g, gain, ...) sum up to, beside its result.
//
// The gradient for the gain is the sum over all rows of g * normalize(x), that for a bias the sum
// of g (Ba et al. 2016, equation 4, differentiated). An adjoint whose options say so leaves them
// behind its result while it has the rows at hand: a sum for each block of its rows, however many
// threads there are, those for the gain first. row_sums with start 0 adds up those for the gain,
// with 1 those for the bias.
#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/graph/graph.hpp"

namespace weft {

inline constexpr std::size_t rows_per_partial = 32;

inline constexpr std::uint8_t with_partial_sums = 1;
constexpr bool has_partial_sums(const node& n) {
  return is_adjoint_of_normalization(n.kind) && n.options == with_partial_sums;
}

// The axes of a row, in their order.
constexpr axis_list row_axes(const node& rowwise) {
  axis_list row{};
  for (int i = 0; i < rowwise.axes.count; ++i)
    if (rowwise.named.contains(rowwise.axes.at[i])) row.push(rowwise.axes.at[i]);
  return row;
}

// How many blocks there are, every length at its bound.
constexpr std::size_t partial_count(const node& rowwise) {
  std::size_t const rows = rowwise.axes.extent() / row_axes(rowwise).extent();
  return (rows + rows_per_partial - 1) / rows_per_partial;
}

}  // namespace weft
