// Rotary position embedding (RoPE): queries and keys are rotated by angles proportional to their
// positions, so that a score depends on their distance only (Su et al. 2021).
#pragma once
#include "weft/header_begin.hpp"

#include <cstdint>
#include <numbers>
#include <optional>

#include "weft/graph/reject.hpp"
#include "weft/nn/position/encoding.hpp"
#include "weft/nn/position/frequencies.hpp"
#include "weft/ops/compare.hpp"
#include "weft/ops/mask.hpp"
#include "weft/ops/reduce.hpp"
#include "weft/ops/rotate.hpp"

namespace weft::nn {

using weft::rotary_pairs;

// Options of dynamic_scaling.
struct dynamic_options {
  double factor = 1;   // length divided by the trained length
  double trained = 0;  // the trained length, in positions
};

// Options of llama3_scaling.
struct llama3_options {
  double factor = 1;   // length divided by the trained length
  double trained = 0;  // the trained length, in positions
  double low = 1;      // turns over that length at which a frequency is divided by factor
  double high = 4;     // turns at which it is kept
};

// Options of yarn_scaling, most under the names of config.json.
struct yarn_options {
  double factor = 1;      // length divided by the trained length
  double trained = 0;     // the trained length, in positions
  double beta_slow = 1;   // turns over that length at which a frequency is divided by factor
  double beta_fast = 32;  // turns at which it is kept
  bool truncate = true;   // the bounds of the blend are rounded to whole pairs
  // Multiplies queries and keys, instead of what follows.
  std::optional<double> attention_factor = {};
  // Where there are both, the quotient of their yarn_magnitude multiplies queries and keys.
  std::optional<double> mscale = {};
  std::optional<double> mscale_all_dim = {};  // see mscale
};

// Scaling of rotary frequencies, to run on sequences longer than those of training.
struct rotary_scaling {
  // None, or the function that makes it: linear_scaling, ntk_scaling and so on.
  enum class kind { none, linear, ntk, dynamic, yarn, llama3 };
  kind what = kind::none;  // the function
  double factor = 1;       // length divided by the trained length
  double trained = 0;      // dynamic, yarn, llama3: the trained length, in positions
  double slow = 1;         // yarn, llama3: rotations over the trained length at and below which a
  double fast = 32;        // frequency is divided by factor, and at and above which it is not
  yarn_options yarn = {};  // those of yarn_scaling
};

// In these, config.json is a published model's, read by Hugging Face's transformers 5.24
// (modeling_rope_utils.py), whose "rope_type" names them; d is the number of rotated elements, and
// `trained` is "original_max_position_embeddings".

// "linear": positions are divided by factor (Chen et al. 2023, equation 3).
constexpr rotary_scaling linear_scaling(double factor) {
  return {rotary_scaling::kind::linear, factor};
}
// "NTK-aware" interpolation: the base is multiplied by factor^(d / (d - 2)), so that the fastest
// pair is unchanged and the frequency of the slowest divided by factor (Peng et al. 2023, equation
// 16).
constexpr rotary_scaling ntk_scaling(double factor) {
  return {rotary_scaling::kind::ntk, factor};
}
// "dynamic": ntk_scaling by factor n / trained - (factor - 1), where n is the greatest position of
// the run plus 1, or `trained` ("max_position_embeddings") if that is more. Keys in a cache keep
// the frequencies of the run that added them.
constexpr rotary_scaling dynamic_scaling(dynamic_options o) {
  return {rotary_scaling::kind::dynamic, o.factor, o.trained};
}
// "yarn": pairs up to low keep their frequency, those from high on have it divided by factor, those
// between a blend that is linear in the pair's index. Of a frequency that turns β times over the
// trained length the index is d ln(trained / (2π β)) / (2 ln base); low is that of beta_fast,
// rounded down, but at least 0; high is that of beta_slow, rounded up, but at most d - 1. Queries
// and keys are multiplied by yarn_magnitude(factor); see yarn_options for others. (Peng et al. 2023
// blend by the number of turns, their equations 18 to 20; published models were not trained so.)
constexpr rotary_scaling yarn_scaling(const yarn_options& o) {
  return {rotary_scaling::kind::yarn, o.factor, o.trained, o.beta_slow, o.beta_fast, o};
}
// 0.1 mscale ln(factor) + 1 (Peng et al. 2023, equation 22), 1 for a factor up to 1. DeepSeek-V3
// multiplies scores by the square of that of its "mscale_all_dim" besides.
constexpr double yarn_magnitude(double factor, double mscale = 1) {
  return factor <= 1 ? 1 : 0.1 * mscale * detail::natural_logarithm(factor) + 1;
}
// "llama3", of Llama 3.1: frequencies of at most `low` ("low_freq_factor") turns over the trained
// length are divided by factor, those of `high` ("high_freq_factor") and more are kept, and those
// between are a blend that is linear in the number of turns.
constexpr rotary_scaling llama3_scaling(llama3_options o) {
  return {rotary_scaling::kind::llama3, o.factor, o.trained, o.low, o.high};
}

// The base of the frequencies ω_j = base^(-2j / d), and their scaling.
struct rotary_options {
  double base = 10000;          // of the frequencies, "rope_theta"
  rotary_scaling scaling = {};  // none, or for sequences longer than those of training
  // The fraction of the pairs that is rotated, the fastest ones; the others have frequency 0. This
  // is "proportional" in Hugging Face's transformers, as in Gemma 4; in "partial" rotation, Size
  // below, the pairs are of the first elements of a head, and so are the frequencies.
  double share = 1;
};

namespace detail {

template <class T, class... A>
constexpr auto greatest(const T& x, shape<A...>) {
  if constexpr (sizeof...(A) == 0)
    return x;
  else
    return max<A...>(x);
}

// One more than the greatest of the positions `at` int32 [...], in this run; of endless ones, those
// that attention sees.
template <expression T>
constexpr auto length_of(const T& at) {
  if constexpr (endless_window < T >> 0)
    return constant(static_cast<float>(endless_window<T>));
  else
    return greatest(cast<float>(at), shape_t<T>{}) + 1.0f;
}

// The index of the pair that makes `turns` rotations over the trained length.
constexpr double pair_of_turns(double turns, double size, const rotary_options& o) {
  return size *
         (natural_logarithm(o.scaling.trained) - natural_logarithm(2 * std::numbers::pi * turns)) /
         (2 * natural_logarithm(o.base));
}

// The frequencies of yarn, of `plain` ones.
template <class Freq, class P>
constexpr auto yarn_frequencies(const P& plain, const rotary_options& o) {
  constexpr double size = 2 * static_cast<double>(Freq::extent);
  double low = pair_of_turns(o.scaling.fast, size, o);
  double high = pair_of_turns(o.scaling.slow, size, o);
  if (o.scaling.yarn.truncate) {
    low = rounded_down(low);
    high = -rounded_down(-high);
  }
  low = low > 0 ? low : 0;
  high = high < size - 1 ? high : size - 1;
  if (low == high) high += 0.001;
  const auto j = cast<float>(positions<Freq>());
  // high - j without cancellation, as pairs near high depend on its last bits.
  const double whole = rounded_down(high);
  const auto after = j * -1 + whole + (high - whole);
  const auto kept = minimum(maximum(after / (high - low), 0.f), 1.f);
  const auto slower = plain * (1 / o.scaling.factor);
  return slower * (kept * -1 + 1.0f) + plain * kept;
}

// Whether each number that the scaling uses is positive.
constexpr model_fault fault_of_rotary(const rotary_options& o) {
  using enum rotary_scaling::kind;
  const rotary_scaling& by = o.scaling;
  const bool has_length = by.what == dynamic || by.what == yarn || by.what == llama3;
  const bool has_turns = by.what == yarn;
  return fault_of_frequencies(o.base, by.factor, has_length ? by.trained : 1,
                              has_turns ? by.slow : 1, has_turns ? by.fast : 1);
}

// The frequencies [Freq] of a rotation of 2 × Freq elements by positions `at`, in x's graph.
template <class Freq, class X, class T>
constexpr tensor<float, shape<Freq>> rotary_frequencies(const X& x, const T& at,
                                                        const rotary_options& given) {
  constexpr double size = 2 * static_cast<double>(Freq::extent);
  const model_fault why = fault_of_rotary(given);
  if (why != model_fault::none) x.g->refuse(why, "");
  const rotary_options& o = why == model_fault::none ? given : rotary_options{};
  const rotary_scaling& by = o.scaling;
  auto plain = attach_to(x, geometric_frequencies<Freq>(size, {o.base}));
  if (o.share < 1) {
    const auto rotated = static_cast<std::int32_t>(o.share * static_cast<double>(Freq::extent));
    plain = where(positions<Freq>() < rotated, plain, 0.0f);
  }
  // A base that is multiplied by g^(d / (d - 2)): a single pair keeps its frequency of 1.
  constexpr double more = size == 2 ? 0 : 2 / (size - 2);
  switch (by.what) {
    case rotary_scaling::kind::none:
      return plain;
    case rotary_scaling::kind::linear:
      return plain * (1 / by.factor);
    case rotary_scaling::kind::ntk:
      return plain * powers_of_exp<Freq>(more * natural_logarithm(by.factor));
    case rotary_scaling::kind::dynamic: {
      const auto n = length_of(at);
      const auto g = maximum(n * (by.factor / by.trained) - (by.factor - 1), 1.0f);
      return plain * exp(cast<float>(positions<Freq>()) * -more * log(g));
    }
    case rotary_scaling::kind::yarn:
      return yarn_frequencies<Freq>(plain, o);
    case rotary_scaling::kind::llama3:
      break;
  }
  const auto turns = plain * (by.trained / (2 * std::numbers::pi));
  const auto kept = minimum(maximum((turns - by.slow) / (by.fast - by.slow), 0.f), 1.f);
  const auto slower = plain * (1 / by.factor);
  return slower + (plain - slower) * kept;
}

// What queries and keys are multiplied by.
constexpr double rotary_magnitude(const rotary_scaling& by) {
  if (by.what != rotary_scaling::kind::yarn) return 1;
  const yarn_options& o = by.yarn;
  if (o.attention_factor) return *o.attention_factor;
  if (!o.mscale || !o.mscale_all_dim) return yarn_magnitude(by.factor);
  return yarn_magnitude(by.factor, *o.mscale) / yarn_magnitude(by.factor, *o.mscale_all_dim);
}

// x rotated by angles [..., Freq], and multiplied by a magnitude.
template <class HeadDim, class Freq, rotary_pairs Pairs, class X, class A>
constexpr auto rotate_by(const X& x, const A& angle, double magnitude) {
  auto cosine = cos(angle);
  auto sine = sin(angle);
  if (magnitude != 1) {
    cosine = cosine * magnitude;
    sine = sine * magnitude;
  }
  return rotate<HeadDim, Freq, Pairs>(x, cosine, sine);
}

// Whether Size elements of a head, all of them if it is 0, are pairs.
template <class HeadDim, std::size_t Size>
inline constexpr bool are_pairs = false;
template <axis_like HeadDim, std::size_t Size>
inline constexpr bool are_pairs<HeadDim, Size> =
    (Size == 0 ? HeadDim::extent : Size) % 2 == 0 && Size <= HeadDim::extent;

// The encoding Own, which turns queries and keys alike, by its function rotated, and an even number
// of their elements.
template <class Own, std::size_t Size>
struct turning : encoding {
  template <class HeadDim>
  static constexpr bool fits_head = are_pairs<HeadDim, Size>;
  template <class Heads, class HeadDim>
  constexpr auto query(scope s, const auto& x, const auto& at) const {
    return static_cast<const Own&>(*this).template rotated<HeadDim>(s, x, at);
  }
  template <class Heads, class HeadDim>
  constexpr auto key(scope s, const auto& x, const auto& at) const {
    return static_cast<const Own&>(*this).template rotated<HeadDim>(s, x, at);
  }
};

template <class HeadDim, std::size_t Size, expression X>
constexpr rule rule_of_rotary() {
  if (!has_axis<HeadDim, shape_t<X>>) return rule::missing;
  return are_pairs<HeadDim, Size> ? rule::none : rule::pairs;
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
  const auto angle = detail::angles(at, detail::rotary_frequencies<Freq>(x, at, options));
  return detail::rotate_by<HeadDim, Freq, Pairs>(x, angle,
                                                 detail::rotary_magnitude(options.scaling));
}
WEFT_REJECT_IF((class HeadDim, rotary_pairs Pairs = rotary_pairs::half_split,
                std::size_t Size = HeadDim::extent, expression X, expression T),
               (detail::rule_of_rotary<HeadDim, Size, X>()),
               rotary(const X&, const T&, const rotary_options& = {}),
               WEFT_NO_SUCH_AXIS("nn::rotary"),
               (pairs,
                "nn::rotary: elements are rotated in pairs; name an even number of them, as in "
                "rotary<HeadDim, rotary_pairs::half_split, 4>(x, at)"))

template <class HeadDim, rotary_pairs Pairs = rotary_pairs::half_split,
          std::size_t Size = HeadDim::extent, class T, class Options = rotary_options>
requires(!expression<T>)
    WEFT_REJECT(rule::number, rotary(const expression auto&, const T&, const Options& = {}),
                (number,
                 "nn::rotary: the positions are a tensor of int32, such as "
                 "weft::positions<Pos>(), or nn::position_ids(at) of a decode state"))

// The same with trained frequencies [Freq], in radians for each position, which queries and keys
// share; Freq has half of HeadDim's extent or less. Declare them once with
// learned_frequencies<Freq>(s, size), and rotate both.
template <class HeadDim, rotary_pairs Pairs = rotary_pairs::half_split, expression X, expression T,
          class Freq>
constexpr auto rotary(const X& x, const T& at, const tensor<float, shape<Freq>>& frequencies) {
  const auto angle = detail::angles(at, frequencies);
  return rotate<HeadDim, Freq, Pairs>(x, cos(angle), sin(angle));
}

namespace position {

// nn::rotary of queries and keys, of all elements of a head (Size 0) or the first Size:
// position::rotary({.base = 500000, .scaling = nn::yarn_scaling({.factor = 4, .trained = 8192})}).
template <rotary_pairs Pairs = rotary_pairs::half_split, std::size_t Size = 0>
struct rotary : detail::turning<rotary<Pairs, Size>, Size> {
  rotary_options options;  // base and scaling
  // With this base and scaling.
  constexpr rotary(rotary_options o = {}) : options(o) {}

 private:
  friend detail::turning<rotary, Size>;
  template <class HeadDim>
  constexpr auto rotated(scope, const auto& x, const auto& at) const {
    constexpr std::size_t size = Size == 0 ? HeadDim::extent : Size;
    return nn::rotary<HeadDim, Pairs, size>(x, at, options);
  }
};

// The same with trained frequencies. Parameter: frequency, one for each pair, initially base^(-2j /
// d) for the d rotated elements. Each layer has its own, unless the encoding is nn::shared.
template <rotary_pairs Pairs = rotary_pairs::half_split, std::size_t Size = 0>
struct learned_rotary : detail::turning<learned_rotary<Pairs, Size>, Size> {
  frequency_options options;  // base of the initial frequencies
  // With initial frequencies of this base.
  constexpr learned_rotary(frequency_options o = {}) : options(o) {}

 private:
  friend detail::turning<learned_rotary, Size>;
  template <class HeadDim>
  constexpr auto rotated(scope s, const auto& x, const auto& at) const {
    constexpr std::size_t size = Size == 0 ? HeadDim::extent : Size;
    static_assert(size % 2 == 0, "nn::position::learned_rotary: elements are rotated in pairs");
    const auto frequencies =
        learned_frequencies<detail::pair_of<size>>(s.shared(), static_cast<double>(size), options);
    return nn::rotary<HeadDim, Pairs>(x, at, frequencies);
  }
};

// Options of position::long_rotary.
struct long_rotary_options {
  double base = 10000;    // of the frequencies
  double factor = 1;      // the model's length ("max_position_embeddings") divided by `trained`
  double trained = 4096;  // the trained length, in positions
  std::optional<double> attention_factor = {};  // multiplies queries and keys, by default see below
};

// LongRoPE (Ding et al. 2024, equation 3), "longrope" in config.json: the frequency of each pair is
// divided by a factor of its own, and queries and keys are multiplied by sqrt(1 + ln(factor) /
// ln(trained)), or 1 for a factor up to 1. Parameters: long_factor, one for each pair, for runs
// whose greatest position is `trained` or more, and short_factor, for others; initially ones; the
// lists of these names in config.json, or rope_factors_long.weight and rope_factors_short.weight of
// a GGUF. Keys in a cache keep the frequencies of the run that added them. With nn::shared, as in
// nn::shared(s / "rope", nn::position::long_rotary(options)), all layers have one.
template <rotary_pairs Pairs = rotary_pairs::half_split, std::size_t Size = 0>
struct long_rotary : detail::turning<long_rotary<Pairs, Size>, Size> {
  long_rotary_options options;  // base, factor and trained length
  // With this base, factor and trained length.
  constexpr long_rotary(long_rotary_options o = {}) : options(o) {}

 private:
  friend detail::turning<long_rotary, Size>;
  constexpr model_fault fault_of_trained() const {
    return weft::nn::detail::fault_of_frequencies(options.factor, options.trained - 1);
  }
  constexpr double magnitude() const {
    if (options.attention_factor) return *options.attention_factor;
    if (options.factor <= 1 || fault_of_trained() != model_fault::none) return 1;
    return weft::nn::detail::square_root(1 +
                                         weft::nn::detail::natural_logarithm(options.factor) /
                                             weft::nn::detail::natural_logarithm(options.trained));
  }
  template <class HeadDim>
  constexpr auto rotated(scope s, const auto& x, const auto& at) const {
    constexpr std::size_t size = Size == 0 ? HeadDim::extent : Size;
    static_assert(size % 2 == 0, "nn::position::long_rotary: elements are rotated in pairs");
    using Freq = weft::nn::detail::pair_of<size>;
    const model_fault why = fault_of_trained();
    if (why != model_fault::none) x.g->refuse(why, "");
    const auto shared = s.shared();
    const auto longer = shared.template param<"long_factor", Freq>(init::ones());
    const auto shorter = shared.template param<"short_factor", Freq>(init::ones());
    const auto length = weft::nn::detail::length_of(at);
    const auto factor = where(length > static_cast<float>(options.trained), longer, shorter);
    const auto plain = geometric_frequencies<Freq>(static_cast<double>(size), {options.base});
    return weft::nn::detail::rotate_by<HeadDim, Freq, Pairs>(
        x, weft::nn::detail::angles(at, plain / factor), magnitude());
  }
};

}  // namespace position

}  // namespace weft::nn
#include "weft/header_end.hpp"
