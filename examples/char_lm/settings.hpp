// The command-line options of char_lm.
#pragma once

#include <CLI/CLI.hpp>
#include <cmath>
#include <string>
#include <weft/run/error.hpp>

#include "char_lm/model.hpp"
#include "support/program.hpp"

namespace char_lm {

struct settings {
  std::string text = EXAMPLES_CORPUS;
  std::string pictures = ".";
  std::string prompt = "// ";
  std::string checkpoint;
  bool mpi = false;
  long steps = 1600;
  std::size_t batch = 8;
  double learning_rate = 2e-3;
  double temperature = 0.8;
  std::size_t sample = 300;
  std::uint64_t seed = 1;
};

inline void add_options(CLI::App& app, settings& s) {
  app.footer(
      "Exit status: 0; 1 if the held-out loss is not at least 0.25 nats per character below the\n"
      "bigram's, which a few steps do not reach; 2 for wrong input.");
  app.add_option("--text", s.text,
                 "text file to train on; by default weft's own headers and README");
  app.add_flag("--mpi", s.mpi,
               "divide each batch among the ranks of mpirun: mpirun -n 2 char_lm --mpi");
  app.add_option("--checkpoint", s.checkpoint,
                 "file that training goes on from if it exists, and that is written ten times");
  app.add_option("--steps", s.steps, "training steps")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--batch", s.batch, "windows per training step")
      ->check(CLI::Range(std::size_t{1}, Batch::extent))
      ->capture_default_str();
  app.add_option("--learning-rate", s.learning_rate, "peak learning rate of AdamW")
      ->check(CLI::Range(1e-8, 1.0))
      ->capture_default_str();
  app.add_option("--sample", s.sample, "characters to write")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_option("--temperature", s.temperature, "sampling temperature; lower is less random")
      ->check(CLI::Range(0.01, 100.0))
      ->capture_default_str();
  app.add_option("--prompt", s.prompt, "what the sample begins with")->capture_default_str();
  app.add_option("--pictures", s.pictures, "the folder for the heat maps")->capture_default_str();
  app.add_option("--seed", s.seed, "seed of all random numbers")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

// Throws weft::error for bad values that CLI11's checks accept: CLI::Range lets NaN pass.
inline void check(const settings& s) {
  examples::check_folder("--pictures", s.pictures);
  if (std::isnan(s.learning_rate + s.temperature))
    throw weft::error("--learning-rate and --temperature: nan is not a number");
  if (s.prompt.empty()) throw weft::error("--prompt: at least one character is needed");
}

}  // namespace char_lm
