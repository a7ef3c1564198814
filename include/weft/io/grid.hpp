// Numbers in rows and columns, as pictures and pages show them. Link weft::pictures.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "weft/run/view.hpp"

namespace weft {

class grid {
 public:
  // Row after row. Throws weft::error unless there are rows × columns numbers, and at least one.
  grid(std::vector<double> numbers, std::size_t rows, std::size_t columns);

  // The first axis goes down, the second across; one axis is one row.
  template <class T, class... Axes>
  requires(sizeof...(Axes) == 1 || sizeof...(Axes) == 2) grid(const view<T, shape<Axes...>>& x)
      : grid(numbers_of(x), sizeof...(Axes) == 1 ? 1 : x.lengths().front(), x.lengths().back()) {}
  template <class T, class... Axes>
  requires(sizeof...(Axes) == 1 || sizeof...(Axes) == 2) grid(const array<T, Axes...>& x)
      : grid(x.view()) {}

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  const std::vector<double>& numbers() const { return numbers_; }
  double operator()(std::size_t row, std::size_t column) const {
    return numbers_[row * columns_ + column];
  }

 private:
  template <class T, class S>
  static std::vector<double> numbers_of(const view<T, S>& x) {
    std::vector<double> numbers;
    numbers.reserve(x.size());
    for (std::size_t i = 0; i < x.lengths()[0]; ++i)
      if constexpr (S::rank == 1)
        numbers.push_back(static_cast<double>(x(i)));
      else
        for (std::size_t j = 0; j < x.lengths()[1]; ++j)
          numbers.push_back(static_cast<double>(x(i, j)));
    return numbers;
  }

  std::vector<double> numbers_;
  std::size_t rows_, columns_;
};

}  // namespace weft
