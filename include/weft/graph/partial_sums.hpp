// Partial sums over the rows of a normalization's adjoint, for the gradients of
// gain and bias.
//
// The gradient of the gain is the sum over all rows of g * normalize(x), that of a bias the sum of
// g (Ba et al. 2016, equation 4, differentiated). Asked for role::partial_sums, an adjoint
// computes both in its pass over the rows and stores them after its result: one partial sum for
// each rows_per_partial rows, regardless of the number of threads, those of the gain first.
// norm_parameter_gradient adds them up: for the gain or for the bias, as norm_parameter says.
#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/graph/graph.hpp"

namespace weft {

constexpr bool has_partial_sums(const node& n) {
  return is_adjoint_of_normalization(n.kind) && has(n, role::partial_sums);
}

// The axes of a row, in the order of the result.
constexpr axis_list row_axes_in_order(const node& rowwise) {
  axis_list row{};
  for (int i = 0; i < rowwise.axes.count; ++i)
    if (row_axes(rowwise).contains(rowwise.axes.at[i])) row.push(rowwise.axes.at[i]);
  return row;
}

// The number of partial sums with every length at its bound.
constexpr std::size_t partial_count(const node& rowwise) {
  const std::size_t rows = rowwise.axes.extent() / row_axes_in_order(rowwise).extent();
  return (rows + rows_per_partial - 1) / rows_per_partial;
}

}  // namespace weft
