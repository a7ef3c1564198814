// The titles around the area where a picture has its numbers.
#pragma once

#include <string>

#include "canvas.hpp"

namespace weft {

// Between the area and a text, and between texts.
inline constexpr double gap = 6;

// It begins at {0, 0}; `left`, `above` and `below` say how far what belongs to it reaches beyond.
struct area {
  double width, height;
  double left = 0, above = 0, below = 0;
};

// The title above, `down` climbing at the left, `across` below.
void draw_titles(canvas& on, const area& a, const std::string& title, const std::string& down,
                 const std::string& across);

}  // namespace weft
