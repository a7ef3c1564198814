// How far float32 may be from the reference: a running error analysis (Wilkinson 1963; Higham 2002,
// section 3.3) over the nodes of a graph, as the reference computes their values. Each node has one
// bound, on the largest absolute error of its elements.
#pragma once

#include <vector>

#include "reference/evaluate.hpp"
#include "reference/rounding.hpp"

namespace weft::testing {

using reference::detail::function, reference::detail::underflow, reference::detail::unit;

// The reference's values of each node of g, and the largest absolute error that float32 may make.
struct bounded_values {
  std::vector<reference::values> all;
  std::vector<double> bounds;
};
bounded_values evaluate_with_bounds(const graph& g, const reference::lengths& given,
                                    const reference::bindings& b);

}  // namespace weft::testing
