// Line charts: series of values over an index. Link weft::pictures.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include "weft/pictures/picture.hpp"

namespace weft {

// One series. Values that are not finite leave a gap.
struct line {
  std::string name;            // in the legend; empty: not listed
  std::vector<double> values;  // of the indices first, first + step, ...
};

// Options of a line chart. Texts are as in heat_map_options; a unit is `scale` pixels.
struct line_chart_options {
  std::string title = {};    // above the plotting area
  std::string down = {};     // title of the values, at the left
  std::string across = {};   // title of the index, below
  double first = 0;          // index of every line's first value
  double step = 1;           // index increment per value, > 0
  std::size_t width = 480;   // of the plotting area, in units
  std::size_t height = 200;  // likewise
  std::size_t scale = 1;     // pixels per unit
};

// Draws lines, which may differ in length. A finite value between two gaps is a dot. Throws
// weft::error where no line has a finite value, a side of the picture would be 0 or above 32767
// pixels, or `step` is not above 0.
picture line_chart(const std::vector<line>& lines, const line_chart_options& options = {});

}  // namespace weft
#include "weft/header_end.hpp"
