// A vector of its own for each position (Gehring et al. 2017, section 3.1; Vaswani et al. 2017,
// section 3.5).
#pragma once

#include "weft/graph/reject.hpp"
#include "weft/nn/embedding.hpp"
#include "weft/nn/position/encoding.hpp"

namespace weft::nn::position {

// p[t] = w[t], added to the embedding. Parameter: weight [Pos, Embed], for as many positions as Pos
// may have, or, where Longest is named, [Longest, Embed]: a table of positions that runs over parts
// of a sequence have in common. A position that Longest does not have gets 0.
template <class Longest = void>
struct learned : encoding {
  double deviation;  // of the numbers at first, which are normal
  constexpr explicit learned(double d = 0.02) : deviation(d) {}

  template <class Pos, class Embed, expression At>
  constexpr auto embedding(scope s, const At& at) const {
    if constexpr (std::same_as<Longest, void>)
      return learned_positions<Pos, Embed>(s, init::normal(0, deviation));
    else
      return nn::embedding<Longest, Embed>(s, at, init::normal(0, deviation));
  }
  template <class Pos, class Embed, expression At>
  requires(std::same_as<Longest, void> && !detail::all_places<Pos, At>) WEFT_REJECT(
      "nn::position::learned: where positions are not 0, 1, 2 and so on, name an axis of all that "
      "there "
      "may be, as in learned<Longest>",
      embedding(scope, const At&) const)
};

}  // namespace weft::nn::position
