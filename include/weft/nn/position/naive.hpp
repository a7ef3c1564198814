// Positions as plain numbers, to compare the others with.
#pragma once

#include "weft/graph/reject.hpp"
#include "weft/nn/position/encoding.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/convert.hpp"
#include "weft/ops/sources.hpp"

namespace weft::nn {

// The position itself in every number of the embedding: what stands at `at`, int32 [Pos, ...], has
// float [Pos, ..., Embed]. It grows without bound.
template <class Embed, expression At>
constexpr auto index_positions(const At& at) {
  return broadcast<Embed>(cast<float>(at));
}

// The position as a share of the length that Whole has in this run, from [0, 1): float [Pos, ...,
// Embed]. The distance of two neighbours depends on the length.
template <class Whole, class Embed, expression At>
constexpr auto relative_index_positions(const At& at) {
  return index_positions<Embed>(at) / length<Whole>();
}

namespace position {

// The index: nn::index_positions.
struct index : encoding {
  template <class Pos, class Embed>
  constexpr auto embedding(scope, const auto& at) const {
    return index_positions<Embed>(at);
  }
};

// The index over the length: nn::relative_index_positions. Whole is the axis whose length counts,
// that of the positions where none is named; a run of a sequence's part does not have the
// sequence's length, so for places in a cache Whole is the cache's axis.
template <class Whole = void>
struct relative_index : encoding {
  template <class Pos, class Embed, expression At>
  constexpr auto embedding(scope, const At& at) const {
    using Counted = std::conditional_t<std::same_as<Whole, void>, Pos, Whole>;
    return relative_index_positions<Counted, Embed>(at);
  }
  template <class Pos, class Embed, expression At>
  requires(std::same_as<Whole, void> && !detail::all_places<Pos, At>) WEFT_REJECT(
      "nn::position::relative_index: where positions are not 0, 1, 2 and so on, name the axis that "
      "has "
      "the sequence's length, as in relative_index<Cache>",
      embedding(scope, const At&) const)
};

}  // namespace position

}  // namespace weft::nn
