// Titles around the plotting area of a picture.
#pragma once

#include <string>

#include "canvas.hpp"

namespace weft {

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

}  // namespace weft
