// Relative position representations: learned vectors for clipped distances, in keys and values
// (Shaw et al. 2018).
#pragma once
#include "weft/header_begin.hpp"

#include "weft/nn/position/encoding.hpp"
#include "weft/nn/score.hpp"
#include "weft/ops/dot.hpp"
#include "weft/ops/gather.hpp"

namespace weft::nn::position {

// e_ij = q_i · (k_j + a_ij) / sqrt(d), a_ij = w_clip(j - i, Most), clip from -Most to Most (Shaw et
// al. 2018, equations 2 and 4). As in their section 3.3, q_i · a_ij is computed once for each
// distance. Parameter: keys [2 Most + 1, HeadDim], shared by all heads, initially Xavier uniform.
template <std::size_t Most>
struct shaw_keys : encoding {
  // The products with the keys' vectors: see encoding::scores.
  template <class Heads, class HeadDim>
  constexpr auto scores(scope s, const auto& query, const auto& where) const {
    using Distance = distances<Most>;
    const auto w = s.param<"keys", Distance, HeadDim>(init::xavier_uniform<HeadDim>());
    const auto products = dot<HeadDim>(query, w);
    return relative<Distance>(scaled<HeadDim>(products, where.scale), where);
  }
};

// The same, and z_i = Σ_j α_ij (v_j + b_ij), b_ij = w'_clip(j - i, Most) (equation 3): weights of
// keys at the same distance are summed first, so that no intermediate has all of Pos, KeyPos and
// ValueDim. Parameters: keys, and values [2 Most + 1, ValueDim], shared by all heads, initially
// Xavier uniform.
template <std::size_t Most>
struct shaw : shaw_keys<Most> {
  // The sums of the values' vectors: see encoding::values.
  template <class Heads, class ValueDim>
  constexpr auto values(scope s, const auto& weights, const auto& where) const {
    using Distance = distances<Most>;
    const auto w = s.param<"values", Distance, ValueDim>(init::xavier_uniform<Distance>());
    return dot<Distance>(sum_by_distance<Distance>(weights, where), w);
  }
};

}  // namespace weft::nn::position
#include "weft/header_end.hpp"
