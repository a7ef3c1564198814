// The study: trains every encoding on every task.
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
  int threads = 1;  // runs in parallel; the results do not depend on it
};

// The result of one encoding on one task.
struct outcome {
  double at_length = 0, at_twice = 0;  // nats, or the fraction of correct answers
  double seconds = 0;                  // CPU time per training step
  std::optional<weft::grid> added;     // what the encoding adds to embeddings, after training
};

using outcomes = std::vector<std::vector<outcome>>;  // [encoding][task]

// Calls `progress` after each step with the total number of steps done and the loss, from one
// thread at a time.
outcomes run_study(const settings& s, const std::function<void(long done, float loss)>& progress);

}  // namespace positions
