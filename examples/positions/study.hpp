// The study: every encoding learns every task.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "learner.hpp"
#include "task.hpp"

namespace positions {

struct settings {
  std::vector<contestant> contestants;
  std::vector<task> tasks;
  long steps = 1;  // of each run
  std::uint64_t seed = 1;
  int threads = 1;  // on which runs go side by side; the results are the same
};

// What one encoding made of one task.
struct outcome {
  double at_length = 0, at_twice = 0;  // nats, or the share of answers that are right
  double seconds = 0;                  // of a core, for a step of training
  std::optional<weft::grid> added;     // what the encoding adds to embeddings, after training
};

using outcomes = std::vector<std::vector<outcome>>;  // [encoding][task]

// After each step `progress` is told how many were made in all, and the loss; it
// is called by one thread at a time.
outcomes run_study(const settings& s, const std::function<void(long done, float loss)>& progress);

}  // namespace positions
