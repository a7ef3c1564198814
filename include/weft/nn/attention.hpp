// Attention: sums of values, weighted by the softmax of scores.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/reject.hpp"
#include "weft/nn/detail.hpp"
#include "weft/nn/mask.hpp"
#include "weft/nn/score.hpp"

namespace weft::nn {

namespace detail {

template <expression S, expression V, class M, class KeyPos>
constexpr rule rule_of_attention() {
  if (!has_axis<KeyPos, shape_t<S>> || !has_axis<KeyPos, shape_t<V>>) return rule::keys;
  if (!weft::detail::floating<S> || !weft::detail::floating<V>) return rule::elements;
  return rule_of_mask<M, shape_t<S>, KeyPos>();
}

template <class Q, class K, class HeadDim>
using scores_shape = without<united<shape_t<Q>, shape_t<K>>, shape<HeadDim>>;

template <expression Q, expression K, class M, class HeadDim, class KeyPos>
constexpr rule rule_of_attention_weights() {
  if (!has_axis<HeadDim, shape_t<Q>>) return rule::query;
  if (!has_axis<HeadDim, shape_t<K>> || !has_axis<KeyPos, shape_t<K>> ||
      std::same_as<HeadDim, KeyPos>)
    return rule::key;
  if (!weft::detail::floating<Q> || !weft::detail::floating<K>) return rule::elements;
  return rule_of_mask<M, scores_shape<Q, K, HeadDim>, KeyPos>();
}

}  // namespace detail

// Options of nn::attention.
struct attention_options {
  double dropout = 0;  // the rate at which weights are dropped in training
};

// The result of attention: its output, and the weights, which cost nothing if unused.
template <class Output, class Weights>
struct attention_output {
  Output output;    // the weighted sums of the values
  Weights weights;  // the softmax of the scores, before dropout
};
template <class Output, class Weights>
attention_output(Output, Weights) -> attention_output<Output, Weights>;

// softmax(scores) V over the keys that the mask (see mask.hpp) leaves visible: scores float [...,
// Pos, KeyPos] and values float [..., KeyPos, ValueDim] to an output [..., Pos, ValueDim] and
// weights [..., Pos, KeyPos]. The weights in the result are those before dropout. The mask has axes
// of the scores only. Misuse does not compile: see the WEFT_REJECT overloads.
template <class KeyPos, expression S, expression V, detail::mask_like M = mask_list<>>
requires(detail::rule_of_attention<S, V, M, KeyPos>() ==
         rule::none) constexpr auto attention(const S& scores, const V& values, const M& mask = {},
                                              attention_options options = {}) {
  const auto weights = masked_softmax<KeyPos>(scores, mask);
  return attention_output{dot<KeyPos>(detail::dropped(weights, options.dropout), values), weights};
}
WEFT_REJECT_IF((class KeyPos, expression S, expression V, detail::mask_like M = mask_list<>,
                class Surplus = detail::surplus<M, shape_t<S>>),
               (detail::rule_of_attention<S, V, M, KeyPos>()),
               attention(const S&, const V&, const M& = {}, attention_options = {}),
               (keys, "nn::attention: scores or values have no such axis of keys"),
               (elements,
                "nn::attention: scores or values are not float; convert with weft::cast<float>"),
               WEFT_MASK_RULES("nn::attention"))

// softmax(QKᵀ / sqrt(HeadDim)) over the visible keys (Vaswani et al. 2017, equation 1): query float
// [..., Pos, HeadDim] and key float [..., KeyPos, HeadDim] to weights [..., Pos, ..., KeyPos]. The
// mask has axes of the weights only. Misuse does not compile: see the WEFT_REJECT overloads.
template <class HeadDim, class KeyPos, expression Q, expression K,
          detail::mask_like M = mask_list<>>
requires(detail::rule_of_attention_weights<Q, K, M, HeadDim, KeyPos>() ==
         rule::none) constexpr auto attention_weights(const Q& query, const K& key,
                                                      const M& mask = {}) {
  return masked_softmax<KeyPos>(dot_product_score<HeadDim>(query, key), mask);
}
WEFT_REJECT_IF(
    (class... Axes, expression Q, expression K, detail::mask_like M = mask_list<>,
     class Surplus = detail::surplus<M, detail::scores_shape<Q, K, first_of<Axes...>>>),
    (detail::rule_of_attention_weights<Q, K, M, Axes...>()),
    attention_weights(const Q&, const K&, const M& = {}),
    (query, "nn::attention_weights: the query has no such axis to contract"),
    (key, "nn::attention_weights: the key lacks the axis to contract, or not that of the keys"),
    (elements, "nn::attention_weights: query or key is not float; convert with weft::cast<float>"),
    WEFT_MASK_RULES("nn::attention_weights"))

}  // namespace weft::nn
#include "weft/header_end.hpp"
