// Positions as plain values: a baseline for the other encodings.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/reject.hpp"
#include "weft/nn/position/encoding.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/convert.hpp"
#include "weft/ops/sources.hpp"

namespace weft::nn {

// The position itself in every element of the embedding: `at` int32 [Pos, ...] to float [Pos, ...,
// Embed]. It grows without bound.
template <class Embed, expression At>
constexpr auto index_positions(const At& at) {
  return broadcast<Embed>(cast<float>(at));
}

// The position divided by the length of Whole in this run, in [0, 1): `at` int32 [Pos, ...] to
// float [Pos, ..., Embed]. The distance of two adjacent positions depends on the length.
template <class Whole, class Embed, expression At>
constexpr auto relative_index_positions(const At& at) {
  return index_positions<Embed>(at) / length<Whole>();
}

namespace position {

// Adds the index, nn::index_positions, to the embedding.
struct index : encoding {
  // The index: see encoding::embedding.
  template <class Pos, class Embed>
  constexpr auto embedding(scope, const auto& at) const {
    return index_positions<Embed>(at);
  }
};

// Adds the index over the length, nn::relative_index_positions, to the embedding. Whole is the axis
// with the sequence's length, by default the positions' axis Pos. A run over part of a sequence
// does not have the sequence's length as that of Pos, so with a cache Whole is the cache's axis;
// positions other than 0, 1, 2, … without a named axis do not compile.
template <class Whole = void>
struct relative_index : encoding {
  // The index over the length: see encoding::embedding.
  template <class Pos, class Embed, expression At>
  constexpr auto embedding(scope, const At& at) const {
    using Counted = std::conditional_t<std::same_as<Whole, void>, Pos, Whole>;
    return relative_index_positions<Counted, Embed>(at);
  }
  WEFT_REJECT_IF((class Pos, class Embed, expression At), (detail::rule_of_named<Whole, Pos, At>()),
                 embedding(scope, const At&) const,
                 (positions,
                  "nn::position::relative_index: where positions are not 0, 1, 2 and so on, name "
                  "the axis that has the sequence's length, as in relative_index<Cache>"))
};

}  // namespace position

}  // namespace weft::nn
#include "weft/header_end.hpp"
