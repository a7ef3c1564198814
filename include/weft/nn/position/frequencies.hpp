// The frequencies of sinusoidal and rotary encodings, in radians per position.
#pragma once

#include <cstddef>

#include "weft/graph/scope.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/convert.hpp"
#include "weft/ops/functions.hpp"
#include "weft/ops/sources.hpp"

namespace weft::nn {

namespace detail {

// Internal axes of encodings: the pairs of Size elements, the last one with a padding element if
// Size is odd; all elements of the pairs; the two of a pair, and one of them.
template <std::size_t Size>
struct pair_of : axis<(Size + 1) / 2> {};
template <std::size_t Size>
struct in_pairs : axis<(Size + 1) / 2 * 2> {};
struct member : axis<2> {};
struct one_member : axis<1> {};

}  // namespace detail

// ω_j = base^(-2j / size) for j = 0, 1, … along Freq: float [Freq] (Vaswani et al. 2017, section
// 3.5).
template <axis_like Freq>
constexpr auto geometric_frequencies(double size, double base = 10000) {
  auto const j = cast<float>(positions<Freq>());
  auto const exponent = j * -2 / static_cast<float>(size);
  return exp(exponent * log(constant(static_cast<float>(base))));
}

// The same as the initial value of a parameter frequency [Freq], which is trained through sine and
// cosine.
template <axis_like Freq>
constexpr auto learned_frequencies(scope s, double size, double base = 10000) {
  return s.param<"frequency", Freq>(init::powers(base, -2 / size));
}

}  // namespace weft::nn
