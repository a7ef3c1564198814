// What came out, as a table to print, to compute with and to show.
#pragma once

#include <string>
#include <vector>
#include <weft/io/grid.hpp>

#include "study.hpp"

namespace positions {

// An encoding in each row; for each task what it came to at the length that was learnt and at
// twice it, then parameters, and the milliseconds of a step, the mean over all tasks.
struct table {
  std::vector<std::string> columns, rows;
  weft::grid numbers;

  table(const settings& s, const std::vector<std::vector<outcome>>& found);

  std::string text() const;  // for reading: columns under one another
  std::string tsv() const;   // for programs: tabs between, a line for each row

 private:
  std::string cell(std::size_t row, std::size_t column) const;
};

}  // namespace positions
