// The training set, the held-out set, and batches of both.
#pragma once

#include <random>
#include <span>
#include <string>
#include <vector>
#include <weft/run.hpp>

#include "forms.hpp"
#include "model.hpp"

namespace dates {

using random_engine = std::mt19937_64;

// A date and a text that means it.
struct sample {
  date day;
  std::string text;
};

// Writes a date in a random form of a random language.
sample write_somehow(date day, random_engine& random);

// All days. A tenth is held out: no training text means one of them.
struct split {
  std::vector<date> train, held_out;
  explicit split(random_engine& random);
};

// A batch of texts, at most Batch's extent, with their lengths and their dates as symbols.
struct batch {
  weft::array<std::int32_t, Batch, Pos> text;
  weft::array<std::int32_t, Batch> valid;
  weft::array<std::int32_t, Batch, Step> date;

  // For training.
  explicit batch(std::span<const sample> samples);
  // For translation: the symbols are -1. Throws weft::error for a text that is empty or too long,
  // or has a character that no date has.
  explicit batch(std::span<const std::string> texts);

 private:
  explicit batch(const std::vector<std::vector<std::int32_t>>& texts);
};

// An endless sequence of training batches. A batch has texts of similar length, as the computation
// runs to the longest.
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
