// The relative positions of Transformer-XL (Dai et al. 2019).
#pragma once
#include "weft/header_begin.hpp"

#include "weft/nn/position/encoding.hpp"
#include "weft/nn/position/sinusoidal.hpp"
#include "weft/nn/score.hpp"
#include "weft/ops/dot.hpp"

namespace weft::nn {

namespace detail {

template <std::size_t Size>
struct sinusoid_of : axis<Size> {};

}  // namespace detail

namespace position {

// Scores (q_i + u) · k_j + (q_i + v) · W_R R_{i-j}, both times the scale of scores (Dai et al.
// 2019, section 3.3), R_{i-j} the sinusoidal encoding of the distance, nn::sinusoidal with Heads ×
// HeadDim elements. Distances are clamped to ±Most. Parameters: u and v [Heads..., HeadDim],
// initially N(0, 0.02²), and weight [Heads..., HeadDim, Heads × HeadDim], initially Xavier uniform.
template <std::size_t Most = SIZE_MAX>
struct transformer_xl : encoding {
  // Queries plus u: see encoding::query.
  template <class Heads, class HeadDim>
  constexpr auto query(scope s, const auto& x, const auto& /*at*/) const {
    return x + s.param<"u", Heads, HeadDim>();
  }
  // The term of the distance, with v: see encoding::scores.
  template <class Heads, class HeadDim>
  constexpr auto scores(scope s, const auto& query, const auto& where) const {
    using Sines = detail::sinusoid_of<Heads::extent * HeadDim::extent>;
    const auto query_plus_v = query + s.param<"v", Heads, HeadDim>();
    const auto w = s.param<"weight", Heads, HeadDim, Sines>(init::xavier_uniform<Sines>());
    return by_distance<Most>(where, [&](const auto& distance) {
      const auto r = dot<Sines>(nn::sinusoidal<Sines>(-distance), w);
      return scaled<HeadDim>(dot<HeadDim>(query_plus_v, r), where.scale);
    });
  }
};

}  // namespace position

}  // namespace weft::nn
#include "weft/header_end.hpp"
