// The command-line options of positions.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "support/program.hpp"

namespace positions {

struct arguments {
  std::vector<std::string> encodings, tasks;
  std::string text = EXAMPLES_CORPUS;
  std::string out = ".";
  long steps = 10000;
  std::uint64_t seed = 1;
  int threads = 1;
  bool quick = false;
  bool properties = false;
};

constexpr long quick_steps = 600;

inline void add_options(CLI::App& app, arguments& a, const std::vector<std::string>& encodings,
                        const std::vector<std::string>& tasks) {
  app.add_option("--encodings", a.encodings, "encodings to compare; by default all")
      ->check(CLI::IsMember(encodings));
  app.add_option("--tasks", a.tasks, "tasks to learn; by default all")->check(CLI::IsMember(tasks));
  auto* const steps =
      app.add_option("--steps", a.steps, "training steps for each encoding and task")
          ->check(CLI::Range(1, 1000000))
          ->capture_default_str();
  app.add_flag("--quick", a.quick,
               "few steps: " + std::to_string(quick_steps) + ", two minutes on two cores")
      ->excludes(steps);
  app.add_flag("--properties", a.properties,
               "print computed properties of each encoding, and train nothing");
  app.add_option("--text", a.text,
                 "text file to train on; by default weft's own headers and README");
  app.add_option("--threads", a.threads, "runs in parallel; the results do not depend on it")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--out", a.out, "the folder for the table, the pictures and the page")
      ->capture_default_str();
  app.add_option("--seed", a.seed, "seed of all random numbers")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

// Throws weft::error for bad values that CLI11's checks accept.
inline void check(const arguments& a) {
  examples::check_folder("--out", a.out);
}

}  // namespace positions
