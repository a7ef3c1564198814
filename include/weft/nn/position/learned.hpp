// A learned vector for each position (Gehring et al. 2017, section 3.1; Vaswani et al. 2017,
// section 3.5).
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/reject.hpp"
#include "weft/nn/embedding.hpp"
#include "weft/nn/position/encoding.hpp"

namespace weft::nn::position {

// Options of position::learned.
struct learned_options {
  double deviation = 0.02;  // of the initial values
};

// p[t] = w[t], added to the embedding. Parameter: weight [Pos, Embed], one row for each position up
// to Pos's bound, or [Longest, Embed] if Longest is named: a table that runs over parts of a
// sequence share. Initially N(0, options.deviation²). Positions beyond Longest throw weft::error,
// as with weft::gather. Positions other than 0, 1, 2, … without Longest do not compile.
template <class Longest = void>
struct learned : encoding {
  learned_options options;  // deviation of the initial values
  // With initial values of this deviation.
  constexpr learned(learned_options o = {}) : options(o) {}

  // The vectors: see encoding::embedding.
  template <class Pos, class Embed, expression At>
  constexpr auto embedding(scope s, const At& at) const {
    if constexpr (std::same_as<Longest, void>)
      return learned_positions<Pos, Embed>(s, init::normal(0, options.deviation));
    else
      return nn::embedding<Longest, Embed>(s, at, init::normal(0, options.deviation));
  }
  WEFT_REJECT_IF((class Pos, class Embed, expression At),
                 (detail::rule_of_named<Longest, Pos, At>()), embedding(scope, const At&) const,
                 (positions,
                  "nn::position::learned: where positions are not 0, 1, 2 and so on, name an axis "
                  "of all that there may be, as in learned<Longest>"))
};

}  // namespace weft::nn::position
#include "weft/header_end.hpp"
