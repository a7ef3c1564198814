// Multi-head attention (Vaswani et al. 2017, section 3.2.2), with independent widths, heads and
// head sizes of query, key and value.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/reject.hpp"
#include "weft/graph/scope.hpp"
#include "weft/nn/attention.hpp"
#include "weft/nn/axes.hpp"
#include "weft/nn/detail.hpp"
#include "weft/nn/linear.hpp"
#include "weft/nn/position/encoding.hpp"
#include "weft/nn/projections.hpp"
#include "weft/nn/sink.hpp"
#include "weft/ops/view.hpp"

namespace weft::nn {

// Options of nn::multi_head_attention and nn::self_attention.
struct multi_head_options {
  bool bias = true;                     // of the input and output projections
  std::optional<double> scale = {};     // factor of the scores; by default 1 / sqrt(HeadDim)
  std::optional<double> soft_cap = {};  // c: scores become c tanh(score / c)
  double dropout = 0;                   // the rate at which weights are dropped in training
  bool zero_key = false;  // an additional zero key and value, never masked: add_zero_attn
};

namespace detail {

template <class Output, class ValueDim, expression X, class... Heads>
constexpr auto output_projection(scope s, const X& x, shape<Heads...>, bool bias) {
  return linear<shape<Heads..., ValueDim>, Output>(s, x, {.bias = bias});
}

// Calls f with the scores under a position encoding, and with a function of the weights for what
// the encoding adds to the weighted values. The keys k are projected from `source`.
template <class A, class KeyPos>
constexpr auto apply_position_encoding(no_term, scope, const auto& q, const auto& k,
                                       const auto& /*source*/, const score_options& scoring,
                                       const auto& f) {
  return f(dot_product_score<typename A::head_dim>(q, k, scoring),
           [](const auto&) { return no_term{}; });
}
template <class A, class KeyPos, class Pos, class P>
constexpr auto apply_position_encoding(const query_encoding<Pos, P>& of_queries, scope s,
                                       const auto& q, const auto& k, const auto& source,
                                       const score_options& scoring, const auto& f) {
  using Heads = query_heads<A>;
  using HeadDim = typename A::head_dim;
  const P& position_encoding = of_queries.position_encoding;
  const auto where = positions_in_attention<Pos, KeyPos, axis_of<A, roles::key_width>>(
      positions<Pos>(), source, k, {.scale = scoring.scale});
  const auto encoded_query = position_encoding.template query<Heads, HeadDim>(s, q, where.at);
  const auto encoded_key =
      position_encoding.template key<key_heads<A>, HeadDim>(s, k, positions<KeyPos>());
  const auto scores = add_term(dot_product_score<HeadDim>(encoded_query, encoded_key, scoring),
                               position_encoding.template scores<Heads, HeadDim>(s, q, where));
  return f(scores, [&](const auto& weights) {
    return position_encoding.template values<Heads, axis_of<A, roles::value_dim>>(s, weights,
                                                                                  where);
  });
}

// Multi-head attention to the keys along KeyPos.
template <class A, class KeyPos>
constexpr auto attend(scope s, const auto& query, const auto& key, const auto& value,
                      const auto& mask, const multi_head_options& options,
                      const auto& position_encoding) {
  using KeyWidth = axis_of<A, roles::key_width>;
  using In = projections<A>;
  const auto weight = In::weights(s);
  auto q = dot<typename A::embed>(query, weight.query);
  auto k = dot<KeyWidth>(key, weight.key);
  auto v = dot<axis_of<A, roles::value_width>>(value, weight.value);
  if (options.bias) {
    const auto bias = In::biases(s);
    q = q + bias.query;
    k = k + bias.key;
    v = v + bias.value;
  }
  const auto mix = [&](const auto& scores, const auto& value_bias) {
    const auto masked_scores = masked<KeyPos>(scores, mask);
    const auto weights = options.zero_key ? softmax_with_sink<KeyPos>(masked_scores, constant(0.0f))
                                          : softmax<KeyPos>(masked_scores);
    const auto kept = dropped(weights, options.dropout);
    const auto mixed = add_term(dot<KeyPos>(kept, v), value_bias(kept));
    const auto output =
        output_projection<axis_of<A, roles::output_width>, axis_of<A, roles::value_dim>>(
            s / "out_proj", mixed, query_heads<A>{}, options.bias);
    return attention_output{output, weights};
  };
  return apply_position_encoding<A, KeyPos>(position_encoding, s / "position", q, k, key,
                                            {options.scale, options.soft_cap}, mix);
}

// Multi-head attention of x to itself.
template <class A>
constexpr auto attend_to_itself(scope s, const auto& x, const auto& mask,
                                const multi_head_options& options, const auto& position_encoding) {
  using Pos = typename A::positions;
  const auto keys = rename<Pos, typename A::keys>(x);
  return attend<A, typename A::keys>(s, x, keys, keys, mask, options,
                                     for_queries<Pos>(position_encoding));
}

// The axes of the scores of a multi-head attention.
template <class A, class Q, class K>
using multi_head_scores =
    united<united<without<shape_t<Q>, shape<typename A::embed>>, query_heads<A>>,
           without<shape_t<K>, shape<axis_of<A, roles::key_width>>>>;

template <class M, class Scores, class KeyPos>
using fault_of_mask = fault<rule_of_mask<M, Scores, KeyPos>(), surplus<M, Scores>>;

template <class A, class Q, class K>
inline constexpr bool too_many_axes =
    united_rank<multi_head_scores<A, Q, K>, shape<typename A::head_dim>> > max_rank;

template <class... X>
inline constexpr bool floating = (weft::detail::floating<X> && ...);

// An operand that attends, its mask and its position encoding.
template <class X, class M, class P>
requires expression<std::remove_cvref_t<X>>
struct attending {
  using operand = std::remove_cvref_t<X>;
  using mask = M;
  using encoding = P;
};

// What the operands of a multi-head attention with keys along Keys, an in_role, break.
template <class A, class Keys, class Query, class K, class V, class Q = typename Query::operand>
using fault_of_heads = first_fault_t<
    fault_of_operand<Q, role_in<A, roles::embed>>,
    fault_of_operand<K, role_in<A, roles::key_width>>, fault_of_operand<K, Keys>,
    fault_of_operand<V, role_in<A, roles::value_width>>, fault_of_operand<V, Keys>,
    fault_if<is_along<Q, Keys>, rule::taken, Keys>, fault_if<!floating<Q, K, V>, rule::elements>,
    fault_if<too_many_axes<A, Q, K>, rule::rank>,
    fault_if<!fits_head<typename A::head_dim, typename Query::encoding>, rule::pairs,
             role_in<A, roles::head_dim>>,
    fault_of_mask<typename Query::mask, multi_head_scores<A, Q, K>, typename Keys::axis>>;

using attention_roles =
    role_list<roles::keys, roles::embed, roles::heads, roles::head_dim, roles::group,
              roles::value_dim, roles::key_width, roles::value_width, roles::output_width>;
template <class A, class Query, expression K, expression V>
constexpr auto fault_of_attention() {
  using of_axes = decltype(fault_of_axes<A>(attention_roles{}));
  if constexpr (is_broken<of_axes>)
    return of_axes{};
  else
    return fault_of_heads<A, role_in<A, roles::keys>, Query, K, V>{};
}
template <class A, class Query, class K, class V>
using attention_fault = decltype(fault_of_attention<A, Query, K, V>());

// The type of x in the role of the keys.
template <class A, class X>
using as_keys =
    tensor<element_t<X>, replaced<shape_t<X>, typename A::positions, shape<typename A::keys>>>;

// What the operand of a self-attention breaks.
template <class A, class Self, class X = typename Self::operand>
using fault_of_self = first_fault_t<
    fault_of_operand<X, role_in<A, roles::positions>>,
    fault_if<!same_length<typename A::positions, typename A::keys>, rule::keys,
             role_in<A, roles::keys>, role_in<A, roles::positions>>,
    fault_if<is_along<X, role_in<A, roles::keys>>, rule::taken, role_in<A, roles::keys>>,
    fault_of_heads<A, role_in<A, roles::keys>, Self, as_keys<A, X>, as_keys<A, X>>>;

// What a layer breaks whose axes are those of Roles, and whose first part is self-attention.
template <class A, class Roles, class Self>
constexpr auto fault_of_layer() {
  using of_axes = decltype(fault_of_axes<A>(Roles{}));
  if constexpr (is_broken<of_axes>)
    return of_axes{};
  else
    return fault_of_self<A, Self>{};
}
using self_attention_roles = role_list<roles::positions, roles::keys, roles::embed, roles::heads,
                                       roles::head_dim, roles::group, roles::value_dim,
                                       roles::key_width, roles::value_width, roles::output_width>;
template <class A, class Self>
using self_attention_fault = decltype(fault_of_layer<A, self_attention_roles, Self>());

// Whether these are one struct of axes, options, and masks.
template <class Axes, class Options, class O, class... Masks>
inline constexpr bool called_with =
    !std::same_as<Axes, void> && std::same_as<O, Options> && (mask_like<Masks> && ...);

}  // namespace detail

// Attention of each of heads: query float [..., positions, embed], key float [..., keys,
// key_width], value float [..., keys, value_width] and a mask (see mask.hpp) over any axes of the
// scores to an output [..., positions, output_width] and weights [..., positions, heads..., keys],
// before dropout and without that of .zero_key. Axes, see nn/axes.hpp: keys, embed, heads and
// head_dim; optional are group, key_heads, value_dim, key_width, value_width and output_width. For
// self-attention keys is an alias of positions, and nn::self_attention is shorter. Misuse does not
// compile: see the WEFT_REJECT_LAYER overload.
//
// Parameters, as torch.nn.MultiheadAttention's and in its order, but with separate axes for heads
// and for elements of a head:
//   in_proj_weight [3 heads, head_dim, embed], or, if query, key and value differ in width, heads
//     or head size: q_proj_weight [query's heads, head_dim, embed], k_proj_weight [key's heads,
//     head_dim, key_width], v_proj_weight [key's heads, value_dim, value_width]; initially Xavier
//     uniform
//   in_proj_bias [3 heads, head_dim], or, if they differ in heads or head size, q_proj_bias,
//     k_proj_bias, v_proj_bias; initially zeros
//   out_proj.weight [output_width, query's heads, value_dim], out_proj.bias [output_width]; see
//     nn::linear
// nn::for_queries<Pos>(encoding) adds a position encoding, see nn::encoding: queries have the
// positions 0, 1, 2, … along Pos, keys along keys. The encoding's parameters are under "position".
template <class A, expression Q, expression K, expression V, detail::mask_like M = mask_list<>,
          detail::query_encoding_like P = no_term>
requires(detail::attention_fault<A, detail::attending<Q, M, P>, K, V>::broken ==
         rule::none) constexpr auto multi_head_attention(scope s, const Q& query, const K& key,
                                                         const V& value, const M& mask = {},
                                                         multi_head_options options = {},
                                                         const P& position_encoding = {}) {
  return detail::attend<A, typename A::keys>(s, query, key, value, mask, options,
                                             position_encoding);
}
template <class... Axes, expression Q, expression K, expression V, class M = mask_list<>,
          class O = multi_head_options, class P = no_term,
          class Fault = detail::fault_of_call<
              detail::called_with<detail::only_t<Axes...>, multi_head_options, O, M> &&
                  detail::query_encoding_like<P>,
              detail::attention_fault<detail::only_t<Axes...>, detail::attending<Q, M, P>, K, V>>>
requires(Fault::broken != rule::none)
    WEFT_REJECT_LAYER(multi_head_attention,
                      "multi_head_attention<axes>(s, query, key, value, mask, options, "
                      "nn::for_queries<Pos>(encoding))",
                      (scope, const Q&, const K&, const V&, const M& = {}, const O& = {},
                       const P& = {}))

// Multi-head attention of x float [..., positions, embed] to itself: output [..., positions,
// output_width], weights [..., positions, heads..., keys]. Axes: positions and keys, an alias of
// it; everything else is as above. `position_encoding` is the position encoding.
template <class A, expression X, detail::mask_like M = mask_list<>, encoding_like P = encoding>
requires(detail::self_attention_fault<A, detail::attending<X, M, P>>::broken ==
         rule::none) constexpr auto self_attention(scope s, const X& x, const M& mask = {},
                                                   multi_head_options options = {},
                                                   const P& position_encoding = {}) {
  return detail::attend_to_itself<A>(s, x, mask, options, position_encoding);
}
template <
    class... Axes, expression X, class M = mask_list<>, class O = multi_head_options,
    class P = encoding,
    class Fault = detail::fault_of_call<
        detail::called_with<detail::only_t<Axes...>, multi_head_options, O, M> && encoding_like<P>,
        detail::self_attention_fault<detail::only_t<Axes...>, detail::attending<X, M, P>>>>
requires(Fault::broken != rule::none)
    WEFT_REJECT_LAYER(self_attention, "self_attention<axes>(s, x, mask, options, encoding)",
                      (scope, const X&, const M& = {}, const O& = {}, const P& = {}))

}  // namespace weft::nn
#include "weft/header_end.hpp"
