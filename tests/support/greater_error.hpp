#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::testing {

// The greater of two errors; infinity where one is NaN, which std::max and comparisons lose.
inline double greater_error(double most, double error) {
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(most, error);
}

}  // namespace weft::testing
