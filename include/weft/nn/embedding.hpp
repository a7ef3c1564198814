// From tokens and positions to vectors.
#pragma once

#include "weft/graph/scope.hpp"
#include "weft/ops/gather.hpp"

namespace weft::nn {

// The row of each token: tokens int32 [...] to [..., Embed]. Parameter: weight [Vocab, Embed], as
// torch.nn.Embedding.
template <class Vocab, class Embed, expression I>
constexpr auto embedding(scope s, const I& tokens, initializer init = init::normal()) {
  return gather<Vocab>(s.param<"weight", Vocab, Embed>(init), tokens);
}

// The learned positional encoding P [Pos, Embed] of Gehring et al. 2017 (section 3.1), to be added
// to the embedding of the tokens. Parameter: weight [Pos, Embed], for every position up to Pos's
// bound.
template <class Pos, class Embed>
constexpr auto learned_positions(scope s, initializer init = init::normal(0, 0.02)) {
  return s.param<"weight", Pos, Embed>(init);
}

}  // namespace weft::nn
