// Errors of float32 arithmetic, and the properties of rows that bound those of rowwise operations.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace weft::reference::detail {

inline constexpr double unit = 0x1p-24;        // the relative error of one rounding to nearest
inline constexpr double underflow = 0x1p-140;  // and its absolute error close to 0
inline constexpr double function = 8 * unit;   // the kernels' elementary functions: 4 ulp

inline double rounding(double value) {
  return unit * value + underflow;
}
// k roundings in a row.
inline double gamma(double k) {
  return k * unit / (1 - k * unit);
}
// The error of a sum of n terms, relative to the sum of their magnitudes (Higham, equation 4.4).
// The kernels sum at most 1024 in float32, and such sums in double.
inline double summation(double n) {
  return gamma(std::min(n, 1024.0) + 1);
}

// The rows of an operand of a rowwise operation, together.
struct row_range {
  double length = 1;
  bool centred = true;  // whether the mean is subtracted
  double most = 0;      // the largest |x|
  double spread = 0;    // the largest difference within a row, or to 0 if it is not centred
  double least_deviation = std::numeric_limits<double>::infinity();  // from the mean, or from 0
  double largest_sum = 0;                                            // of |x|

  // Takes one more row of `length` elements.
  void add(const std::vector<double>& row, double epsilon) {
    double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0, sum_of_sizes = 0;
    for (const double v : row) {
      if (!std::isfinite(v)) continue;
      low = std::min(low, v);
      high = std::max(high, v);
      sum += v;
      sum_of_sizes += std::abs(v);
    }
    const double middle = centred ? sum / length : 0;
    double squares = 0;
    for (const double v : row)
      if (std::isfinite(v)) squares += (v - middle) * (v - middle);
    if (low <= high) {
      if (!centred) {
        low = std::min(low, 0.0);
        high = std::max(high, 0.0);
      }
      most = std::max({most, -low, high});
      spread = std::max(spread, high - low);
    }
    largest_sum = std::max(largest_sum, sum_of_sizes);
    least_deviation = std::min(least_deviation, std::sqrt(squares / length + epsilon));
  }
};

// Errors of a normalization: the relative error of 1/deviation, and that of the normalized values
// h.
struct normal_errors {
  double scale, h, most_h;
};
inline normal_errors errors_of_normal(const row_range& x, double ex) {
  const double deviation = x.least_deviation - 2 * ex;
  if (!(deviation > 0)) throw std::logic_error("rows too flat for an error bound");
  const double most_h = x.spread / x.least_deviation;
  // The error of the mean: that of its sum, and its rounding to float32.
  const double mean = x.centred ? (summation(x.length) + unit) * x.most : 0;
  // The mean of squares has relative errors of a sum and a few roundings, and the mean's squared
  // error; the root halves them. Errors of x move the deviation by at most their own size.
  const double scale =
      summation(x.length) + gamma(6) + mean * mean / (deviation * deviation) + ex / deviation;
  // d h = (d x - mean d x - h mean(h d x)) / deviation.
  const double h = (2 * ex + mean + unit * x.spread) / deviation + most_h * (scale + 2 * unit);
  return {scale, h, most_h};
}

// What bounds the error of a rowwise operation: its operands x and g, their errors, and the largest
// |result|.
struct row_errors {
  row_range x, g;
  double ex, eg, most;
};

}  // namespace weft::reference::detail
