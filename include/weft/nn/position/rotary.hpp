// Rotary position embedding (RoPE): queries and keys are rotated by angles proportional to their
// positions, so that a score depends on their distance only (Su et al. 2021).
#pragma once

#include <numbers>

#include "weft/graph/reject.hpp"
#include "weft/nn/position/encoding.hpp"
#include "weft/nn/position/frequencies.hpp"
#include "weft/ops/rotate.hpp"

namespace weft::nn {

using weft::rotary_pairs;

// Scaling of rotary frequencies, to run on sequences longer than those of training.
struct rotary_scaling {
  // None, or the function that makes it: linear_scaling, ntk_scaling, yarn_scaling, llama3_scaling.
  enum class kind { none, linear, ntk, yarn, llama3 };
  kind what = kind::none;  // the function
  double factor = 1;       // length divided by the trained length
  double trained = 0;      // yarn, llama3: the trained length, in positions
  double slow = 1;         // yarn's α, in rotations over the trained length; llama3's low factor
  double fast = 32;        // yarn's β, likewise; llama3's high factor
};

// Position interpolation: positions are divided by factor (Chen et al. 2023, equation 3).
constexpr rotary_scaling linear_scaling(double factor) {
  return {rotary_scaling::kind::linear, factor};
}
// "NTK-aware" interpolation: the base is multiplied by factor^(d / (d - 2)), d the number of
// rotated elements, so that the fastest pair is unchanged and the frequency of the slowest divided
// by factor (Peng et al. 2023, equation 16).
constexpr rotary_scaling ntk_scaling(double factor) {
  return {rotary_scaling::kind::ntk, factor};
}
// YaRN: the frequencies of pairs with less than `slow` rotations over the trained length are
// divided by factor, those of pairs with more than `fast` are unchanged, and those between are
// interpolated (Peng et al. 2023, equations 18 to 20); queries and keys are multiplied by 0.1
// ln(factor) + 1 (equation 22). `trained` is in positions.
constexpr rotary_scaling yarn_scaling(double factor, double trained, double slow = 1,
                                      double fast = 32) {
  return {rotary_scaling::kind::yarn, factor, trained, slow, fast};
}

// The frequency bands of Llama 3.1 (Hugging Face's transformers, _compute_llama3_parameters): as
// yarn_scaling, with the "low_freq_factor" `low` and the "high_freq_factor" `high` as bounds, and
// without a factor of queries and keys. `trained` is "original_max_position_embeddings".
constexpr rotary_scaling llama3_scaling(double factor, double trained, double low = 1,
                                        double high = 4) {
  return {rotary_scaling::kind::llama3, factor, trained, low, high};
}

// The base of the frequencies ω_j = base^(-2j / d), and their scaling.
struct rotary_options {
  double base = 10000;          // of the frequencies
  rotary_scaling scaling = {};  // none, or for sequences longer than those of training
  // The fraction of the pairs that is rotated, the fastest ones; the others have frequency 0. This
  // is "proportional" in Hugging Face's transformers, as in Gemma 4; in "partial" rotation, Size
  // below, the pairs are of the first elements of a head, and so are the frequencies.
  double share = 1;
};

namespace detail {

// The frequencies [Freq] of a rotation of 2 × Freq elements, in x's graph.
template <class Freq, class X>
constexpr tensor<float, shape<Freq>> rotary_frequencies(const X& x, const rotary_options& o) {
  constexpr double size = 2 * static_cast<double>(Freq::extent);
  rotary_scaling const& by = o.scaling;
  auto plain = attach_to(x, geometric_frequencies<Freq>(size, o.base));
  if (o.share < 1) {
    auto const rotated = static_cast<std::int32_t>(o.share * static_cast<double>(Freq::extent));
    plain = where(positions<Freq>() < rotated, plain, 0.0f);
  }
  auto const slower = plain * static_cast<float>(1 / by.factor);
  switch (by.what) {
    case rotary_scaling::kind::none:
      return plain;
    case rotary_scaling::kind::linear:
      return slower;
    case rotary_scaling::kind::ntk:  // (factor^(d / (d - 2)))^(-2j / d); a single pair stays
      if (size == 2) return plain;
      return plain * geometric_frequencies<Freq>(size - 2, by.factor);
    case rotary_scaling::kind::yarn:
    case rotary_scaling::kind::llama3:
      break;
  }
  auto const rotations = plain * static_cast<float>(by.trained / (2 * std::numbers::pi));
  auto const ramp = minimum(
      maximum((rotations - static_cast<float>(by.slow)) / static_cast<float>(by.fast - by.slow),
              0.f),
      1.f);
  return slower + (plain - slower) * ramp;
}

// x rotated by angles [..., Freq], and multiplied by the factor of YaRN if the scaling is that.
template <class HeadDim, class Freq, rotary_pairs Pairs, class X, class A>
constexpr auto rotate_by(const X& x, const A& angle, const rotary_scaling& by) {
  auto cosine = cos(angle);
  auto sine = sin(angle);
  if (by.what == rotary_scaling::kind::yarn) {
    auto const magnitude = log(constant(static_cast<float>(by.factor))) * 0.1 + 1;
    cosine = cosine * magnitude;
    sine = sine * magnitude;
  }
  return rotate<HeadDim, Freq, Pairs>(x, cosine, sine);
}

template <class HeadDim, std::size_t Size, expression X>
constexpr rule rule_of_rotary() {
  if (!has_axis<HeadDim, shape_t<X>>) return rule::missing;
  if (Size % 2 != 0 || Size > HeadDim::extent) return rule::pairs;
  return rule::none;
}

}  // namespace detail

// Queries or keys x float [..., Pos, ..., HeadDim] with positions `at`, rotated (Su et al. 2021,
// equation 34): pair j by t ω_j radians at position t, ω_j = base^(-2j / Size). The first Size
// elements of a head are rotated, by default all; the others are copied. `at` is int32 [Pos, ...]:
// positions<Pos>(), nn::position_ids(...) for a cache, an input [Batch, Pos] for packed sequences.
// The result has x's axes, then those that only `at` has. Pairs selects the elements of a pair, see
// weft::rotate. An x without HeadDim, an odd Size, and one beyond HeadDim do not compile.
template <class HeadDim, rotary_pairs Pairs = rotary_pairs::half_split,
          std::size_t Size = HeadDim::extent, expression X, expression T>
constexpr auto rotary(const X& x, const T& at, const rotary_options& options = {}) {
  using Freq = detail::pair_of<Size>;
  auto const angle = cast<float>(at) * detail::rotary_frequencies<Freq>(x, options);
  return detail::rotate_by<HeadDim, Freq, Pairs>(x, angle, options.scaling);
}
template <class HeadDim, rotary_pairs Pairs = rotary_pairs::half_split,
          std::size_t Size = HeadDim::extent, expression X, expression T>
requires(detail::rule_of_rotary<HeadDim, Size, X>() != rule::none)
    WEFT_REJECT((detail::rule_of_rotary<HeadDim, Size, X>()),
                rotary(const X&, const T&, const rotary_options& = {}),
                (missing, "nn::rotary: the operand has no such axis"),
                (pairs,
                 "nn::rotary: elements are rotated in pairs; name an even number of them, as in "
                 "rotary<HeadDim, rotary_pairs::half_split, 4>(x, at)"))

template <class HeadDim, rotary_pairs Pairs = rotary_pairs::half_split,
          std::size_t Size = HeadDim::extent, expression X, class T, class Options = rotary_options>
requires(!expression<T>)
    WEFT_REJECT(rule::number, rotary(const X&, const T&, const Options& = {}),
                (number,
                 "nn::rotary: the positions are a tensor of int32, such as "
                 "weft::positions<Pos>(), or nn::position_ids(at) of a decode state"))

// The same with trained frequencies [Freq], in radians for each position, which queries and keys
// share; Freq has half of HeadDim's extent or less. Declare them once with
// learned_frequencies<Freq>(s, size), and rotate both.
template <class HeadDim, rotary_pairs Pairs = rotary_pairs::half_split, expression X, expression T,
          class Freq>
constexpr auto rotary(const X& x, const T& at, const tensor<float, shape<Freq>>& frequencies) {
  auto const angle = cast<float>(at) * frequencies;
  return rotate<HeadDim, Freq, Pairs>(x, cos(angle), sin(angle));
}

namespace position {

// nn::rotary of queries and keys, of all elements of a head (Size 0) or the first Size:
// position::rotary({.base = 500000, .scaling = nn::yarn_scaling(4, 8192)}).
template <rotary_pairs Pairs = rotary_pairs::half_split, std::size_t Size = 0>
struct rotary : encoding {
  rotary_options options;  // base and scaling
  // With this base and scaling.
  constexpr rotary(rotary_options o = {}) : options(o) {}

  // Rotated queries: see encoding::query.
  template <class Heads, class HeadDim>
  constexpr auto query(scope, const auto& x, const auto& at) const {
    return rotated<HeadDim>(x, at);
  }
  // Rotated keys: see encoding::key.
  template <class Heads, class HeadDim>
  constexpr auto key(scope, const auto& x, const auto& at) const {
    return rotated<HeadDim>(x, at);
  }

 private:
  template <class HeadDim>
  constexpr auto rotated(const auto& x, const auto& at) const {
    constexpr std::size_t size = Size == 0 ? HeadDim::extent : Size;
    return nn::rotary<HeadDim, Pairs, size>(x, at, options);
  }
};

// The same with trained frequencies. Parameter: frequency, one for each pair, initially base^(-2j /
// d) for the d rotated elements. Each layer has its own, unless the encoding is nn::shared.
template <rotary_pairs Pairs = rotary_pairs::half_split, std::size_t Size = 0>
struct learned_rotary : encoding {
  double base;  // of the initial frequencies
  // With initial frequencies of base b.
  constexpr explicit learned_rotary(double b = 10000) : base(b) {}

  // Rotated queries: see encoding::query.
  template <class Heads, class HeadDim>
  constexpr auto query(scope s, const auto& x, const auto& at) const {
    return rotated<HeadDim>(s, x, at);
  }
  // Rotated keys: see encoding::key.
  template <class Heads, class HeadDim>
  constexpr auto key(scope s, const auto& x, const auto& at) const {
    return rotated<HeadDim>(s, x, at);
  }

 private:
  template <class HeadDim>
  constexpr auto rotated(scope s, const auto& x, const auto& at) const {
    constexpr std::size_t size = Size == 0 ? HeadDim::extent : Size;
    static_assert(size % 2 == 0, "nn::position::learned_rotary: elements are rotated in pairs");
    auto const frequencies =
        learned_frequencies<detail::pair_of<size>>(s.shared(), static_cast<double>(size), base);
    return nn::rotary<HeadDim, Pairs>(x, at, frequencies);
  }
};

// Options of position::long_rotary.
struct long_rotary_options {
  double base = 10000;    // of the frequencies
  double factor = 1;      // length divided by the trained length
  double trained = 4096;  // the trained length, in positions
};

// LongRoPE (Ding et al. 2024, equation 3): the frequency of each pair is divided by a factor of its
// own, and queries and keys are multiplied by sqrt(1 + ln(factor) / ln(trained)), as in Hugging
// Face's transformers (_compute_longrope_parameters). Parameter: factor, one for each pair,
// initially ones: the published list "long_factor", or the tensor rope_factors_long.weight of a
// GGUF, for bounds beyond the trained length, and the "short" one otherwise. With nn::shared, as in
// nn::shared(s / "rope", nn::position::long_rotary(options)), all layers have one.
template <rotary_pairs Pairs = rotary_pairs::half_split, std::size_t Size = 0>
struct long_rotary : encoding {
  long_rotary_options options;  // base, factor and trained length
  // With this base, factor and trained length.
  constexpr long_rotary(long_rotary_options o = {}) : options(o) {}

  // Rotated queries: see encoding::query.
  template <class Heads, class HeadDim>
  constexpr auto query(scope s, const auto& x, const auto& at) const {
    return rotated<HeadDim>(s, x, at);
  }
  // Rotated keys: see encoding::key.
  template <class Heads, class HeadDim>
  constexpr auto key(scope s, const auto& x, const auto& at) const {
    return rotated<HeadDim>(s, x, at);
  }

 private:
  template <class HeadDim>
  constexpr auto rotated(scope s, const auto& x, const auto& at) const {
    constexpr std::size_t size = Size == 0 ? HeadDim::extent : Size;
    static_assert(size % 2 == 0, "nn::position::long_rotary: elements are rotated in pairs");
    using Freq = detail::pair_of<size>;
    auto const factor = s.shared().template param<"factor", Freq>(init::ones());
    auto const angle =
        cast<float>(at) *
        (geometric_frequencies<Freq>(static_cast<double>(size), options.base) / factor);
    // A factor of at most 1 does not lengthen the sequence.
    auto const longer = log(constant(static_cast<float>(options.factor > 1 ? options.factor : 1)));
    auto const magnitude = sqrt(longer / log(constant(static_cast<float>(options.trained))) + 1);
    return rotate<HeadDim, Freq, Pairs>(x, cos(angle) * magnitude, sin(angle) * magnitude);
  }
};

}  // namespace position

}  // namespace weft::nn
