// What is learnt from, what is held out, and batches of both.
#pragma once

#include <random>
#include <span>
#include <string>
#include <vector>

#include "forms.hpp"
#include "model.hpp"

namespace dates {

using random_engine = std::mt19937_64;

// A day as somebody wrote it.
struct sample {
  date day;
  std::string text;
};

// In any form of any language.
sample write_somehow(date day, random_engine& random);

// All days. A tenth is held out: nothing is learnt from any text that means one of them.
struct split {
  std::vector<date> train, held_out;
  explicit split(random_engine& random);
};

// Texts side by side, up to Batch's extent of them, and their dates, symbol by symbol.
struct batch {
  weft::array<std::int32_t, Batch, Pos> text;
  weft::array<std::int32_t, Batch> valid;
  weft::array<std::int32_t, Batch, Step> date;

  // To learn from.
  explicit batch(std::span<const sample> samples);
  // To translate: the symbols are -1. Throws weft::error for a text that is empty or too long, or
  // has a character that no date has.
  explicit batch(std::span<const std::string> texts);

 private:
  explicit batch(const std::vector<std::vector<std::int32_t>>& texts);
};

// Endless batches to learn from. Texts of about the same length are in one, as the computation goes
// on to the end of the longest.
class reader {
 public:
  reader(std::vector<date> days, std::size_t batch_size, random_engine& random);
  batch next();

 private:
  std::vector<date> days_;
  std::size_t batch_size_;
  random_engine& random_;
  std::vector<batch> drawn_;
};

}  // namespace dates
