// Schedules: what the learning rate is multiplied with at each step. Anything that takes a step, 0
// the first, and returns a number is one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace weft {

// A linear rise over `warmup` steps, then half a cosine down to `floor` at step `total` (Loshchilov
// and Hutter 2017, equation 5, without restarts), and `floor` from there on.
struct warmup_cosine {
  std::int64_t warmup = 0;
  std::int64_t total = 1;
  double floor = 0;

  double operator()(std::int64_t step) const {
    if (step < warmup) return static_cast<double>(step + 1) / static_cast<double>(warmup);
    double const span = static_cast<double>(std::max<std::int64_t>(total - warmup, 1));
    double const progress = std::min(static_cast<double>(step - warmup) / span, 1.0);
    return floor + (1 - floor) * 0.5 * (1 + std::cos(std::numbers::pi * progress));
  }
};

}  // namespace weft
