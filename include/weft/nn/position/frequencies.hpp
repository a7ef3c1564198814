// The frequencies of sinusoidal and rotary encodings, in radians per position.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>

#include "weft/graph/scope.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/convert.hpp"
#include "weft/ops/functions.hpp"
#include "weft/ops/sources.hpp"

namespace weft {

namespace nn {

// Positions modulo 2^32 in streams that never end, int32, of which attention sees the last Window:
// angles of rotary encodings and of sinusoids are then as accurate at any position.
template <expression X, std::size_t Window>
struct endless_positions : X {};

}  // namespace nn

template <class X, std::size_t Window>
struct expression_traits<nn::endless_positions<X, Window>> : expression_traits<X> {};

}  // namespace weft

namespace weft::nn {

// Options of encodings by sines and cosines.
struct frequency_options {
  double base = 10000;  // of the frequencies
};

namespace detail {

// A base, a factor and a length are finite and positive; else the model is refused.
constexpr model_fault fault_of_frequencies(double base, double factor = 1, double length = 1,
                                           double slow = 1, double fast = 1) {
  const double numbers[]{base, factor, length, slow, fast};
  for (const double x : numbers)
    if (!(x > 0 && x <= std::numeric_limits<double>::max())) return model_fault::frequencies;
  return model_fault::none;
}

// ln x for finite x > 0 to within 1e-15, while compiling, as std::log is not constexpr everywhere;
// 0 for another x, whose model is refused.
constexpr double natural_logarithm(double x) {
  if (fault_of_frequencies(x) != model_fault::none) return 0;
  double sum = 0;
  for (; x > 1.5; x /= 2) sum += std::numbers::ln2;
  for (; x < 0.75; x *= 2) sum -= std::numbers::ln2;
  const double t = (x - 1) / (x + 1);  // |t| <= 1/5, and ln x = 2 (t + t³/3 + t⁵/5 + …)
  double power = 2 * t;
  for (int k = 1; k < 24; k += 2, power *= t * t) sum += power / k;
  return sum;
}

// The square root of a number of at least 1, likewise.
constexpr double square_root(double x) {
  double root = x;
  for (double next = (1 + x) / 2; next < root; next = (root + x / root) / 2) root = next;
  return root;
}

constexpr double rounded_down(double x) {
  const auto whole = static_cast<double>(static_cast<std::int64_t>(x));
  return whole > x ? whole - 1 : whole;
}

// Internal axes of encodings: the pairs of Size elements, the last one with a padding element if
// Size is odd; all elements of the pairs; the two of a pair, and one of them.
template <std::size_t Size>
struct pair_of : axis<(Size + 1) / 2> {};
template <std::size_t Size>
struct in_pairs : axis<(Size + 1) / 2 * 2> {};
struct member : axis<2> {};
struct one_member : axis<1> {};

// exp(-rate j) for j = 0, 1, … along Freq, as accurate as exp. The rate is the sum of a number of
// 12 bits, whose products with j < 4096 are exact, and of a remainder whose products are small.
template <axis_like Freq>
constexpr auto powers_of_exp(double rate, model_fault why = model_fault::none) {
  const double size = rate < 0 ? -rate : rate;
  double unit = 1;
  while (size / unit >= 4096) unit *= 2;
  while (size > 0 && size / unit < 2048) unit /= 2;
  const double leading = static_cast<int>(rate / unit) * unit;
  const auto j = cast<float>(positions<Freq>());
  const auto rounded = weft::detail::constant_unless(why, static_cast<float>(-leading));
  return exp(j * rounded) * exp(j * (leading - rate));
}

template <class T>
inline constexpr std::size_t endless_window = 0;
template <class X, std::size_t Window>
inline constexpr std::size_t endless_window<endless_positions<X, Window>> = Window;

// Positions int32 [...] times frequencies float [..., Freq]. Angles of endless positions are
// counted in 2^-32 of a turn: what an int32 product drops is whole turns.
template <expression T, expression F>
constexpr auto angles(const T& at, const F& frequencies) {
  if constexpr (endless_window<T> == 0) {
    return cast<float>(at) * frequencies;
  } else {
    const auto turns = frequencies * (0.5 / std::numbers::pi);
    const auto step = cast<std::int32_t>((turns - round(turns)) * 0x1p32);
    return cast<float>(at * step) * (2 * std::numbers::pi / 0x1p32);
  }
}

}  // namespace detail

// ω_j = options.base^(-2j / size) for j = 0, 1, … along Freq: float [Freq] (Vaswani et al. 2017,
// section 3.5).
template <axis_like Freq>
constexpr auto geometric_frequencies(double size, frequency_options options = {}) {
  return detail::powers_of_exp<Freq>(2 / size * detail::natural_logarithm(options.base),
                                     detail::fault_of_frequencies(options.base));
}

// The same as the initial value of a parameter frequency [Freq], which is trained through sine and
// cosine.
template <axis_like Freq>
constexpr auto learned_frequencies(scope s, double size, frequency_options options = {}) {
  return s.param<"frequency", Freq>(init::powers(options.base, -2 / size));
}

}  // namespace weft::nn
#include "weft/header_end.hpp"
