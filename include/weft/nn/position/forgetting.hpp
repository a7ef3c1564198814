// A forget gate in attention: the weight of a key decays by the gates of all positions after it
// (Lin et al. 2025, "Forgetting transformer: softmax attention with a forget gate").
#pragma once
#include "weft/header_begin.hpp"

#include "weft/nn/linear.hpp"
#include "weft/nn/position/encoding.hpp"
#include "weft/ops/functions.hpp"
#include "weft/ops/gather.hpp"
#include "weft/ops/normalize.hpp"

namespace weft::nn::position {

// c_i - c_j added to the scores of query i and key j, c_i the sum up to i of log(sigmoid(w · x_i +
// b)), x what the keys are projected from (Lin et al. 2025, equations 5 to 7; there for keys before
// the query, here -|c_i - c_j|). Parameters, as in the authors' code: fgate_proj.weight [Heads...,
// Features] and fgate_proj.bias [Heads...], initially as nn::linear's.
struct forgetting : encoding {
  // The biases: see encoding::scores.
  template <class Heads, class HeadDim, class Where>
  constexpr auto scores(scope s, const auto& /*query*/, const Where& where) const {
    using KeyPos = typename Where::key_positions;
    static_assert(!std::same_as<typename Where::keys_of, no_term>,
                  "nn::position::forgetting: it needs the keys of the run, which a cache lacks");
    if constexpr (std::same_as<typename Where::keys_of, no_term>) {
      return no_term{};
    } else {
      using Features = typename Where::keys_of::features;
      const auto gate = linear<Features, Heads>(s / "fgate_proj", where.keys.source);
      // log(sigmoid(gate)), without overflow.
      const auto forgotten = minimum(gate, 0.0f) - log(exp(minimum(gate, -gate)) + 1.0f);
      const auto until = cumulative_sum<KeyPos>(forgotten);
      const auto since = weft::detail::gather_with<0, KeyPos>(until, where.at) - until;
      return minimum(since, -since);
    }
  }
};

}  // namespace weft::nn::position
#include "weft/header_end.hpp"
