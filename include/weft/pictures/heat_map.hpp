// Heat maps: matrices drawn as coloured squares. Link weft::pictures.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/language.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include "weft/pictures/grid.hpp"
#include "weft/pictures/picture.hpp"

namespace weft {

// How values map to colours.
enum class colours {
  sequential,  // from dark at the least finite value to light at the greatest
  diverging,   // blue below 0, white at 0, red above; the same range on both sides
};

// Options of a heat map: only the squares unless more is asked for. Texts are UTF-8; invalid bytes
// and control characters are drawn as U+FFFD. Without any fonts installed, Cairo's built-in one is
// used, which has ASCII only. A unit is `scale` pixels.
struct heat_map_options {
  colours palette = colours::sequential;  // how values map to colours
  std::size_t cell = 4;                   // side of a square, in units
  std::string title = {};                 // above the squares
  std::string down = {};                  // title of the rows, at the left
  std::string across = {};                // title of the columns, below
  // One label for each row, or none; where labels would overlap, only every 2nd, 5th, 10th, 20th
  // ... is drawn.
  std::vector<std::string> rows = {};
  // Likewise for each column; these are horizontal where there is room, else vertical.
  std::vector<std::string> columns = {};
  bool colour_bar = false;  // the legend of colours
  std::size_t scale = 1;    // pixels per unit
};

// Draws a grid with row 0 on top; NaN is grey. Throws weft::error where a side of the picture would
// be 0 or above 32767 pixels, or the number of labels is neither 0 nor that of the rows or columns.
picture heat_map(const grid& numbers, const heat_map_options& options = {});

}  // namespace weft
#include "weft/header_end.hpp"
