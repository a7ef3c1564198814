// A cache that keeps the keys and values of the last positions only: for streams that never end.
//
//   struct Recent : nn::rolling<Pos, 250> {};  // each position sees itself and the 249 before it
//   const auto at = nn::rolling_state<Recent, Batch>(s / "stream");  // one for all layers
//   const auto past = nn::rolling_cache<Recent>(s / "cache", at, k, v);
//   const auto weights = nn::attention_weights<HeadDim, Recent>(q, past.keys, past.visible);
//   const auto y = dot<Recent>(weights, past.values);
//
// No position is too great. Cells and distances come from a counter that goes round, so that after
// two rounds of the ring every state is one that was there before. Positions count modulo 2^32, and
// angles in 2^-32 of a turn, so that differences of both are exact for ever.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/reject.hpp"
#include "weft/nn/cache.hpp"
#include "weft/nn/mask.hpp"
#include "weft/nn/position/encoding.hpp"
#include "weft/nn/position/frequencies.hpp"
#include "weft/nn/score.hpp"
#include "weft/ops/pad.hpp"

namespace weft::nn {

// The axis of a rolling cache: keys of the last Window positions along Pos, for each query its own
// among them, and of the first Sinks (Xiao et al. 2024, "Efficient streaming language models with
// attention sinks"). A run's first query sees keys that its last one does not, so there are Pos's
// bound - 1 cells more.
template <class Pos, std::size_t Window, std::size_t Sinks = 0>
struct rolling : axis<Sinks + Window + Pos::extent - 1> {
  static_assert(Window > 0, "nn::rolling: a window has at least the query's own position");
  using positions = Pos;                                         // those of a run
  static constexpr std::size_t window = Window;                  // positions that a query sees
  static constexpr std::size_t sinks = Sinks;                    // and the first ones, always
  static constexpr std::size_t ring = Window + Pos::extent - 1;  // cells that are used in turn
};

// What streams see where it is chosen at run time, int32 without axes; by default all that the ring
// has room for. Inputs are checked before a run, which throws weft::error.
template <class Window = no_term, class Sinks = no_term>
struct rolling_options {
  Window window{};  // positions that a query sees, its own among them: at most the ring's window
  Sinks sinks{};    // and the first ones: at most the ring's sinks
};
template <class Window, class Sinks>
rolling_options(Window, Sinks) -> rolling_options<Window, Sinks>;

namespace detail {

template <class T>
concept chosen_length = std::same_as<T, no_term> ||
    (expression<T>&& std::same_as<element_t<T>, std::int32_t>&& std::same_as<shape_t<T>, shape<>>);

// The axes that a weft::error about what is chosen names.
template <class Ring>
struct window_of : axis<up_to<Ring::window>> {};
template <class Ring>
struct sinks_of : axis<up_to<Ring::sinks>> {};
template <class Within, std::size_t Most, class T>
constexpr auto chosen(const T& length) {
  if constexpr (std::same_as<T, no_term>)
    return static_cast<std::int32_t>(Most);
  else
    return weft::detail::within<Within, true>(length);
}

template <class Ring>
concept rolling_axis = axis_like<Ring> && requires {
  Ring::sinks + Ring::ring;
};

// C is void where there is no count.
template <class C, class Options, class Ring, class... Batch>
constexpr rule rule_of_rolling() {
  if constexpr (!rolling_axis<Ring>)
    return rule::no_axes;
  else if (!chosen_length<decltype(Options::window)> || !chosen_length<decltype(Options::sinks)>)
    return rule::number;
  else if constexpr (expression<C>)
    return rule_of_decode_count<C, typename Ring::positions, Batch...>();
  else
    return rule_of_decode_state<typename Ring::positions, Batch...>();
}

}  // namespace detail

// The progress of each stream, and where the keys of a run are.
template <class Ring, class Count, class... Batch>
struct rolling_position {
  using ring = Ring;                           // the axis of the cache
  using positions = typename Ring::positions;  // those of a run

  tensor<std::int32_t, shape<Batch...>> offset;  // positions before this run, modulo 2^32
  Count count;                                   // those of this run, or all_positions
  tensor<std::int32_t, shape<Batch...>> cell;    // that of the run's first position
  // The positions of queries, up to that of the first one whose window begins after the sinks.
  tensor<std::int32_t, shape<positions, Batch...>> queries;
  // The positions of keys, where the run's first one is 0.
  tensor<std::int32_t, shape<Ring, Batch...>> keys;
  // Key position minus query position; sinks are before the query's window.
  tensor<std::int32_t, shape<Ring, Batch..., positions>> distance;
  tensor<bool, shape<Ring, Batch..., positions>> visible;  // whether a query sees a key
  tensor<bool, shape<Ring>> sinks;                         // whether a key is a sink
};

namespace detail {

template <class Ring, class... Batch, class Count>
constexpr auto roll(scope s, const Count& count, const auto& advance, const auto& options) {
  using Pos = typename Ring::positions;
  constexpr auto cells = static_cast<std::int32_t>(Ring::extent);
  constexpr auto ring = static_cast<std::int32_t>(Ring::ring);
  constexpr auto first = static_cast<std::int32_t>(Ring::sinks);
  const auto sinks = chosen<sinks_of<Ring>, Ring::sinks>(options.sinks);
  const auto window = chosen<window_of<Ring>, Ring::window>(options.window);
  const auto before = s.state<"length", std::int32_t, Batch...>();
  s.update(before, before + advance);
  // The index of the next position, from which whole rounds of the ring but one are taken.
  const auto next = s.state<"next", std::int32_t, Batch...>();
  const auto after = next + advance;
  s.update(next, where(after >= cells + ring, after - ring, after));

  // The index of the position whose key a cell has: the last one that was written there.
  const auto cell = positions<Ring>();
  const auto is_sink = attach_to(next, cell < sinks);
  const auto rounds =
      cast<std::int32_t>(cell + ring < after) + cast<std::int32_t>(cell + 2 * ring < after);
  auto keys = cell + rounds * ring - next;
  auto distance = keys - positions<Pos>();
  const auto furthest = window + sinks - 1;
  if constexpr (first > 0) {
    // A first position that is no sink is hidden before `next` goes round.
    const auto back = [&](const auto& n) {
      if constexpr (std::integral<decltype(sinks)>)
        return minimum(n, furthest);
      else
        return where(is_sink, minimum(n, furthest), n);
    };
    keys = where(cell < first, cell - back(next), keys);
    distance = where(cell < first, cell - back(next + positions<Pos>()), distance);
  }
  auto visible = distance <= 0 && distance > -window;
  if constexpr (first > 0) visible = distance <= 0 && (distance > -window || is_sink);
  const auto place = where(next >= cells, next - ring, next);
  const auto queries = minimum(positions<Pos>() + next, furthest);
  return rolling_position<Ring, Count, Batch...>{before, count,    place,   queries,
                                                 keys,   distance, visible, is_sink};
}

}  // namespace detail

// Streams that advance by all of the ring's Pos in every run. States, int32 [Batch...]: length, the
// number of positions so far modulo 2^32, and next, the index of the next position up to two rounds
// of the ring; both are 0 for a new stream, as reset makes them.
template <class Ring, class... Batch, class W = no_term, class S = no_term>
requires(detail::rule_of_rolling<void, rolling_options<W, S>, Ring, Batch...>() ==
         rule::none) constexpr auto rolling_state(scope s,
                                                  const rolling_options<W, S>& options = {}) {
  return detail::roll<Ring, Batch...>(
      s, all_positions{}, cast<std::int32_t>(length<typename Ring::positions>()), options);
}
// Streams that advance by the first `count` of the run's positions, see decode_state.
template <class Ring, class... Batch, expression C, class W = no_term, class S = no_term>
requires(detail::rule_of_rolling<C, rolling_options<W, S>, Ring, Batch...>() ==
         rule::none) constexpr auto rolling_state(scope s, const C& count,
                                                  const rolling_options<W, S>& options = {}) {
  const auto now = weft::detail::within<typename Ring::positions, true>(count);
  return detail::roll<Ring, Batch...>(s, now, now, options);
}
WEFT_REJECT_IF((class Ring, class... Batch, class W = no_term, class S = no_term),
               (detail::rule_of_rolling<void, rolling_options<W, S>, Ring, Batch...>()),
               rolling_state(scope, const rolling_options<W, S>& = {}),
               (no_axes,
                "nn::rolling_state: name an axis that derives from nn::rolling, then those of the "
                "batch, as in rolling_state<Recent, Batch>(s)"),
               (number, "nn::rolling_state: window and sinks are int32 without axes"))
WEFT_REJECT_IF((class Ring, class... Batch, expression C, class W = no_term, class S = no_term),
               (detail::rule_of_rolling<C, rolling_options<W, S>, Ring, Batch...>()),
               rolling_state(scope, const C&, const rolling_options<W, S>& = {}),
               (no_axes,
                "nn::rolling_state: name an axis that derives from nn::rolling, then those of the "
                "batch, as in rolling_state<Recent, Batch>(s, count)"),
               (number, "nn::rolling_state: window and sinks are int32 without axes"),
               (elements, "nn::rolling_state: the count is not int32"),
               (count_axes, "nn::rolling_state: the count has an axis that is none of the batch"))

// The position in its stream of each position of the run, modulo 2^32: endless_positions int32
// [Pos, Batch...], for encodings of embeddings, queries and keys.
template <class Ring, class Count, class... Batch>
constexpr auto position_ids(const rolling_position<Ring, Count, Batch...>& at) {
  using Pos = typename Ring::positions;
  const auto ids = positions<Pos>() + at.offset;
  using X = std::remove_const_t<decltype(ids)>;
  if constexpr (std::same_as<Count, all_positions>)
    return endless_positions<X, Ring::window>{ids};
  else
    return endless_positions<padded_positions<X, Pos, Count>, Ring::window>{{ids, at.count}};
}

// The mask over a rolling cache, bool [Ring, Pos, Batch...]: each query of the run sees its own
// position, the Window - 1 before it, and the sinks.
template <class Cache, class Ring, class Count, class... Batch>
requires std::same_as<Cache, Ring>
constexpr auto causal_cache_mask(const rolling_position<Ring, Count, Batch...>& at) {
  return detail::over_keys<Ring>(at.visible);
}

// attention_positions over a rolling cache; those of queries are at most Sinks + Window - 1.
template <class Pos, class Ring, expression At, expression Distance>
struct rolling_attention_positions : attention_positions<Pos, Ring, At> {
  Distance distance;  // key position minus query position
};
// Such positions, for an encoding's terms. Sink i of S comes no further than i - S - Window + 1.
template <class Pos, class Cache, class Ring, class Count, class... Batch>
requires std::same_as<Cache, Ring>
constexpr auto positions_in_attention(const rolling_position<Ring, Count, Batch...>& at,
                                      attention_position_options options = {}) {
  return rolling_attention_positions<Pos, Ring, decltype(at.queries), decltype(at.distance)>{
      {at.queries, options.scale}, at.distance};
}

namespace detail {

// The keys of the sinks.
template <class Ring>
struct first_keys : axis<Ring::sinks> {};
template <class Ring, expression K>
constexpr auto keys_of_sinks(const K& keys) {
  using X = element_t<K>;
  const node& n = keys.g->nodes[keys.id];
  const auto part = slice<Ring, first_keys<Ring>>(keys);
  if (n.kind != op::cast || keys.g->nodes[n.operand[0]].type != dtype::bfloat16) return part;
  // Attention reads the others as they are, without a conversion of all of them.
  const tensor<bfloat16, shape_t<K>> narrow{keys.g, n.operand[0]};
  return decltype(part)(cast<X>(slice<Ring, first_keys<Ring>>(narrow)));
}

}  // namespace detail

// An addend of attention scores, float [..., Pos, ..., Ring], for keys that are rotated before they
// are cached. It keeps the distance from a query to the sinks within the window, as Xiao et al.
// (2024, StreamingLLM) do: for a sink it is the score of `to_sinks` minus that of `turned`, and for
// other keys 0. `turned` are queries rotated at position_ids(at), `to_sinks` the same queries
// rotated at sink_position_ids(at), and keys those of the cache: each float [..., HeadDim].
template <class HeadDim, class Ring, class Count, class... Batch>
constexpr auto moved_sinks(const rolling_position<Ring, Count, Batch...>& at, const auto& to_sinks,
                           const auto& turned, const auto& keys, score_options options = {}) {
  using First = detail::first_keys<Ring>;
  const auto sinks = detail::keys_of_sinks<Ring>(keys);
  const auto more = dot_product_score<HeadDim>(to_sinks, sinks, options) -
                    dot_product_score<HeadDim>(turned, sinks, options);
  return pad<First, Ring, padding{.right = Ring::extent - Ring::sinks}>(
      more * cast<float>(slice<Ring, First>(at.sinks)));
}
// The positions at which queries are turned for that, endless_positions int32 [Pos, Batch...].
template <class Ring, class Count, class... Batch>
constexpr auto sink_position_ids(const rolling_position<Ring, Count, Batch...>& at) {
  return endless_positions<decltype(at.queries), Ring::window>{at.queries};
}

// The contents of a rolling cache.
template <class Keys, class Values, class Positions, class Visible>
struct rolling_rows : cached_rows<Keys, Values> {
  // Of keys that are turned after the cache, int32 [Ring, Batch...], those of queries being
  // weft::positions<Pos>(). Sinks come before the window.
  Positions positions;
  Visible visible;  // whether a query sees a key: bool [Ring, Batch..., Pos]
};

// The keys and values of the last positions, those of the run included, and of the sinks, as
// nn::kv_cache keeps them; `at` is that of a rolling_state of the same axis. Hidden keys may be
// anything. Keys that are turned by their positions, position_ids(at), before the cache, stay as
// they are; see moved_sinks for those of sinks. An encoding's terms take
// positions_in_attention<Pos, Ring>(at).
template <class Ring, class Element = void, detail::cache_position_like At, expression K,
          expression V>
requires(detail::rule_of_kv_cache<Ring, At, K, V>() ==
         rule::none) constexpr auto rolling_cache(scope s, const At& at, const K& k, const V& v) {
  const auto rows = kv_cache<Ring, Element>(s, at, k, v);
  return rolling_rows<decltype(rows.keys), decltype(rows.values), decltype(at.keys),
                      decltype(at.visible)>{rows, at.keys, at.visible};
}
WEFT_REJECT_IF((class Ring, class Element = void, detail::cache_position_like At, expression K,
                expression V),
               (detail::rule_of_kv_cache<Ring, At, K, V>()),
               rolling_cache(scope, const At&, const K&, const V&),
               (cache,
                "nn::rolling_cache: name the axis of its nn::rolling_state, which keys and values "
                "do not have, as in rolling_cache<Recent>(s, at, k, v)"),
               (rows, "nn::rolling_cache: keys and values have the axis of the run's positions"),
               (batch, "nn::rolling_cache: keys and values have all axes of the batch"))

}  // namespace weft::nn
#include "weft/header_end.hpp"
