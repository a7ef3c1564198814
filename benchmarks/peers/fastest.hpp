// Selects the fastest variant on this machine, where a peer has several.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "benchmarks/contender.hpp"

namespace bench {

// Times each for some milliseconds. There is at least one.
inline contender fastest(const std::vector<contender>& ways) {
  contender best;
  double least = std::numeric_limits<double>::infinity();
  for (const contender& way : ways) {
    // Enough iterations for the resolution of the clock.
    std::int64_t times = 1;
    while (way.repeat(times) < 1e-4) times *= 2;
    for (double spent = 0; spent < 5e-3;) {
      const double seconds = way.repeat(times);
      spent += seconds;
      if (seconds / static_cast<double>(times) >= least) continue;
      least = seconds / static_cast<double>(times);
      best = way;
    }
  }
  return best;
}

}  // namespace bench
