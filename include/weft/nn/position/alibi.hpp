// Attention with linear biases: scores decrease with the distance, by a slope for each head (Press
// et al. 2022).
#pragma once
#include "weft/header_begin.hpp"

#include <bit>

#include "weft/nn/position/encoding.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/compare.hpp"
#include "weft/ops/convert.hpp"
#include "weft/ops/functions.hpp"
#include "weft/ops/mask.hpp"

namespace weft::nn {

namespace detail {

// The index of each head among all of them, in the order of the axes: int32 [Heads...].
template <class First, class... Rest>
constexpr auto head_indices(shape<First, Rest...>) {
  if constexpr (sizeof...(Rest) == 0) {
    return positions<First>();
  } else {
    constexpr auto inner = static_cast<std::int32_t>(shape<Rest...>::extent);
    return positions<First>() * inner + head_indices(shape<Rest...>{});
  }
}

}  // namespace detail

// The slopes of n heads, per position: float [Heads...], Heads a weft::shape. If n is a power of
// two, 2^(-8h/n), h = 1, …, n (Press et al. 2022, section 3); otherwise those of the next lower
// power m, followed by every second one of the next higher power's from the first on, as in the
// authors' code (get_slopes in fairseq's transformer.py of
// github.com/ofirpress/attention_with_linear_biases).
template <class Heads>
constexpr auto alibi_slopes() {
  constexpr auto m = static_cast<std::int32_t>(std::bit_floor(Heads::extent));
  const auto h = detail::head_indices(Heads{});
  const auto steps = where(h < m, 2 * h + 2, 2 * (h - m) + 1);  // each 2^(-4/m)
  return exp(cast<float>(steps) * (-4.0 / m) * log(constant(2.0f)));
}

namespace detail {

template <class Slopes>
constexpr auto distance_penalty(const auto& where, const Slopes& slopes) {
  return by_distance(where, [&](const auto& distance) {
    return slopes * cast<float>(minimum(distance, -distance));
  });
}

}  // namespace detail

namespace position {

// -m_h |i - j| added to the scores (Press et al. 2022, section 3; there for keys before the query,
// here symmetric), m of nn::alibi_slopes. No parameters.
struct alibi : encoding {
  // The biases: see encoding::scores.
  template <class Heads, class HeadDim>
  constexpr auto scores(scope, const auto& /*query*/, const auto& where) const {
    return detail::distance_penalty(where, alibi_slopes<Heads>());
  }
};

// The same with learned factors of those slopes, so that a training step changes steep and flat
// ones by the same ratio. Parameter: gain [Heads...], initially ones.
struct learned_alibi : encoding {
  // The biases: see encoding::scores.
  template <class Heads, class HeadDim>
  constexpr auto scores(scope s, const auto& /*query*/, const auto& where) const {
    const auto gain = s.param<"gain", Heads>(init::ones());
    return detail::distance_penalty(where, alibi_slopes<Heads>() * gain);
  }
};

}  // namespace position

}  // namespace weft::nn
#include "weft/header_end.hpp"
