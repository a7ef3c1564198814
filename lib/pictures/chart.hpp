// Titles and tick marks around the plotting area of a picture.
#pragma once

#include <string>
#include <vector>

namespace weft {

class canvas;

// Space between the area and a text, and between texts, in units.
inline constexpr double gap = 6;

// The plotting area; its corner is {0, 0}. `left`, `above` and `below` are how far its labels
// extend beyond it.
struct area {
  double width, height;
  double left = 0, above = 0, below = 0;
};

// Draws `title` above, `down` vertically at the left, and `across` below.
void draw_titles(canvas& on, const area& a, const std::string& title, const std::string& down,
                 const std::string& across);

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
