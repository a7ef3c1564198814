// The mean and the variance of a row whose squares are too large for a float.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>

#include "weft/language.hpp"

namespace weft::kernels {

struct mean_and_variance {
  double mean, variance;
};
// In double; without subtract_mean the mean is 0, and the variance about that.
inline mean_and_variance moments_in_double(const float* x, std::size_t n, bool subtract_mean) {
  double sum = 0, squares = 0;
  for (std::size_t i = 0; subtract_mean && i < n; ++i) sum += static_cast<double>(x[i]);
  const double mean = sum / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double centered = static_cast<double>(x[i]) - mean;
    squares += centered * centered;
  }
  return {mean, squares / static_cast<double>(n)};
}

}  // namespace weft::kernels
#include "weft/header_end.hpp"
