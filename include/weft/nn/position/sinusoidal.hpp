// Absolute positions as sines and cosines, to be added to the token embeddings.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/nn/position/encoding.hpp"
#include "weft/nn/position/frequencies.hpp"
#include "weft/ops/concatenate.hpp"
#include "weft/ops/view.hpp"

namespace weft::nn {

namespace detail {

// sin a_0, cos a_0, sin a_1, cos a_1, …, interleaved: angles [..., Freq] to [..., Embed].
template <class Freq, class Embed, expression A>
constexpr auto interleaved_sines(const A& angles) {
  using Whole = in_pairs<Embed::extent>;
  const auto sine = broadcast<one_member>(sin(angles));
  const auto cosine = broadcast<one_member>(cos(angles));
  const auto pairs = concatenate<member, shape<one_member, one_member>>(sine, cosine);
  return slice<Whole, Embed>(merge<Whole, Freq, member>(pairs));
}

}  // namespace detail

// p[t, 2j] = sin(t ω_j), p[t, 2j+1] = cos(t ω_j), ω_j = options.base^(-2j / Embed), for each
// position t: `at` int32 [Pos, ...], such as positions<Pos>(), to float [Pos, ..., Embed] (Vaswani
// et al. 2017, section 3.5). An odd Embed ends with a sine.
template <class Embed, expression At>
constexpr auto sinusoidal(const At& at, frequency_options options = {}) {
  using Freq = detail::pair_of<Embed::extent>;
  const auto size = static_cast<double>(Embed::extent);
  return detail::interleaved_sines<Freq, Embed>(
      detail::angles(at, geometric_frequencies<Freq>(size, options)));
}

// The same with trained frequencies. Parameter: frequency [(Embed + 1) / 2], initially ω_j.
template <class Embed, expression At>
constexpr auto learned_sinusoidal(scope s, const At& at, frequency_options options = {}) {
  using Freq = detail::pair_of<Embed::extent>;
  const auto size = static_cast<double>(Embed::extent);
  return detail::interleaved_sines<Freq, Embed>(
      detail::angles(at, learned_frequencies<Freq>(s, size, options)));
}

namespace position {

// nn::sinusoidal, added to the embedding.
struct sinusoidal : encoding {
  frequency_options options;  // base
  // With this base.
  constexpr sinusoidal(frequency_options o = {}) : options(o) {}

  // Sines and cosines: see encoding::embedding.
  template <class Pos, class Embed>
  constexpr auto embedding(scope, const auto& at) const {
    return nn::sinusoidal<Embed>(at, options);
  }
};

// nn::learned_sinusoidal, added to the embedding; the base is that of the initial frequencies.
struct learned_sinusoidal : encoding {
  frequency_options options;  // base of the initial frequencies
  // With initial frequencies of this base.
  constexpr learned_sinusoidal(frequency_options o = {}) : options(o) {}

  // Sines and cosines: see encoding::embedding.
  template <class Pos, class Embed>
  constexpr auto embedding(scope s, const auto& at) const {
    return nn::learned_sinusoidal<Embed>(s, at, options);
  }
};

}  // namespace position

}  // namespace weft::nn
#include "weft/header_end.hpp"
