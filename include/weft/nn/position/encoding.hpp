// Position encodings as interchangeable parts of a model.
//
// A model chooses its encoding in one line, and passes it to its layers:
//
//   constexpr auto encoding = nn::position::rotary{};
//   auto x = nn::add_positions<Pos, Embed>(s / "position", embedded, encoding);
//   auto y = nn::encoder<axes>(s, x, layers, mask, {}, encoding);
//
// An encoding is a struct derived from nn::encoding that hides the members it changes: it can add
// to the embedding, transform queries and keys, and add to the scores and to the weighted values.
#pragma once
#include "weft/header_begin.hpp"

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "weft/graph/reject.hpp"
#include "weft/graph/scope.hpp"
#include "weft/nn/detail.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/gather.hpp"
#include "weft/ops/sources.hpp"
#include "weft/ops/view.hpp"

namespace weft::nn {

// What an attention's keys come from, for encodings that depend on it.
template <class Features, expression Source, expression Key>
struct key_source {
  using features = Features;  // the axis of the source that is projected
  Source source;              // float [..., KeyPos, Features]
  Key key;                    // its projection, float [..., KeyPos, Heads..., HeadDim]
};

// The positions of the queries and keys of an attention: those of queries are `at`, int32 [Pos,
// ...], and key j along KeyPos has position j: an `at` that is an input has indices of KeyPos, or
// weft::error says so before a run. `scale` is the scale of the scores, see nn::scaled.
// `keys` is a key_source, or no_term where the keys are those of a cache.
template <class Pos, class KeyPos, expression At, class Keys = no_term>
struct attention_positions {
  using key_positions = KeyPos;  // the axis of the keys
  using keys_of = Keys;          // the type of `keys`

  At at;                        // the positions of the queries
  std::optional<double> scale;  // by default 1 / sqrt(HeadDim)
  Keys keys{};                  // the key_source, or no_term
};
// Options of nn::positions_in_attention.
struct attention_position_options {
  std::optional<double> scale = {};  // of the scores
};
// Such positions.
template <class Pos, class KeyPos, expression At>
constexpr attention_positions<Pos, KeyPos, At> positions_in_attention(
    const At& at, attention_position_options options = {}) {
  return {weft::detail::within<KeyPos, false>(at), options.scale};
}
// The same, with the keys' source: float [..., KeyPos, Features], and the keys projected from it.
template <class Pos, class KeyPos, class Features, expression Source, expression Key>
constexpr auto positions_in_attention(const expression auto& at, const Source& source,
                                      const Key& key, attention_position_options options = {}) {
  using At = std::remove_cvref_t<decltype(at)>;
  using Keys = key_source<Features, Source, Key>;
  return attention_positions<Pos, KeyPos, At, Keys>{
      weft::detail::within<KeyPos, false>(at), options.scale, {source, key}};
}

// No encoding, nn::position::none: attention does not depend on positions. Others derive from it,
// and hide the members that they change. The scope is the encoding's own, for its parameters.
struct encoding {
  // Whether it can turn heads of HeadDim elements.
  template <class HeadDim>
  static constexpr bool fits_head = true;
  // The term added to the embeddings at positions `at`, int32 [Pos, ...]: float [Pos, ..., Embed],
  // or no_term.
  template <class Pos, class Embed>
  constexpr auto embedding(scope, const auto& /*at*/) const {
    return no_term{};
  }
  // Transforms queries float [..., Pos, Heads..., HeadDim] at positions `at`, int32 [Pos, ...].
  // Heads is a weft::shape.
  template <class Heads, class HeadDim>
  constexpr auto query(scope, const auto& x, const auto& /*at*/) const {
    return x;
  }
  // Transforms keys float [..., KeyPos, Heads..., HeadDim] likewise, at positions int32 [KeyPos,
  // ...]. Keys may have fewer axes of heads than queries.
  template <class Heads, class HeadDim>
  constexpr auto key(scope, const auto& x, const auto& /*at*/) const {
    return x;
  }
  // The term added to the scores: float over any of [..., Pos, Heads..., KeyPos], or no_term.
  // `query` is as above but not transformed, `where` the attention_positions.
  template <class Heads, class HeadDim>
  constexpr auto scores(scope, const auto& /*query*/, const auto& /*where*/) const {
    return no_term{};
  }
  // The term added to the weighted values: float [..., Pos, Heads..., ValueDim], or no_term.
  // `weights` is float [..., Pos, Heads..., KeyPos].
  template <class Heads, class ValueDim>
  constexpr auto values(scope, const auto& /*weights*/, const auto& /*where*/) const {
    return no_term{};
  }
};

namespace detail {

// Whether these are the positions 0, 1, 2, … along Pos, as positions<Pos>() gives them.
template <class Pos, class At>
inline constexpr bool is_sequential =
    std::same_as<std::remove_cvref_t<At>, decltype(positions<Pos>())>;

// A fragment as a tensor of x's graph, so that both branches of a choice have one type.
template <class X, expression E>
constexpr tensor<element_t<E>, shape_t<E>> attach_to(const X& x, const E& e) {
  return {x.g, attach(*x.g, e)};
}

}  // namespace detail

// A position encoding: nn::encoding, or a struct derived from it.
template <class P>
concept encoding_like = std::derived_from<P, encoding>;

// Options of nn::add_positions.
struct position_options {
  double dropout = 0;  // the rate at which elements of the sum are dropped in training
};

// Position encodings, to be given to layers.
namespace position {
// No position encoding.
using none = encoding;
}  // namespace position

// An encoding for queries at the positions 0, 1, 2, … along Pos.
template <class Pos, encoding_like P>
struct query_encoding {
  P position_encoding;  // of queries and keys
};
// Such an encoding, for nn::multi_head_attention.
template <class Pos, encoding_like P>
constexpr query_encoding<Pos, P> for_queries(const P& position_encoding) {
  return {position_encoding};
}

namespace detail {

// Whether P, if it is an encoding, can turn heads of HeadDim elements.
template <class HeadDim, class P>
inline constexpr bool fits_head = true;
template <class HeadDim, encoding_like P>
inline constexpr bool fits_head<HeadDim, P> = P::template fits_head<HeadDim>;
template <class HeadDim, class Pos, class P>
inline constexpr bool fits_head<HeadDim, query_encoding<Pos, P>> = fits_head<HeadDim, P>;

template <class P>
inline constexpr bool is_query_encoding = std::same_as<P, no_term>;
template <class Pos, class P>
inline constexpr bool is_query_encoding<query_encoding<Pos, P>> = true;
template <class P>
concept query_encoding_like = is_query_encoding<P>;

template <class Pos, class Embed, expression X>
constexpr rule rule_of_add_positions() {
  if (!has_axis<Pos, shape_t<X>> || !has_axis<Embed, shape_t<X>>) return rule::missing;
  if (!weft::detail::floating<X>) return rule::elements;
  return rule::none;
}
// Where At are the options, there are no positions.
template <class Pos, class Embed, expression X, class At>
constexpr rule rule_of_add_positions() {
  if constexpr (!expression<At>) {
    return std::same_as<At, position_options> ? rule::none : rule::number;
  } else {
    constexpr rule of_x = rule_of_add_positions<Pos, Embed, X>();
    if (of_x != rule::none) return of_x;
    if (!std::same_as<element_t<At>, std::int32_t> || !has_axis<Pos, shape_t<At>> ||
        !subset<shape_t<At>, shape_t<X>>)
      return rule::positions;
    return rule::none;
  }
}

// Where no axis is Named, an encoding applies to the positions 0, 1, 2, … along Pos only.
template <class Named, class Pos, expression At>
constexpr rule rule_of_named() {
  return std::same_as<Named, void> && !is_sequential<Pos, At> ? rule::positions : rule::none;
}

}  // namespace detail

// x float [..., Pos, ..., Embed] plus the encoding's term for embeddings at positions `at`, int32
// [Pos, ...] of x's axes, as nn::position_ids gives them. Elements of the sum may be dropped in
// training (Vaswani et al. 2017, section 5.4). Misuse does not compile: see the WEFT_REJECT
// overloads.
template <class Pos, class Embed, expression X, encoding_like P, expression At>
requires(detail::rule_of_add_positions<Pos, Embed, X, At>() ==
         rule::none) constexpr auto add_positions(scope s, const X& x, const P& position_encoding,
                                                  const At& at, position_options options = {}) {
  return detail::dropped(
      detail::add_term(x, position_encoding.template embedding<Pos, Embed>(s, at)),
      options.dropout);
}
WEFT_REJECT_IF(
    (class Pos, class Embed, expression X, encoding_like P, class At),
    (detail::rule_of_add_positions<Pos, Embed, X, At>()),
    add_positions(scope, const X&, const P&, const At&, position_options = {}),
    (number,
     "nn::add_positions: the positions are a tensor of int32, such as weft::positions<Pos>(), or "
     "nn::position_ids(at) of a decode state; a rate is {.dropout = 0.1}"),
    (missing, "nn::add_positions: the operand lacks Pos or Embed"),
    WEFT_NOT_FLOAT("nn::add_positions"),
    (positions,
     "nn::add_positions: the positions are not int32 over Pos and other axes of the operand"))

// The same at the positions 0, 1, 2, … along Pos.
template <class Pos, class Embed, expression X, encoding_like P>
constexpr auto add_positions(scope s, const X& x, const P& position_encoding,
                             position_options options = {}) {
  return add_positions<Pos, Embed>(s, x, position_encoding, positions<Pos>(), options);
}
WEFT_REJECT_IF((class Pos, class Embed, expression X, encoding_like P),
               (detail::rule_of_add_positions<Pos, Embed, X>()),
               add_positions(scope, const X&, const P&, position_options = {}),
               (missing, "nn::add_positions: the operand lacks Pos or Embed"),
               WEFT_NOT_FLOAT("nn::add_positions"))

template <class Pos, class Embed, expression X, class P, class... More>
requires(!encoding_like<P>)
    WEFT_REJECT(rule::encoding, add_positions(scope, const X&, const P&, const More&...),
                (encoding,
                 "nn::add_positions: the encoding is none; derive from weft::nn::encoding"))

// The axis of a table over the distances from -Most to Most.
template <std::size_t Most>
struct distances : axis<2 * Most + 1> {};

namespace detail {

// Key position minus query position: int32 [KeyPos, Pos, ...].
template <class Where>
constexpr auto distance_of(const Where& where) {
  if constexpr (requires { where.distance; })
    return where.distance;
  else
    return positions<typename Where::key_positions>() - where.at;
}

// The index along Distance for each query and key: int32 [KeyPos, Pos, ...].
template <class Distance, class Where>
constexpr auto distance_index(const Where& where) {
  constexpr auto last = static_cast<std::int32_t>(Distance::extent - 1);
  return minimum(maximum(distance_of(where) + last / 2, 0), last);
}

}  // namespace detail

// The entry of a table over distances for each query and key: table [..., Distance], with or
// without Pos, to [..., Pos, ..., KeyPos]. The middle entry is for a key at the query's own
// position, the entry before it for the key one position earlier; distances beyond the table are
// clamped to its ends. Added to the scores of fused attention, the result is never materialized.
template <class Distance, expression X>
constexpr auto relative(const X& table, const auto& where) {
  return weft::detail::gather_with<0, Distance>(table, detail::distance_index<Distance>(where));
}

// Its adjoint: the sums of the weights of all keys at the same distance, float [..., Pos, ...,
// KeyPos] to [..., Pos, ..., Distance].
template <class Distance, expression X, class Where>
constexpr auto sum_by_distance(const X& weights, const Where& where) {
  return weft::detail::segment_sum_with<0, typename Where::key_positions, Distance>(
      weights, detail::distance_index<Distance>(where));
}

// A function of the distance, computed once for each distance and not for each pair: f maps the
// distances, key position minus query position, int32 [Distance], to [..., Distance], which becomes
// [..., Pos, KeyPos]. Distances are clamped to ±Most.
template <std::size_t Most = SIZE_MAX, class Where, class F>
constexpr auto by_distance(const Where& where, const F& f) {
  constexpr std::size_t most =
      Most < Where::key_positions::extent ? Most : Where::key_positions::extent - 1;
  using Distance = distances<most>;
  const auto distance = positions<Distance>() - static_cast<std::int32_t>(most);
  return relative<Distance>(f(distance), where);
}

// One encoding for all layers: its parameters are declared once, under s, and not in each layer's
// scope.
template <encoding_like P>
struct shared_encoding : encoding {
  scope s;              // of the parameters
  P position_encoding;  // the encoding

  // That of position_encoding.
  template <class HeadDim>
  static constexpr bool fits_head = P::template fits_head<HeadDim>;
  // Declares the parameters of p under of_all, when they are first used.
  constexpr shared_encoding(scope of_all, const P& p) : s(of_all.shared()), position_encoding(p) {}

  // That of position_encoding: see encoding::embedding.
  template <class Pos, class Embed>
  constexpr auto embedding(scope, const auto& at) const {
    return position_encoding.template embedding<Pos, Embed>(s, at);
  }
  // That of position_encoding: see encoding::query.
  template <class Heads, class HeadDim>
  constexpr auto query(scope, const auto& x, const auto& at) const {
    return position_encoding.template query<Heads, HeadDim>(s, x, at);
  }
  // That of position_encoding: see encoding::key.
  template <class Heads, class HeadDim>
  constexpr auto key(scope, const auto& x, const auto& at) const {
    return position_encoding.template key<Heads, HeadDim>(s, x, at);
  }
  // That of position_encoding: see encoding::scores.
  template <class Heads, class HeadDim>
  constexpr auto scores(scope, const auto& query, const auto& where) const {
    return position_encoding.template scores<Heads, HeadDim>(s, query, where);
  }
  // That of position_encoding: see encoding::values.
  template <class Heads, class ValueDim>
  constexpr auto values(scope, const auto& weights, const auto& where) const {
    return position_encoding.template values<Heads, ValueDim>(s, weights, where);
  }
};
// shared(s / "position", position_encoding), made once and given to every layer.
template <encoding_like P>
constexpr shared_encoding<P> shared(scope s, const P& position_encoding) {
  return {s, position_encoding};
}

}  // namespace weft::nn
#include "weft/header_end.hpp"
