// The command-line options of dates.
#pragma once

#include <CLI/CLI.hpp>
#include <cmath>
#include <string>
#include <vector>
#include <weft/run/error.hpp>

#include "dates/corpus.hpp"
#include "support/program.hpp"

namespace dates {

struct settings {
  std::vector<std::string> texts = {"3rd of March 1998", "Tue 12 Oct 2021", "05/11/67"};
  long steps = 1000;
  std::size_t batch = 64;
  double learning_rate = 5e-3;
  std::uint64_t seed = 1;
  int threads = 1;
  std::string pictures = ".";
};

inline void add_options(CLI::App& app, settings& s) {
  app.add_option("text", s.texts, "dates to translate after training, in addition to held-out ones")
      ->capture_default_str();
  app.add_option("--steps", s.steps, "training steps")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--batch", s.batch, "dates per training step")
      ->check(CLI::Range(std::size_t{1}, Batch::extent))
      ->capture_default_str();
  app.add_option("--learning-rate", s.learning_rate, "peak learning rate of AdamW")
      ->check(CLI::Range(1e-8, 1.0))
      ->capture_default_str();
  app.add_option("--threads", s.threads,
                 "threads to train and translate on; the results do not depend on it")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--pictures", s.pictures, "the folder for the heat map")->capture_default_str();
  app.add_option("--seed", s.seed, "seed of all random numbers")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

// Throws weft::error for bad values that CLI11's checks accept: CLI::Range lets NaN pass.
inline void check(const settings& s) {
  examples::check_folder("--pictures", s.pictures);
  if (std::isnan(s.learning_rate)) throw weft::error("--learning-rate: nan is not a number");
  for (const std::string& text : s.texts) batch(std::span(&text, 1));  // throws if unreadable
}

}  // namespace dates
