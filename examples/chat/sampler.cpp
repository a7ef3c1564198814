#include "sampler.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>
#include <weft/run/error.hpp>

namespace chat {

std::int32_t sampler::operator()(std::span<const float> logits) {
  // Comparisons with NaN are no order that could be sorted by.
  if (logits.empty() || !std::ranges::all_of(logits, [](float x) { return std::isfinite(x); }))
    throw weft::error("the model's logits are no finite numbers");
  const auto most = std::ranges::max_element(logits);
  if (options_.temperature == 0) return static_cast<std::int32_t>(most - logits.begin());
  std::vector<std::int32_t> tokens(logits.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  const auto of = [&](std::int32_t token) { return logits[static_cast<std::size_t>(token)]; };
  const auto likelier = [&](std::int32_t a, std::int32_t b) { return of(a) > of(b); };
  if (options_.top_k > 0 && options_.top_k < tokens.size()) {
    const auto end = tokens.begin() + static_cast<std::ptrdiff_t>(options_.top_k);
    std::nth_element(tokens.begin(), end - 1, tokens.end(), likelier);
    tokens.erase(end, tokens.end());
  }
  std::ranges::sort(tokens, likelier);
  std::vector<double> weights;
  for (const std::int32_t token : tokens)
    weights.push_back(std::exp((static_cast<double>(of(token)) - static_cast<double>(*most)) /
                               options_.temperature));
  const double wanted = options_.top_p * std::accumulate(weights.begin(), weights.end(), 0.0);
  double sum = 0;
  std::size_t kept = 0;
  while (kept < weights.size() && (kept == 0 || sum < wanted)) sum += weights[kept++];
  weights.resize(kept);
  std::discrete_distribution<std::size_t> choose(weights.begin(), weights.end());
  return tokens[choose(random_)];
}

}  // namespace chat
