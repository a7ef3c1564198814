// Multi-head attention (Vaswani et al. 2017, section 3.2.2), with independent widths, heads and
// head sizes of query, key and value.
#pragma once

#include "weft/graph/reject.hpp"
#include "weft/graph/scope.hpp"
#include "weft/nn/attention.hpp"
#include "weft/nn/attention_axes.hpp"
#include "weft/nn/detail.hpp"
#include "weft/nn/linear.hpp"
#include "weft/nn/position/encoding.hpp"
#include "weft/nn/projections.hpp"
#include "weft/nn/sink.hpp"
#include "weft/ops/view.hpp"

namespace weft::nn {

// Options of nn::multi_head_attention and nn::self_attention.
struct attention_options {
  bool bias = true;       // of the input and output projections
  double scale = 0;       // factor of the scores; 0 for 1 / sqrt(HeadDim)
  double soft_cap = 0;    // of the scores: c tanh(score / c); 0 for none
  double dropout = 0;     // the rate at which weights are dropped in training
  bool zero_key = false;  // an additional zero key and value, never masked: add_zero_attn
};

namespace detail {

template <class Output, class ValueDim, expression X, class... Heads>
constexpr auto output_projection(scope s, const X& x, shape<Heads...>, bool bias) {
  using In = shape<Heads..., ValueDim>;
  return affine<In, shape<Output>>(s, x, bias);
}

// Calls f with the scores under a position encoding, and with a function of the weights for what
// the encoding adds to the weighted values. H and D are the layer's heads_of and dims_of, and the
// keys k are projected from `source` along Features.
template <class H, class D, class KeyPos, class Features, class Q, class K, class F>
constexpr auto apply_position_encoding(no_term, scope, const Q& q, const K& k,
                                       const auto& /*source*/, const score_options& scoring,
                                       const F& f) {
  return f(dot_product_score<typename D::key>(q, k, scoring),
           [](const auto&) { return no_term{}; });
}
template <class H, class D, class KeyPos, class Features, class Pos, class P, class Q, class K,
          class F>
constexpr auto apply_position_encoding(const query_encoding<Pos, P>& of_queries, scope s,
                                       const Q& q, const K& k, const auto& source,
                                       const score_options& scoring, const F& f) {
  using Heads = typename H::query;
  using HeadDim = typename D::key;
  const P& position_encoding = of_queries.position_encoding;
  const auto where =
      positions_in_attention<Pos, KeyPos, Features>(positions<Pos>(), scoring.scale, source, k);
  const auto encoded_query = position_encoding.template query<Heads, HeadDim>(s, q, where.at);
  const auto encoded_key =
      position_encoding.template key<typename H::key, HeadDim>(s, k, positions<KeyPos>());
  const auto scores = add_term(dot_product_score<HeadDim>(encoded_query, encoded_key, scoring),
                               position_encoding.template scores<Heads, HeadDim>(s, q, where));
  return f(scores, [&](const auto& weights) {
    return position_encoding.template values<Heads, typename D::value>(s, weights, where);
  });
}

// The axes of the scores of a multi-head attention.
template <class Q, class K, class Embed, class H>
using multi_head_scores =
    united<united<without<shape_t<Q>, shape<typename widths_of<Embed>::query>>,
                  typename heads_of<H>::query>,
           without<shape_t<K>, shape<typename widths_of<Embed>::key>>>;

template <class... Axes, class... Heads>
constexpr bool roles(shape<Heads...>) {
  return (axis_like<Axes> && ...) && (axis_like<Heads> && ...) &&
         distinct<shape<Axes..., Heads...>>;
}

template <expression Q, expression K, expression V, class M, class KeyPos, class Embed, class H,
          class HeadDim, class P = no_term>
constexpr rule rule_of_multi_head() {
  using W = widths_of<Embed>;
  using D = dims_of<HeadDim>;
  using Heads = typename heads_of<H>::query;
  constexpr bool axes_are = axis_like<typename W::query> && axis_like<typename W::key> &&
                            axis_like<typename W::value> && axis_like<typename W::output> &&
                            roles<KeyPos, typename D::key>(Heads{}) &&
                            roles<KeyPos, typename D::value>(Heads{});
  if constexpr (!axes_are) {
    return rule::not_an_axis;
  } else {
    if (!has_axis<typename W::query, shape_t<Q>>) return rule::query;
    if (!has_axis<typename W::key, shape_t<K>>) return rule::key;
    if (!has_axis<typename W::value, shape_t<V>>) return rule::value;
    if (has_axis<KeyPos, shape_t<Q>> || !has_axis<KeyPos, shape_t<K>> ||
        !has_axis<KeyPos, shape_t<V>>)
      return rule::keys;
    if (!weft::detail::floating<Q> || !weft::detail::floating<K> || !weft::detail::floating<V>)
      return rule::elements;
    if (!fits_head<typename D::key, P>) return rule::pairs;
    return rule_of_mask<M, multi_head_scores<Q, K, Embed, H>, KeyPos>();
  }
}

template <expression Q, expression K, expression V, class M, class O, class P, class KeyPos,
          class Embed, class Heads, class HeadDim>
constexpr rule rule_of_attention() {
  if (!mask_like<M> || !std::same_as<O, attention_options> || !query_encoding_like<P>)
    return rule::arguments;
  return rule_of_multi_head<Q, K, V, M, KeyPos, Embed, Heads, HeadDim, P>();
}

// The type of x in the role of the keys.
template <class X, class Pos, class KeyPos>
using as_keys = tensor<element_t<X>, replaced<shape_t<X>, Pos, shape<KeyPos>>>;

// Whether these are options, a position encoding, and masks.
template <class Options, class O, class P, class... Masks>
concept layer_arguments = std::same_as<O, Options> && encoding_like<P> &&(mask_like<Masks>&&...);

template <expression X, class M, class O, class P, class Pos, class KeyPos, class Embed,
          class Heads, class HeadDim>
constexpr rule rule_of_self_attention() {
  if constexpr (!layer_arguments<attention_options, O, P, M>) {
    return rule::arguments;
  } else if constexpr (!(axis_like<Pos> && axis_like<KeyPos>) || std::same_as<Pos, KeyPos>) {
    return rule::not_an_axis;
  } else if constexpr (!has_axis<Pos, shape_t<X>>) {
    return rule::missing;
  } else if constexpr (!same_length<Pos, KeyPos> || has_axis<KeyPos, shape_t<X>>) {
    return rule::keys;
  } else {
    using Keys = as_keys<X, Pos, KeyPos>;
    constexpr rule broken =
        rule_of_multi_head<X, Keys, Keys, M, KeyPos, Embed, Heads, HeadDim, P>();
    const bool of_operand = broken == rule::query || broken == rule::key || broken == rule::value ||
                            broken == rule::keys;
    return of_operand ? rule::missing : broken;
  }
}

}  // namespace detail

// Attention of each of Heads: query float [..., Pos, Embed], key and value float [..., KeyPos,
// Embed] and a mask (see mask.hpp) over any axes of the scores to an output [..., Pos, Embed] and
// weights [..., Pos, Heads..., KeyPos], before dropout and without that of .zero_key. For
// self-attention KeyPos is an alias of Pos, and nn::self_attention is shorter. Embed, Heads and
// HeadDim are axes, or nn::widths, nn::grouped or nn::multi_query, and nn::head_dims. Misuse does
// not compile: see the WEFT_REJECT overloads.
//
// Parameters, as torch.nn.MultiheadAttention's and in its order, but with separate axes for heads
// and for elements of a head:
//   in_proj_weight [3 Heads, HeadDim, Embed], or, if query, key and value differ in width, heads or
//     head size: q_proj_weight [query's Heads, KeyDim, Query], k_proj_weight [Heads, KeyDim, Key],
//     v_proj_weight [Heads, ValueDim, Value]; initially Xavier uniform
//   in_proj_bias [3 Heads, HeadDim], or, if they differ in heads or head size, q_proj_bias,
//     k_proj_bias, v_proj_bias; initially zeros
//   out_proj.weight [Output, query's Heads, ValueDim], out_proj.bias [Output]; see nn::linear
// nn::for_queries<Pos>(encoding) adds a position encoding, see nn::encoding: queries have the
// positions 0, 1, 2, … along Pos, keys along KeyPos. The encoding's parameters are under
// "position".
template <class KeyPos, class Embed, class Heads, class HeadDim, expression Q, expression K,
          expression V, detail::mask_like M = mask_list<>, detail::query_encoding_like P = no_term>
requires(detail::rule_of_multi_head<Q, K, V, M, KeyPos, Embed, Heads, HeadDim, P>() ==
         rule::none) constexpr auto multi_head_attention(scope s, const Q& query, const K& key,
                                                         const V& value, const M& mask = {},
                                                         attention_options options = {},
                                                         const P& position_encoding = {}) {
  using W = detail::widths_of<Embed>;
  using H = detail::heads_of<Heads>;
  using D = detail::dims_of<HeadDim>;
  using In = detail::projections<W, H, D>;
  const auto weight = In::weights(s);
  auto q = dot<typename W::query>(query, weight.query);
  auto k = dot<typename W::key>(key, weight.key);
  auto v = dot<typename W::value>(value, weight.value);
  if (options.bias) {
    const auto bias = In::biases(s);
    q = q + bias.query;
    k = k + bias.key;
    v = v + bias.value;
  }
  const auto attend = [&](const auto& scores, const auto& value_bias) {
    const auto masked_scores = detail::masked<KeyPos>(scores, mask);
    const auto weights = options.zero_key ? softmax_with_sink<KeyPos>(masked_scores, constant(0.0f))
                                          : softmax<KeyPos>(masked_scores);
    const auto kept = detail::dropped(weights, options.dropout);
    const auto mixed = detail::add_term(dot<KeyPos>(kept, v), value_bias(kept));
    const auto output = detail::output_projection<typename W::output, typename D::value>(
        s / "out_proj", mixed, typename H::query{}, options.bias);
    return attention_output{output, weights};
  };
  return detail::apply_position_encoding<H, D, KeyPos, typename W::key>(
      position_encoding, s / "position", q, k, key, {options.scale, options.soft_cap}, attend);
}
template <class KeyPos, class Embed, class Heads, class HeadDim, expression Q, expression K,
          expression V, class M = mask_list<>, class O = attention_options, class P = no_term,
          class Surplus = detail::surplus<M, detail::multi_head_scores<Q, K, Embed, Heads>>>
requires(detail::rule_of_attention<Q, K, V, M, O, P, KeyPos, Embed, Heads, HeadDim>() != rule::none)
    WEFT_REJECT(
        (detail::rule_of_attention<Q, K, V, M, O, P, KeyPos, Embed, Heads, HeadDim>()),
        multi_head_attention(scope, const Q&, const K&, const V&, const M& = {}, const O& = {},
                             const P& = {}),
        (arguments,
         "nn::multi_head_attention: after the value come the mask, options and "
         "nn::for_queries<Pos>(encoding), in this order; write {} in the place of one that is not "
         "there"),
        (not_an_axis,
         "nn::multi_head_attention: name axes that are not the same, as in "
         "multi_head_attention<KeyPos, Embed, Heads, HeadDim>(s, query, key, value)"),
        (query, "nn::multi_head_attention: the query has no such axis to project"),
        (key, "nn::multi_head_attention: the key has no such axis to project"),
        (value, "nn::multi_head_attention: the value has no such axis to project"),
        (keys, "nn::multi_head_attention: keys and values have the axis KeyPos, the query has not"),
        (elements,
         "nn::multi_head_attention: query, key or value is not float; convert with "
         "weft::cast<float>"),
        (surplus, "nn::multi_head_attention: the mask has an axis that the scores have not"),
        (mask_order,
         "nn::multi_head_attention: the mask has its keys along another axis; name that of the "
         "queries first, as in causal<Pos, KeyPos>()"),
        (pairs,
         "nn::multi_head_attention: the encoding turns pairs of a head's elements; give HeadDim an "
         "even extent"),
        (mask_keys,
         "nn::multi_head_attention: a mask of floats is added and needs the keys' axis; valid "
         "lengths are std::int32_t, without it"))

template <class Pos, class KeyPos, class Embed, class Heads, class HeadDim, expression Q,
          expression K, expression V, detail::mask_like M = mask_list<>,
          detail::query_encoding_like P = no_term>
WEFT_REJECT(
    (rule::list),
    multi_head_attention(scope, const Q&, const K&, const V&, const M& = {}, attention_options = {},
                         const P& = {}),
    (list,
     "nn::multi_head_attention: name four axes, the query's positions not among them, as in "
     "multi_head_attention<KeyPos, Embed, Heads, HeadDim>(s, query, key, value)"))

// Multi-head attention of x float [..., Pos, Embed] to itself, where KeyPos is an alias of Pos:
// output [..., Pos, Embed], weights [..., Pos, Heads..., KeyPos]. `position_encoding` is the
// position encoding. Everything else is as above.
template <class Pos, class KeyPos, class Embed, class Heads, class HeadDim, expression X,
          detail::mask_like M = mask_list<>, encoding_like P = encoding>
requires(detail::rule_of_self_attention<X, M, attention_options, P, Pos, KeyPos, Embed, Heads,
                                        HeadDim>() ==
         rule::none) constexpr auto self_attention(scope s, const X& x, const M& mask = {},
                                                   attention_options options = {},
                                                   const P& position_encoding = {}) {
  const auto keys = rename<Pos, KeyPos>(x);
  return multi_head_attention<KeyPos, Embed, Heads, HeadDim>(s, x, keys, keys, mask, options,
                                                             for_queries<Pos>(position_encoding));
}
template <class Pos, class KeyPos, class Embed, class Heads, class HeadDim, expression X,
          class M = mask_list<>, class O = attention_options, class P = encoding,
          class Surplus = detail::surplus<
              M, detail::multi_head_scores<X, detail::as_keys<X, Pos, KeyPos>, Embed, Heads>>>
requires(detail::rule_of_self_attention<X, M, O, P, Pos, KeyPos, Embed, Heads, HeadDim>() !=
         rule::none)
    WEFT_REJECT(
        (detail::rule_of_self_attention<X, M, O, P, Pos, KeyPos, Embed, Heads, HeadDim>()),
        self_attention(scope, const X&, const M& = {}, const O& = {}, const P& = {}),
        (arguments,
         "nn::self_attention: after the operand come the mask, options and the encoding, in this "
         "order; write {} in the place of one that is not there"),
        (not_an_axis,
         "nn::self_attention: name axes that are not the same, as in self_attention<Pos, KeyPos, "
         "Embed, Heads, HeadDim>(s, x)"),
        (missing, "nn::self_attention: the operand has not both Pos and Embed"),
        (keys, "nn::self_attention: KeyPos is not an alias of Pos, or the operand has it already"),
        (elements,
         "nn::self_attention: the elements are not float; convert with weft::cast<float>"),
        (surplus, "nn::self_attention: the mask has an axis that the scores have not"),
        (mask_order,
         "nn::self_attention: the mask has its keys along another axis; name that of the "
         "queries first, as in causal<Pos, KeyPos>()"),
        (pairs,
         "nn::self_attention: the encoding turns pairs of a head's elements; give HeadDim an even "
         "extent"),
        (mask_keys,
         "nn::self_attention: a mask of floats is added and needs the keys' axis; valid lengths "
         "are std::int32_t, without it"))

template <class... Axes, class... Args>
WEFT_REJECT((rule::no_axes), multi_head_attention(scope, const Args&...),
            (no_axes,
             "nn::multi_head_attention: it is called as multi_head_attention<KeyPos, Embed, Heads, "
             "HeadDim>(s, query, key, value)"))

template <class... Axes, class... Args>
WEFT_REJECT((rule::no_axes), self_attention(scope, const Args&...),
            (no_axes,
             "nn::self_attention: it is called as self_attention<Pos, KeyPos, Embed, Heads, "
             "HeadDim>(s, x)"))

}  // namespace weft::nn
