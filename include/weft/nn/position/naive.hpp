// Positions as plain numbers, to compare the others with.
#pragma once

#include "weft/ops/arithmetic.hpp"
#include "weft/ops/convert.hpp"
#include "weft/ops/sources.hpp"

namespace weft::nn {

// The position itself in every number of the embedding: float [Pos, Embed]. It grows without bound.
template <class Pos, class Embed>
constexpr auto index_positions() {
  return broadcast<Embed>(cast<float>(positions<Pos>()));
}

// The position as a share of the run's length, from [0, 1): float [Pos, Embed]. The distance of two
// neighbours depends on the length.
template <class Pos, class Embed>
constexpr auto relative_index_positions() {
  return index_positions<Pos, Embed>() / length<Pos>();
}

}  // namespace weft::nn
