// Attention layers.
#pragma once

#include "weft/graph/reject.hpp"
#include "weft/nn/linear.hpp"
#include "weft/ops/compare.hpp"
#include "weft/ops/mask.hpp"
#include "weft/ops/normalize.hpp"
#include "weft/ops/sources.hpp"
#include "weft/ops/view.hpp"

namespace weft::nn {

namespace detail {

enum class attention_fault { none, axes, query, key, missing, keys, elements, mask, rank };

using no_mask = tensor<bool, shape<>>;

template <class Q, class K, class M, class HeadDim, class KeyPos>
constexpr attention_fault fault_of_attention_weights() {
  using S = united<shape_t<Q>, shape_t<K>>;
  if (!has_axis<HeadDim, shape_t<Q>>) return attention_fault::query;
  if (!has_axis<HeadDim, shape_t<K>> || !has_axis<KeyPos, shape_t<K>> ||
      std::same_as<HeadDim, KeyPos>)
    return attention_fault::key;
  if (!weft::detail::floating<Q> || !weft::detail::floating<K>) return attention_fault::elements;
  if (!weft::detail::logical<M>) return attention_fault::mask;
  constexpr int masked_rank = united_rank<without<S, shape<HeadDim>>, shape_t<M>>;
  if (S::rank > max_rank || masked_rank > max_rank) return attention_fault::rank;
  return attention_fault::none;
}

template <class X, class M, class Pos, class KeyPos, class Embed, class Heads, class HeadDim>
constexpr attention_fault fault_of_self_attention() {
  if constexpr (!(an_axis<Pos> && an_axis<KeyPos> && an_axis<Embed> && an_axis<Heads> &&
                  an_axis<HeadDim>) ||
                !distinct<shape<Pos, KeyPos, Embed, Heads, HeadDim>>) {
    return attention_fault::axes;
  } else {
    using Inner = shape<Heads, HeadDim>;
    using Query = united<without<shape_t<X>, shape<Embed>>, Inner>;
    using Scores = united<Query, shape<KeyPos>>;
    if (!has_axis<Pos, shape_t<X>> || !has_axis<Embed, shape_t<X>>) return attention_fault::missing;
    if (!same_length<Pos, KeyPos> || has_axis<KeyPos, shape_t<X>>) return attention_fault::keys;
    if (!weft::detail::floating<X>) return attention_fault::elements;
    if (!weft::detail::logical<M>) return attention_fault::mask;
    constexpr int rank = united_rank<shape_t<X>, Inner>;
    constexpr int masked_rank = united_rank<Scores, shape_t<M>>;
    if (rank > max_rank || masked_rank > max_rank) return attention_fault::rank;
    return attention_fault::none;
  }
}

}  // namespace detail

// May a query attend to a key? Each sees itself and those before: a mask [KeyPos, Pos].
template <class Pos, class KeyPos>
constexpr auto causal() {
  return positions<KeyPos>() <= positions<Pos>();
}

// softmax(QKᵀ / sqrt(d)) (Vaswani et al. 2017, equation 1): query [..., Pos, HeadDim] and key [...,
// KeyPos, HeadDim] to weights [..., Pos, ..., KeyPos].
template <class HeadDim, class KeyPos, expression Q, expression K>
constexpr auto attention_weights(const Q& query, const K& key) {
  return softmax<KeyPos>(dot<HeadDim>(query, key) / sqrt(HeadDim{}));
}
template <class HeadDim, class KeyPos, expression Q, expression K>
requires(detail::fault_of_attention_weights<Q, K, detail::no_mask, HeadDim, KeyPos>() ==
         detail::attention_fault::query)
    WEFT_REJECT("nn::attention_weights: the query has no such axis to contract",
                attention_weights(const Q&, const K&))
template <class HeadDim, class KeyPos, expression Q, expression K>
requires(detail::fault_of_attention_weights<Q, K, detail::no_mask, HeadDim, KeyPos>() ==
         detail::attention_fault::key)
    WEFT_REJECT(
        "nn::attention_weights: the key has not the axis to contract, or not that of the keys",
        attention_weights(const Q&, const K&))
template <class HeadDim, class KeyPos, expression Q, expression K>
requires(detail::fault_of_attention_weights<Q, K, detail::no_mask, HeadDim, KeyPos>() ==
         detail::attention_fault::elements)
    WEFT_REJECT("nn::attention_weights: query or key is not float; convert with weft::cast<float>",
                attention_weights(const Q&, const K&))
template <class HeadDim, class KeyPos, expression Q, expression K>
requires(detail::fault_of_attention_weights<Q, K, detail::no_mask, HeadDim, KeyPos>() ==
         detail::attention_fault::rank)
    WEFT_REJECT("nn::attention_weights: the operands have more than 8 axes between them",
                attention_weights(const Q&, const K&))

// The same where the mask holds; elsewhere the weight is 0.
template <class HeadDim, class KeyPos, expression Q, expression K, expression M>
constexpr auto attention_weights(const Q& query, const K& key, const M& mask) {
  auto const scores = dot<HeadDim>(query, key) / sqrt(HeadDim{});
  return softmax<KeyPos>(where(mask, scores, -infinity));
}
template <class HeadDim, class KeyPos, expression Q, expression K, expression M>
requires(detail::fault_of_attention_weights<Q, K, M, HeadDim, KeyPos>() ==
         detail::attention_fault::query)
    WEFT_REJECT("nn::attention_weights: the query has no such axis to contract",
                attention_weights(const Q&, const K&, const M&))
template <class HeadDim, class KeyPos, expression Q, expression K, expression M>
requires(detail::fault_of_attention_weights<Q, K, M, HeadDim, KeyPos>() ==
         detail::attention_fault::key)
    WEFT_REJECT(
        "nn::attention_weights: the key has not the axis to contract, or not that of the keys",
        attention_weights(const Q&, const K&, const M&))
template <class HeadDim, class KeyPos, expression Q, expression K, expression M>
requires(detail::fault_of_attention_weights<Q, K, M, HeadDim, KeyPos>() ==
         detail::attention_fault::elements)
    WEFT_REJECT("nn::attention_weights: query or key is not float; convert with weft::cast<float>",
                attention_weights(const Q&, const K&, const M&))
template <class HeadDim, class KeyPos, expression Q, expression K, expression M>
requires(detail::fault_of_attention_weights<Q, K, M, HeadDim, KeyPos>() ==
         detail::attention_fault::mask)
    WEFT_REJECT("nn::attention_weights: the mask is not of booleans, such as a comparison gives",
                attention_weights(const Q&, const K&, const M&))
template <class HeadDim, class KeyPos, expression Q, expression K, expression M>
requires(detail::fault_of_attention_weights<Q, K, M, HeadDim, KeyPos>() ==
         detail::attention_fault::rank)
    WEFT_REJECT("nn::attention_weights: the operands have more than 8 axes between them",
                attention_weights(const Q&, const K&, const M&))

// What an attention layer gives: its output, and the weights, which cost nothing where nobody uses
// them.
template <class Output, class Weights>
struct attended {
  Output output;
  Weights weights;
};
template <class Output, class Weights>
attended(Output, Weights) -> attended<Output, Weights>;

// Multi-head self-attention (Vaswani et al. 2017, section 3.2.2) of x [..., Pos, Embed], where the
// mask [KeyPos, Pos, ...] holds; KeyPos is an alias of Pos. Output [..., Pos, Embed], weights [...,
// Pos, Heads, KeyPos]. Parameters under "query", "key", "value" (Embed to Heads × HeadDim) and
// "out" (back).
template <class Pos, class KeyPos, class Embed, class Heads, class HeadDim, expression X,
          expression M>
constexpr auto self_attention(scope s, const X& x, const M& mask) {
  using Inner = shape<Heads, HeadDim>;
  auto const query = linear<shape<Embed>, Inner>(s / "query", x);
  auto const key = rename<Pos, KeyPos>(linear<shape<Embed>, Inner>(s / "key", x));
  auto const value = rename<Pos, KeyPos>(linear<shape<Embed>, Inner>(s / "value", x));
  auto const weights = attention_weights<HeadDim, KeyPos>(query, key, mask);
  auto const output = linear<Inner, shape<Embed>>(s / "out", dot<KeyPos>(weights, value));
  return attended{output, weights};
}
template <class Pos, class KeyPos, class Embed, class Heads, class HeadDim, expression X,
          expression M>
requires(detail::fault_of_self_attention<X, M, Pos, KeyPos, Embed, Heads, HeadDim>() ==
         detail::attention_fault::axes)
    WEFT_REJECT(
        "nn::self_attention: name five axes, as in self_attention<Pos, KeyPos, Embed, Heads, "
        "HeadDim>(s, x, mask)",
        self_attention(scope, const X&, const M&))
template <class Pos, class KeyPos, class Embed, class Heads, class HeadDim, expression X,
          expression M>
requires(detail::fault_of_self_attention<X, M, Pos, KeyPos, Embed, Heads, HeadDim>() ==
         detail::attention_fault::missing)
    WEFT_REJECT("nn::self_attention: the operand has not both Pos and Embed",
                self_attention(scope, const X&, const M&))
template <class Pos, class KeyPos, class Embed, class Heads, class HeadDim, expression X,
          expression M>
requires(detail::fault_of_self_attention<X, M, Pos, KeyPos, Embed, Heads, HeadDim>() ==
         detail::attention_fault::keys)
    WEFT_REJECT("nn::self_attention: KeyPos is not an alias of Pos, or the operand has it already",
                self_attention(scope, const X&, const M&))
template <class Pos, class KeyPos, class Embed, class Heads, class HeadDim, expression X,
          expression M>
requires(detail::fault_of_self_attention<X, M, Pos, KeyPos, Embed, Heads, HeadDim>() ==
         detail::attention_fault::elements)
    WEFT_REJECT("nn::self_attention: the elements are not float; convert with weft::cast<float>",
                self_attention(scope, const X&, const M&))
template <class Pos, class KeyPos, class Embed, class Heads, class HeadDim, expression X,
          expression M>
requires(detail::fault_of_self_attention<X, M, Pos, KeyPos, Embed, Heads, HeadDim>() ==
         detail::attention_fault::mask)
    WEFT_REJECT("nn::self_attention: the mask is not of booleans, such as a comparison gives",
                self_attention(scope, const X&, const M&))
template <class Pos, class KeyPos, class Embed, class Heads, class HeadDim, expression X,
          expression M>
requires(detail::fault_of_self_attention<X, M, Pos, KeyPos, Embed, Heads, HeadDim>() ==
         detail::attention_fault::rank)
    WEFT_REJECT("nn::self_attention: the operands have more than 8 axes between them",
                self_attention(scope, const X&, const M&))

}  // namespace weft::nn
