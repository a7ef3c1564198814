// Contextual positions: a key's distance is how many keys up to the query the query counts
// (Golovneva et al. 2024, "Contextual position encoding: learning to count what's important").
#pragma once
#include "weft/header_begin.hpp"

#include "weft/nn/position/encoding.hpp"
#include "weft/nn/score.hpp"
#include "weft/ops/convert.hpp"
#include "weft/ops/dot.hpp"
#include "weft/ops/functions.hpp"
#include "weft/ops/gather.hpp"
#include "weft/ops/mask.hpp"
#include "weft/ops/normalize.hpp"

namespace weft::nn {

namespace detail {

template <std::size_t Count>
struct counts : axis<Count> {};

}  // namespace detail

namespace position {

// q_i · e[p_ij] added to the scores, p_ij the sum over the keys from j to i of sigmoid(score), at
// most Count - 1, e interpolated between its neighbours (Golovneva et al. 2024, equations 3 to 5,
// and the code of appendix A). For causal attention: keys after the query count nothing. The scores
// are materialized. Parameter: embedding [HeadDim, Count], for all heads, initially zeros.
template <std::size_t Count = 64>
struct cope : encoding {
  // The biases: see encoding::scores.
  template <class Heads, class HeadDim, class Where>
  constexpr auto scores(scope s, const auto& query, const Where& where) const {
    using KeyPos = typename Where::key_positions;
    static_assert(!std::same_as<typename Where::keys_of, no_term>,
                  "nn::position::cope: it needs the keys of the run, which a cache lacks");
    if constexpr (std::same_as<typename Where::keys_of, no_term>) {
      return no_term{};
    } else {
      using Counts = weft::nn::detail::counts<Count>;
      constexpr auto last = static_cast<std::int32_t>(Count) - 1;
      const auto table = s.param<"embedding", HeadDim, Counts>(init::zeros());
      const auto logits = scaled<HeadDim>(dot<HeadDim>(query, where.keys.key), where.scale);
      const auto gates = weft::where(positions<KeyPos>() <= where.at, sigmoid(logits), 0.0f);
      // The sum from each key on is that of all, less that of the keys before it.
      const auto after = sum<KeyPos>(gates) - (cumulative_sum<KeyPos>(gates) - gates);
      const auto place = minimum(maximum(after, 0.0f), static_cast<float>(last));
      const auto floor = cast<std::int32_t>(place);
      const auto share = place - cast<float>(floor);
      const auto of_counts = dot<HeadDim>(query, table);
      const auto lower = weft::detail::gather_with<0, Counts>(of_counts, floor);
      const auto upper = weft::detail::gather_with<0, Counts>(of_counts, minimum(floor + 1, last));
      return upper * share + lower * (1 - share);
    }
  }
};

}  // namespace position

}  // namespace weft::nn
#include "weft/header_end.hpp"
