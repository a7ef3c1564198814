// What came out: a table to print, to compute with and to show, and a page of it and pictures.
#pragma once

#include <string>
#include <vector>
#include <weft/io/grid.hpp>
#include <weft/io/page.hpp>

#include "study.hpp"

namespace positions {

// A row for each encoding.
struct table {
  std::vector<std::string> encodings;
  // For each task what the encoding came to at the length that was learnt and at twice it: the
  // share of answers that are right, or nats.
  std::vector<std::string> scored;
  weft::grid scores;
  // Parameters, and microseconds of a core for a step of training, the mean over the tasks.
  std::vector<std::string> counted;
  weft::grid costs;

  table(const settings& s, const outcomes& found);

  std::string text() const;  // for reading: columns under one another
  std::string tsv() const;   // for programs: tabs between
};

// The table and pictures: those that formulas make, and those of what was learnt. The pictures are
// written into the folder as well.
weft::page write_page(const settings& s, const outcomes& found, const std::string& folder);

}  // namespace positions
