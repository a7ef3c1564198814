// Maps values to colours.
#pragma once

#include <vector>

#include "canvas.hpp"
#include "weft/pictures/heat_map.hpp"

namespace weft {

class palette {
 public:
  palette(const std::vector<double>& numbers, colours kind);

  rgb operator()(double x) const;
  // The values of the first and the last colour; equal where all finite values are equal or there
  // is none.
  double least() const { return least_; }
  double greatest() const { return greatest_; }

 private:
  colours kind_;
  double least_ = 0, greatest_ = 0;
};

}  // namespace weft
