// Biases by a small network of the distance, relative to the query's position (Li et al. 2024,
// "Functional interpolation for relative positions improves long context transformers").
#pragma once
#include "weft/header_begin.hpp"

#include "weft/nn/linear.hpp"
#include "weft/nn/position/encoding.hpp"
#include "weft/ops/convert.hpp"
#include "weft/ops/functions.hpp"

namespace weft::nn {

namespace detail {

template <std::size_t Width>
struct width_of : axis<Width> {};

}  // namespace detail

// Options of position::fire.
struct fire_options {
  double threshold = 512;  // L's initial value, in positions
};

namespace position {

// f(ψ(|i - j|) / ψ(max(i, L))) added to the scores of query i and key j (Li et al. 2024, equation
// 10 and appendix E; there for keys before the query, here symmetric), ψ(x) = log(c x + 1) with a
// learned c, f a network with one hidden layer of Width and ReLU, L a learned multiple of
// options.threshold positions. It has an intermediate [KeyPos, Pos, Width]. Parameters: c and
// L_multiplier, scalars, initially 0.1 and 1; mlp.0.weight and mlp.0.bias [Width], mlp.2.weight
// [Heads..., Width], initially as nn::linear's. A second bias, as in the authors' code, is the same
// for all keys and changes no weight.
template <std::size_t Width = 32>
struct fire : encoding {
  fire_options options;  // threshold
  // With this threshold.
  constexpr fire(fire_options o = {}) : options(o) {}

  // The biases: see encoding::scores.
  template <class Heads, class HeadDim, class Where>
  constexpr auto scores(scope s, const auto& /*query*/, const Where& where) const {
    using Hidden = weft::nn::detail::width_of<Width>;
    const auto c = s.param<"c">(init::constant(0.1));
    const auto factor = s.param<"L_multiplier">(init::ones());
    const auto transformed = [&](const auto& x) { return log(maximum(c * x, c * -x) + 1.0f); };
    const auto query = cast<float>(where.at);
    const auto distance = transformed(cast<float>(weft::nn::detail::distance_of(where)));
    const auto longest = transformed(maximum(query, maximum(factor * options.threshold,
                                                            factor * -options.threshold))) +
                         1e-6f;
    const scope first = s / "mlp" / 0, second = s / "mlp" / 2;
    const auto hidden =
        relu(distance / longest * first.param<"weight", Hidden>(init::uniform(-1, 1)) +
             first.param<"bias", Hidden>(init::uniform(-1, 1)));
    return linear<Hidden, Heads>(second, hidden, {.bias = false});
  }
};

}  // namespace position

}  // namespace weft::nn
#include "weft/header_end.hpp"
