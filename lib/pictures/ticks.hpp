// Tick marks at round values of an axis.
#pragma once

#include <string>
#include <vector>

namespace weft {

struct tick {
  double at;
  std::string label;
};

// The smallest 1, 2 or 5 times a power of ten that is at least x; x > 0.
double round_step(double x);

// The multiples of a round step in [from, to], about `count` of them, at most one more, labelled
// with the digits that distinguish them. The step is at least `least_step`. If from == to, the only
// tick is there.
std::vector<tick> ticks(double from, double to, double count, double least_step = 0);

}  // namespace weft
