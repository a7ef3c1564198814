// Round numbers along an axis.
#pragma once

#include <string>
#include <vector>

namespace weft {

struct tick {
  double at;
  std::string label;
};

// The least of 1, 2, 5, 10, 20, 50, ... (times a power of ten, above or below 1) that is not less
// than x, which is above 0.
double round_step(double x);

// The multiples of one round step from a number to a greater one, `count` of them at most (and one
// more), with the digits that tell them apart. The step is not less than `least_step`. Between a
// number and itself there is that one tick.
std::vector<tick> ticks(double from, double to, double count, double least_step = 0);

}  // namespace weft
