#include "baseline.hpp"

#include <array>
#include <cmath>
#include <vector>

namespace char_lm {

baseline count(std::span<const std::int32_t> train, std::span<const std::int32_t> held_out) {
  constexpr std::size_t bytes = 256;
  constexpr double prior = 1;
  std::array<double, bytes> single{};
  std::vector<double> pair(bytes * bytes);
  std::array<double, bytes> context{};
  for (std::size_t i = 0; i < train.size(); ++i) {
    const auto here = static_cast<std::size_t>(train[i]);
    ++single[here];
    if (i == 0) continue;
    const auto before = static_cast<std::size_t>(train[i - 1]);
    ++pair[before * bytes + here];
    ++context[before];
  }
  // The first held-out byte has no context and is left out, as the model's first one is.
  baseline b{};
  for (std::size_t i = 1; i < held_out.size(); ++i) {
    const auto before = static_cast<std::size_t>(held_out[i - 1]);
    const auto here = static_cast<std::size_t>(held_out[i]);
    const double p = (single[here] + 1) / (static_cast<double>(train.size()) + bytes);
    b.unigram -= std::log(p);
    b.bigram -= std::log((pair[before * bytes + here] + prior * p) / (context[before] + prior));
  }
  const auto n = static_cast<double>(held_out.size() - 1);
  return {b.unigram / n, b.bigram / n};
}

}  // namespace char_lm
