// Incremental decoding: a cache keeps the keys and values of earlier positions from run to run.
//
// For queries q, keys k and values v of the positions Pos of a run, [Batch, Pos, Heads, HeadDim]:
//
//   const auto at = nn::decode_state<Pos, Batch>(s / "decoding");
//   const auto past = nn::kv_cache<Cache>(s / "cache", at, k, v);
//   const auto mask = nn::causal_cache_mask<Cache>(at);
//   const auto weights = nn::attention_weights<HeadDim, Cache>(q, past.keys, mask);
//   const auto y = dot<Cache>(weights, past.values);
//
// Runs over the parts of a sequence, one after another, give what one run over the whole sequence
// gives. One `at` serves all layers. Cache is an axis of its own, up_to as many positions as a
// sequence may have; unused capacity costs no time.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/reject.hpp"
#include "weft/graph/scope.hpp"
#include "weft/nn/mask.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/convert.hpp"
#include "weft/ops/mask.hpp"
#include "weft/ops/sources.hpp"
#include "weft/ops/view.hpp"
#include "weft/ops/write.hpp"

namespace weft {

namespace nn {

// Positions int32 [Pos, ...] of sequences of which the first `count` of Pos belong to each: those
// of its padding may lie beyond the axis that they index.
template <expression X, class Pos, expression Count>
struct padded_positions : X {
  Count count;  // the positions that belong to each sequence

  // The positions as indices, which are 0 for the padding.
  constexpr auto indices() const {
    return where(positions<Pos>() < count, static_cast<const X&>(*this), 0);
  }
};

}  // namespace nn

template <class X, class Pos, class Count>
struct expression_traits<nn::padded_positions<X, Pos, Count>> : expression_traits<X> {};

}  // namespace weft

namespace weft::nn {

// Instead of a count: every sequence advances by all positions of Pos.
struct all_positions {};

// The progress of each sequence, in positions. `offset`, int32 [Batch...], is the number of
// positions before this run. `count`, int32 over some of the batch's axes, is the number of
// positions of Pos that belong to the sequence, or all_positions.
template <class Pos, expression Offset, class Count>
struct cache_position {
  using positions = Pos;  // those of a run

  Offset offset;  // the number of positions before this run
  Count count;    // those of this run, or all_positions
};

namespace detail {

template <class At>
concept cache_position_like = requires(At at) {
  at.offset, at.count;
};

template <class Pos, class... Batch>
constexpr rule rule_of_decode_state() {
  if (!(axis_like<Pos> && ... && axis_like<Batch>) || !distinct<shape<Pos, Batch...>>)
    return rule::no_axes;
  return rule::none;
}
template <expression C, class Pos, class... Batch>
constexpr rule rule_of_decode_count() {
  if constexpr (rule_of_decode_state<Pos, Batch...>() != rule::none) return rule::no_axes;
  if (!std::same_as<element_t<C>, std::int32_t>) return rule::elements;
  if (!subset<shape_t<C>, shape<Batch...>>) return rule::count_axes;
  return rule::none;
}

template <class At>
concept is_rolling = requires {
  typename At::ring;
};

template <class Cache, class At, expression X>
constexpr rule rule_of_cached_rows() {
  if (!axis_like<Cache> || has_axis<Cache, shape_t<X>>) return rule::cache;
  if constexpr (is_rolling<At>)
    if (!std::same_as<Cache, typename At::ring>) return rule::cache;
  if (!has_axis<typename At::positions, shape_t<X>>) return rule::rows;
  if (!subset<shape_t<decltype(At::offset)>, shape_t<X>>) return rule::batch;
  return rule::none;
}
template <class Cache, class At, expression K, expression V>
constexpr rule rule_of_kv_cache() {
  constexpr rule of_keys = rule_of_cached_rows<Cache, At, K>();
  return of_keys != rule::none ? of_keys : rule_of_cached_rows<Cache, At, V>();
}

template <class T, expression X>
constexpr auto converted(const X& x) {
  if constexpr (std::same_as<element_t<X>, T>)
    return x;
  else
    return cast<T>(x);
}

// The axes of a cache: those of the rest of the rows, and Cache before the last of them. So one
// head's keys are contiguous, as attention reads them; where the heads of a position were
// neighbours, a step over 8000 positions took twice as long.
template <class Cache, class Rest>
struct cache_axes {
  using type = shape<Cache>;
};
template <class Cache, class Last>
struct cache_axes<Cache, shape<Last>> {
  using type = shape<Cache, Last>;
};
template <class Cache, class First, class... Rest>
requires(sizeof...(Rest) > 0) struct cache_axes<Cache, shape<First, Rest...>> {
  using type = united<shape<First>, typename cache_axes<Cache, shape<Rest...>>::type>;
};

template <class Cache, fixed_string Name, class At, class T, class... Axes>
constexpr auto append_to_cache(scope s, const At& at, const auto& x, tensor<T, shape<Axes...>>*) {
  using Pos = typename At::positions;
  const auto past = s.template state<Name, T, Axes...>();
  const auto rows = converted<T>(x);
  const auto now = [&] {
    if constexpr (is_rolling<At>) {
      constexpr std::size_t ring = Cache::ring;
      if constexpr (std::same_as<decltype(At::count), all_positions>)
        return weft::detail::write_in_ring<Cache, Pos, ring>(past, rows, at.cell);
      else
        return weft::detail::write_in_ring<Cache, Pos, ring>(past, rows, at.cell, at.count);
    } else if constexpr (std::same_as<decltype(At::count), all_positions>)
      return write<Cache, Pos>(past, rows, at.offset);
    else
      return write<Cache, Pos>(past, rows, at.offset, at.count);
  }();
  s.update(past, now);
  return now;
}
template <class Cache, fixed_string Name, class T, class At, expression X>
constexpr auto append_to_cache(scope s, const At& at, const X& x) {
  using rest = without<shape_t<X>, shape<typename At::positions>>;
  using kept = tensor<T, typename cache_axes<Cache, rest>::type>;
  return converted<element_t<X>>(
      append_to_cache<Cache, Name>(s, at, x, static_cast<kept*>(nullptr)));
}

}  // namespace detail

// Sequences that advance by all of Pos in every run. State: length, int32 [Batch...], the number of
// positions so far; setting it back, or resetting it, discards the positions after it.
template <class Pos, class... Batch>
requires(detail::rule_of_decode_state<Pos, Batch...>() ==
         rule::none) constexpr auto decode_state(scope s) {
  const auto before = s.state<"length", std::int32_t, Batch...>();
  s.update(before, before + cast<std::int32_t>(length<Pos>()));
  return cache_position<Pos, tensor<std::int32_t, shape<Batch...>>, all_positions>{before, {}};
}
// Sequences that advance by the first `count` of the run's positions, as prompts of different
// lengths that are padded to one: int32 over any of the batch's axes, not negative and not more
// than Pos's length. What the run computes for the padding is meaningless, and is not cached.
// An input `count` is checked before a run, which throws weft::error.
template <class Pos, class... Batch, expression C>
requires(detail::rule_of_decode_count<C, Pos, Batch...>() ==
         rule::none) constexpr auto decode_state(scope s, const C& count) {
  const auto before = s.state<"length", std::int32_t, Batch...>();
  const auto now = weft::detail::within<Pos, true>(count);
  s.update(before, before + now);
  return cache_position<Pos, tensor<std::int32_t, shape<Batch...>>, C>{before, now};
}
WEFT_REJECT_IF((class Pos, class... Batch), (detail::rule_of_decode_state<Pos, Batch...>()),
               decode_state(scope),
               (no_axes,
                "nn::decode_state: name the axis of the positions, then those of the batch, as in "
                "decode_state<Pos, Batch>(s)"))
WEFT_REJECT_IF((class Pos, class... Batch, expression C),
               (detail::rule_of_decode_count<C, Pos, Batch...>()), decode_state(scope, const C&),
               (no_axes,
                "nn::decode_state: name the axis of the positions, then those of the batch, as in "
                "decode_state<Pos, Batch>(s, count)"),
               (elements, "nn::decode_state: the count is not int32"),
               (count_axes, "nn::decode_state: the count has an axis that is none of the batch"))

// The index within its sequence of each position of the run: int32 [Pos, Batch...], for position
// encodings. What is gathered at the padding is that of position 0.
template <class Pos, class Offset, class Count>
constexpr auto position_ids(const cache_position<Pos, Offset, Count>& at) {
  const auto ids = positions<Pos>() + at.offset;
  if constexpr (std::same_as<Count, all_positions>)
    return ids;
  else
    return padded_positions<std::remove_const_t<decltype(ids)>, Pos, Count>{ids, at.count};
}

// The causal mask over a cache, bool [Cache, Pos, Batch...]: each query of the run sees its own
// position and those before it in its sequence. Fused attention does not materialize it, and skips
// the keys that it hides. For a sliding window, combine it by && with, say, positions<Cache>() >
// position_ids(at) - 128.
template <class Cache, class Pos, class Offset, class Count>
constexpr auto causal_cache_mask(const cache_position<Pos, Offset, Count>& at) {
  const auto before = causal<Pos, Cache>(at.offset);
  if constexpr (std::same_as<Count, all_positions>)
    return before;
  else
    return before && valid<Cache>(at.offset + at.count);
}

// The contents of a cache: keys and values.
template <class Keys, class Values>
struct cached_rows {
  Keys keys;      // [..., Cache, Last]
  Values values;  // [..., Cache, Last]
};
template <class Keys, class Values>
cached_rows(Keys, Values) -> cached_rows<Keys, Values>;

// All keys and values so far, those of the run included: k and v [Axes..., Last] with Pos among
// them and all axes of the batch, as [Axes... without Pos, Cache, Last] of the same dtypes. States:
// keys and values, of the same axes. A run whose positions do not fit into Cache throws weft::error
// before it begins, naming the state length. With weft::bfloat16 as Element, for k and v of float,
// the states are rounded to that and take half of the memory: kv_cache<Cache, weft::bfloat16>(s,
// at, k, v). Fused attention reads them as they are.
template <class Cache, class Element = void, detail::cache_position_like At, expression K,
          expression V>
constexpr auto kv_cache(scope s, const At& at, const K& k, const V& v) {
  constexpr bool as_given = std::same_as<Element, void>;
  using key = std::conditional_t<as_given, element_t<K>, Element>;
  using value = std::conditional_t<as_given, element_t<V>, Element>;
  const auto keys = detail::append_to_cache<Cache, "keys", key>(s, at, k);
  const auto values = detail::append_to_cache<Cache, "values", value>(s, at, v);
  return cached_rows{keys, values};
}
WEFT_REJECT_IF((class Cache, class Element = void, detail::cache_position_like At, expression K,
                expression V),
               (detail::rule_of_kv_cache<Cache, At, K, V>()),
               kv_cache(scope, const At&, const K&, const V&),
               (cache,
                "nn::kv_cache: name the cache's axis, which keys and values do not have, as in "
                "kv_cache<Cache>(s, at, k, v)"),
               (rows, "nn::kv_cache: keys and values have the axis of the run's positions"),
               (batch, "nn::kv_cache: keys and values have all axes of the batch"))

}  // namespace weft::nn
#include "weft/header_end.hpp"
