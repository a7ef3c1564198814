// Choosing the next token from its logits.
#pragma once

#include <cstdint>
#include <random>
#include <span>

namespace chat {

struct sampling {
  double temperature = 0;  // 0: always the most likely token
  std::size_t top_k = 40;  // only the k most likely; 0: all
  double top_p = 0.95;  // only the most likely whose probabilities sum to p (Holtzman et al. 2020)
  std::uint64_t seed = 1;
};

class sampler {
 public:
  explicit sampler(const sampling& options) : options_(options), random_(options.seed) {}

  // A token, by softmax(logits / temperature) among those that top_k and top_p leave.
  // Throws weft::error unless there are logits, each of them finite.
  std::int32_t operator()(std::span<const float> logits);

 private:
  sampling options_;
  std::mt19937_64 random_;
};

}  // namespace chat
