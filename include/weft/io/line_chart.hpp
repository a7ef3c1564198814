// Line charts: series of numbers over an index. Link weft::pictures.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "weft/io/picture.hpp"

namespace weft {

struct line {
  std::string name;  // in the legend; may be empty
  std::vector<double> values;
};

// Texts are as those of heat maps.
struct line_chart {
  std::string title = {};
  std::string down = {};    // what the values are
  std::string across = {};  // what the index is
  double first = 0;         // where the first value of a line is, along the index
  double step = 1;          // and how far from one to the next, above 0
  std::size_t width = 480;  // of the area with the lines, in units
  std::size_t height = 200;
  std::size_t scale = 1;  // pixels, across and down, for one unit
};

// Lines may have different lengths. What is not finite leaves a gap; a value between two gaps is a
// dot. Throws weft::error where no line has a finite value, and where a side of the picture would
// be above 32767 pixels or is 0.
picture draw_lines(const std::vector<line>& lines, const line_chart& options = {});

}  // namespace weft
