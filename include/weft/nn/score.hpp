// Scores (logits) of queries float [..., Pos, QueryDim] and keys float [..., KeyPos, KeyDim]: float
// [..., Pos, KeyPos], for nn::attention or nn::masked_softmax. Operands without the axis that is
// contracted, or of another dtype, do not compile.
#pragma once
#include "weft/header_begin.hpp"

#include <optional>

#include "weft/graph/reject.hpp"
#include "weft/nn/linear.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/dot.hpp"
#include "weft/ops/functions.hpp"
#include "weft/ops/reduce.hpp"

namespace weft::nn {

namespace detail {

// The first rule of a score that its operands break.
template <expression Q, expression K, class QueryDim, class KeyDim>
constexpr rule rule_of_score() {
  if (!has_axis<QueryDim, shape_t<Q>>) return rule::query;
  if (!has_axis<KeyDim, shape_t<K>>) return rule::key;
  if (!weft::detail::floating<Q> || !weft::detail::floating<K>) return rule::elements;
  return rule::none;
}

}  // namespace detail

#define WEFT_SCORE_RULES(name)                              \
  (query, name ": the query has no such axis to contract"), \
      (key, name ": the key has no such axis to contract"), \
      (elements, name ": query or key is not float; convert with weft::cast<float>")

// Options of scores that are dot products.
struct score_options {
  std::optional<double> scale = {};  // factor of the products; by default 1 / sqrt(HeadDim)
  // c: c tanh(score / c) keeps them within ±c (Gemma Team 2024, section 2, for Gemma 2).
  std::optional<double> soft_cap = {};
};

// Products of queries and keys times the scale of scores, by default 1 / sqrt(HeadDim).
template <class HeadDim, expression X>
constexpr auto scaled(const X& products, std::optional<double> scale) {
  return scale ? products * *scale : products / sqrt(HeadDim{});
}

// Scaled dot product, qᵀk / sqrt(d) (Vaswani et al. 2017, equation 1), for queries and keys of one
// size HeadDim.
template <class HeadDim, expression Q, expression K>
constexpr auto dot_product_score(const Q& query, const K& key, score_options options = {}) {
  auto scores = scaled<HeadDim>(dot<HeadDim>(query, key), options.scale);
  if (options.soft_cap) scores = *options.soft_cap * tanh(scores / *options.soft_cap);
  return scores;
}
WEFT_REJECT_IF((class HeadDim, expression Q, expression K),
               (detail::rule_of_score<Q, K, HeadDim, HeadDim>()),
               dot_product_score(const Q&, const K&, score_options = {}),
               WEFT_SCORE_RULES("nn::dot_product_score"))

// Additive: vᵀ tanh(W_q q + W_k k) (Bahdanau et al. 2015, section A.1.2), for queries and keys of
// different sizes. Parameters, initialized as nn::linear's: W_q.weight [Hidden, QueryDim],
// W_k.weight [Hidden, KeyDim], w_v.weight [Hidden]. It has an intermediate [..., Pos, Hidden,
// KeyPos]; if the query has no axis beyond the key's, as in a decoder's step without Pos, that is
// [..., KeyPos, Hidden], in the memory order of the keys.
template <class QueryDim, class KeyDim, class Hidden, expression Q, expression K>
constexpr auto additive_score(scope s, const Q& query, const K& key) {
  const auto q = linear<QueryDim, Hidden>(s / "W_q", query, {.bias = false});
  const auto k = linear<KeyDim, Hidden>(s / "W_k", key, {.bias = false});
  const auto sum = [&] {
    if constexpr (subset<without<shape_t<Q>, shape<QueryDim>>, shape_t<K>>)
      return k + q;
    else
      return q + k;
  };
  return linear<Hidden, shape<>>(s / "w_v", tanh(sum()), {.bias = false});
}
WEFT_REJECT_IF((class QueryDim, class KeyDim, class Hidden, expression Q, expression K),
               (detail::rule_of_score<Q, K, QueryDim, KeyDim>()),
               additive_score(scope, const Q&, const K&), WEFT_SCORE_RULES("nn::additive_score"))

// Bilinear: qᵀ M k (Luong et al. 2015, section 3.1, "general"), for queries and keys of different
// sizes. Parameter: weight [QueryDim, KeyDim], initially Xavier uniform.
template <class QueryDim, class KeyDim, expression Q, expression K>
constexpr auto bilinear_score(scope s, const Q& query, const K& key) {
  const auto m = s.param<"weight", QueryDim, KeyDim>(init::xavier_uniform<QueryDim>());
  return dot<KeyDim>(dot<QueryDim>(query, m), key);
}
WEFT_REJECT_IF((class QueryDim, class KeyDim, expression Q, expression K),
               (detail::rule_of_score<Q, K, QueryDim, KeyDim>()),
               bilinear_score(scope, const Q&, const K&), WEFT_SCORE_RULES("nn::bilinear_score"))

// Gaussian kernel, for queries and keys of one size Dim: qᵀk - ‖k‖² / 2, which is -‖q - k‖² / 2
// (Nadaraya 1964 and Watson 1964, whose estimator is attention with these scores) without the term
// -‖q‖² / 2, which is the same for all keys of a query and cancels in the softmax. If ‖k‖² is large
// compared to the squared distances, the scores lose precision by cancellation.
template <class Dim, expression Q, expression K>
constexpr auto gaussian_score(const Q& query, const K& key) {
  return dot<Dim>(query, key) + sum<Dim>(key * key) * -0.5;
}
WEFT_REJECT_IF((class Dim, expression Q, expression K), (detail::rule_of_score<Q, K, Dim, Dim>()),
               gaussian_score(const Q&, const K&), WEFT_SCORE_RULES("nn::gaussian_score"))

// The same with a learned inverse width: -‖w (q - k)‖² / 2. Parameter: w, a scalar, initially 1.
template <class Dim, expression Q, expression K>
constexpr auto gaussian_score(scope s, const Q& query, const K& key) {
  const auto w = s.param<"w">(init::ones());
  return gaussian_score<Dim>(query * w, key * w);
}

#undef WEFT_SCORE_RULES

}  // namespace weft::nn
#include "weft/header_end.hpp"
