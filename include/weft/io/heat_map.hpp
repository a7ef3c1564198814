// Heat maps: a square of colour for each number. Link weft::pictures.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "weft/io/grid.hpp"
#include "weft/io/picture.hpp"

namespace weft {

// How numbers become colours.
enum class colours {
  sequential,  // from the least, dark, to the greatest, light
  diverging,   // blue below zero, white at zero, red above; as far to both sides
};

// What a heat map has beside its squares: nothing, unless it is asked for. Texts are UTF-8; what is
// not, and control characters, are drawn as U+FFFD. A machine without any fonts has Cairo's own,
// which is ASCII only.
struct heat_map {
  colours palette = colours::sequential;
  std::size_t cell = 4;  // units, across and down, for one number
  std::string title = {};
  std::string down = {};    // what the rows are
  std::string across = {};  // what the columns are
  // One label for each row and for each column, or none. Those of columns are upright where they
  // have room; of labels that would overlap, every 2nd, 5th, 10th, 20th ... is drawn.
  std::vector<std::string> rows = {};
  std::vector<std::string> columns = {};
  bool colour_bar = false;  // which colour is which number
  std::size_t scale = 1;    // pixels, across and down, for one unit
};

// The first row is on top. NaN is grey. Throws weft::error where a side of the picture would be
// above 32767 pixels or is 0, and where there are labels, but not as many as rows or columns.
picture draw_heat_map(const grid& numbers, const heat_map& options = {});

}  // namespace weft
