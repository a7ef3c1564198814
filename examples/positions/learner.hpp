// A model with one of the encodings, type-erased, and its training.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>
#include <weft/pictures/grid.hpp>

#include "task.hpp"

namespace positions {

class learner {
 public:
  virtual ~learner() = default;

  // One training step; returns the loss before the update.
  virtual float learn(const batch& b) = 0;
  // The mean loss in nats, and the fraction of correct answers.
  struct measure {
    double loss, accuracy;
  };
  virtual measure measured(const batch& b) = 0;
  // What the encoding adds to the embeddings of `length` positions: [position, embedding].
  virtual weft::grid added(std::size_t length) = 0;
};

// A model to compare. Parameters that models have in common start equal for the same seed.
struct contestant {
  std::string_view name;
  std::size_t parameters;
  std::unique_ptr<learner> (*begin)(long steps, std::uint64_t seed);
};

// One per encoding of encodings.hpp, in its order.
std::vector<contestant> contestants();

}  // namespace positions
