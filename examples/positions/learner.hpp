// A model with one of the encodings, whichever it is, and its training.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>
#include <weft/io/grid.hpp>

#include "task.hpp"

namespace positions {

class learner {
 public:
  virtual ~learner() = default;

  // A step of training: the loss before it.
  virtual float learn(const batch& b) = 0;
  // The mean loss in nats, and the share of answers that are right.
  struct measure {
    double loss, accuracy;
  };
  virtual measure measured(const batch& b) = 0;
  // What the encoding adds to the embeddings of so many positions: [position, embedding].
  virtual weft::grid added(std::size_t length) = 0;
};

// One that is compared. What models have in common begins the same for the same seed.
struct contestant {
  std::string_view name;
  std::size_t parameters;
  std::unique_ptr<learner> (*begin)(long steps, std::uint64_t seed);
};

// Those of encodings.hpp, in its order.
std::vector<contestant> contestants();

}  // namespace positions
