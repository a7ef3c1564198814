// Heat maps as PNG files. Link weft::io.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "weft/run/view.hpp"

namespace weft {

// How numbers become colours.
enum class colours {
  sequential,  // from the least, dark, to the greatest, light
  diverging,   // blue below zero, white at zero, red above; as far to both sides
};

struct heat_map {
  colours palette = colours::sequential;
  std::size_t cell = 4;  // pixels, across and down, for one number
};

// Writes rows × columns numbers, row after row, the first row on top. NaN is grey. Throws
// weft::error where there is nothing to draw, or the file cannot be written.
void write_heat_map(const std::string& file, const std::vector<float>& numbers, std::size_t rows,
                    std::size_t columns, const heat_map& options = {});

// The first axis goes down, the second across.
template <class T, class Down, class Across>
void write_heat_map(const std::string& file, const view<T, shape<Down, Across>>& x,
                    const heat_map& options = {}) {
  std::size_t const rows = x.lengths()[0];
  std::size_t const columns = x.lengths()[1];
  std::vector<float> numbers;
  numbers.reserve(rows * columns);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) numbers.push_back(static_cast<float>(x(r, c)));
  write_heat_map(file, numbers, rows, columns, options);
}

}  // namespace weft
