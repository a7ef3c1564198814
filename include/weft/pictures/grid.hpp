// Matrices of values that pictures and pages show. Link weft::pictures.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/language.hpp"

#include <cstddef>
#include <vector>

#include "weft/run/view.hpp"

namespace weft {

// A matrix of doubles [rows, columns], at least one value, copied from what it is made from.
class grid {
 public:
  // From values in row-major order. Throws weft::error unless there are rows * columns of them, and
  // at least one.
  grid(std::vector<double> numbers, std::size_t rows, std::size_t columns);

  // From a view: the first axis is the rows, the second the columns; one axis makes one
  // row. Throws weft::error if it is empty.
  template <class T, class... Axes>
  requires(sizeof...(Axes) == 1 || sizeof...(Axes) == 2) grid(const view<T, shape<Axes...>>& x)
      : grid(numbers_of(x), sizeof...(Axes) == 1 ? 1 : x.lengths().front(), x.lengths().back()) {}
  // The same of an array.
  template <class T, class... Axes>
  requires(sizeof...(Axes) == 1 || sizeof...(Axes) == 2) grid(const array<T, Axes...>& x)
      : grid(x.view()) {}

  std::size_t rows() const { return rows_; }        // the number of rows
  std::size_t columns() const { return columns_; }  // the number of columns
  // The values in row-major order.
  const std::vector<double>& numbers() const { return numbers_; }
  // The value at a row and a column, which are below their numbers.
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
#include "weft/header_end.hpp"
