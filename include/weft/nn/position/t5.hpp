// A learned scalar for each head and bucket of distances, added to the scores (Raffel et al. 2020).
#pragma once
#include "weft/header_begin.hpp"

#include "weft/nn/position/encoding.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/compare.hpp"
#include "weft/ops/convert.hpp"
#include "weft/ops/functions.hpp"
#include "weft/ops/gather.hpp"

namespace weft::nn {

namespace detail {

template <std::size_t Buckets>
struct bucket_of : axis<Buckets> {};

constexpr double power_of(double x, std::size_t n) {
  double power = 1;
  for (; n > 0; --n) power *= x;
  return power;
}

// The smallest distance of a bucket that has several: the least d with
// ⌊(buckets - exact) log(d / exact) / log(most / exact)⌋ = bucket - exact.
constexpr std::int32_t first_in_bucket(std::size_t bucket, std::size_t exact, std::size_t buckets,
                                       std::size_t most) {
  const auto one = static_cast<double>(exact);
  const double bound = power_of(static_cast<double>(most) / one, bucket - exact);
  std::size_t d = exact;
  while (power_of(static_cast<double>(d) / one, buckets - exact) < bound * (1 - 1e-12)) ++d;
  return static_cast<std::int32_t>(d);
}

}  // namespace detail

// Options of nn::t5_bucket and nn::position::t5.
struct t5_options {
  bool causal = false;  // keys after the query are in the bucket of distance 0
};

// The bucket of each distance, key position minus query position: int32 [...] to int32 of the same
// axes, as in T5's released code (Raffel et al. 2020, section 2.1: mesh_tensorflow's
// _relative_position_bucket). With n buckets for a direction, distances below e = n / 2 have a
// bucket each; distance d in [e, Most) is in bucket e + ⌊(n - e) log(d / e) / log(Most / e)⌋, and
// distances from Most on are in the last one. The second half of the buckets is for keys after the
// query, unless .causal. Fewer than 4 Buckets, and Most ≤ Buckets / 2, do not compile.
template <std::size_t Buckets, std::size_t Most, class T, class S>
constexpr auto t5_bucket(const tensor<T, S>& distance, t5_options options = {}) {
  static_assert(Buckets >= 4 && Most > Buckets / 2,
                "nn::t5_bucket: there are 4 buckets or more, and distances for all of them");
  const std::size_t buckets = options.causal ? Buckets : Buckets / 2;
  const std::size_t exact = buckets / 2;
  const auto back = maximum(-distance, 0);
  const auto far = options.causal ? back : maximum(back, distance);
  auto bucket = minimum(far, static_cast<std::int32_t>(exact));
  for (std::size_t b = exact + 1; b < buckets; ++b)
    bucket = bucket + cast<std::int32_t>(far >= detail::first_in_bucket(b, exact, buckets, Most));
  const auto half = static_cast<std::int32_t>(buckets);
  return options.causal ? bucket : bucket + cast<std::int32_t>(distance > 0) * half;
}

namespace position {

// b_h,bucket(j - i) added to the scores (Raffel et al. 2020, section 2.1). T5's layers share one
// such encoding: nn::shared(s, t5<>()); and its scores have .scale = 1. Parameter: weight [Buckets,
// Heads...], initially N(0, 0.02²).
template <std::size_t Buckets = 32, std::size_t Most = 128>
struct t5 : encoding {
  t5_options options;  // whether keys after the query have buckets of their own
  // With these options.
  constexpr t5(t5_options o = {}) : options(o) {}

  // The entry of the bucket for each head: see encoding::scores.
  template <class Heads, class HeadDim>
  constexpr auto scores(scope s, const auto& query, const auto& where) const {
    using Bucket = detail::bucket_of<Buckets>;
    const auto b = s.param<"weight", Bucket, Heads>();
    return by_distance<Most>(where, [&](const auto& distance) {
      const auto bucket = t5_bucket<Buckets, Most>(detail::attach_to(query, distance), options);
      return weft::detail::gather_with<0, Bucket>(b, bucket);
    });
  }
};

}  // namespace position

}  // namespace weft::nn
#include "weft/header_end.hpp"
