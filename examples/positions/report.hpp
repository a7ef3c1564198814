// The results: a table to print, compute with and show, and a page with it and pictures.
#pragma once

#include <string>
#include <vector>
#include <weft/pictures/grid.hpp>
#include <weft/pictures/page.hpp>

#include "study.hpp"

namespace positions {

// One row per encoding.
struct table {
  std::vector<std::string> encodings;
  // For each task the score at the trained length and at twice it: the fraction of correct answers,
  // or nats.
  std::vector<std::string> scored;
  weft::grid scores;
  // The number of parameters, and microseconds of CPU time per training step, the mean over the
  // tasks.
  std::vector<std::string> counted;
  weft::grid costs;

  table(const settings& s, const outcomes& found);

  std::string text() const;  // aligned columns
  std::string tsv() const;   // tab-separated
};

// The page: the table, and pictures of the formulas and of the trained encodings. The pictures are
// also written into the folder.
weft::page write_page(const settings& s, const outcomes& found, const std::string& folder);

}  // namespace positions
