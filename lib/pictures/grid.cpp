#include "weft/pictures/grid.hpp"

#include <string>

#include "weft/run/error.hpp"

namespace weft {

grid::grid(std::vector<double> numbers, std::size_t rows, std::size_t columns)
    : numbers_(std::move(numbers)), rows_(rows), columns_(columns) {
  if (numbers_.empty() || numbers_.size() != rows * columns)
    detail::raise("grid: " + std::to_string(numbers_.size()) + " numbers for " +
                  std::to_string(rows) + " rows of " + std::to_string(columns));
}

}  // namespace weft
