// Rotary positions whose scores decay with the distance (Sun et al. 2023, "A length-extrapolatable
// transformer").
#pragma once
#include "weft/header_begin.hpp"

#include "weft/nn/position/encoding.hpp"
#include "weft/nn/position/frequencies.hpp"
#include "weft/nn/position/rotary.hpp"

namespace weft::nn {

// Options of position::xpos.
struct xpos_options {
  double base = 10000;  // of the frequencies
  double decay = 512;   // the positions over which a pair decays by its factor
  double least = 0.4;   // γ: the greater, the closer the factors are to 1
};

namespace position {

// nn::rotary, with pair j of d / 2 of queries multiplied by ζ_j^(t / decay) at position t, and of
// keys by ζ_j^(-t / decay), ζ_j = (2j / d + γ) / (1 + γ) (Sun et al. 2023, section 3.2 and
// algorithm 1): scores of keys before the query decrease with the distance, those of keys after it
// increase, so it is for causal attention. No parameters.
template <rotary_pairs Pairs = rotary_pairs::half_split>
struct xpos : encoding {
  // An even number of elements is turned.
  template <class HeadDim>
  static constexpr bool fits_head = weft::nn::detail::are_pairs<HeadDim, 0>;
  xpos_options options;  // base and decay
  // With this base and decay.
  constexpr xpos(xpos_options o = {}) : options(o) {}

  // Rotated and scaled queries: see encoding::query.
  template <class Heads, class HeadDim>
  constexpr auto query(scope, const auto& x, const auto& at) const {
    return rotated<HeadDim>(x, at, 1 / options.decay);
  }
  // Rotated and scaled keys: see encoding::key.
  template <class Heads, class HeadDim>
  constexpr auto key(scope, const auto& x, const auto& at) const {
    return rotated<HeadDim>(x, at, -1 / options.decay);
  }

 private:
  template <class HeadDim>
  constexpr auto rotated(const auto& x, const auto& at, double power) const {
    constexpr std::size_t size = HeadDim::extent;
    static_assert(size % 2 == 0, "nn::position::xpos: elements are rotated in pairs");
    static_assert(weft::nn::detail::endless_window<std::remove_cvref_t<decltype(at)>> == 0,
                  "nn::position::xpos: a factor grows with the position; turn the keys of a "
                  "rolling cache at its positions, and queries at weft::positions<Pos>()");
    using Freq = weft::nn::detail::pair_of<size>;
    const auto t = cast<float>(at);
    const auto angle = t * geometric_frequencies<Freq>(static_cast<double>(size), {options.base});
    const auto share = cast<float>(positions<Freq>()) * (2.0 / static_cast<double>(size));
    const auto log_factor = log((share + options.least) / (1 + options.least));
    const auto magnitude = exp(t * (log_factor * power));
    return rotate<HeadDim, Freq, Pairs>(x, cos(angle) * magnitude, sin(angle) * magnitude);
  }
};

}  // namespace position

}  // namespace weft::nn
#include "weft/header_end.hpp"
