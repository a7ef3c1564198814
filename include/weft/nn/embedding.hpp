// Embeddings of tokens and positions.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/scope.hpp"
#include "weft/nn/layer_rules.hpp"
#include "weft/ops/dot.hpp"
#include "weft/ops/gather.hpp"

namespace weft::nn {

namespace detail {

template <class A, class B>
inline constexpr bool two_axes = axis_like<A>&& axis_like<B> && !std::same_as<A, B>;

template <class I, class Vocab, class Embed>
constexpr rule rule_of_embedding() {
  if constexpr (!expression<I>) {
    return rule::number;
  } else {
    if (!two_axes<Vocab, Embed>) return rule::no_axes;
    if (!std::same_as<element_t<I>, std::int32_t>) return rule::indices;
    if (has_axis<Vocab, shape_t<I>>) return rule::nested;
    constexpr int rank = united_rank<shape_t<I>, shape<Vocab, Embed>>;
    if (rank > max_rank) return rule::rank;
    return rule::none;
  }
}

}  // namespace detail

// The table's row of each token, as torch.nn.Embedding: tokens int32 [...] to float [..., Embed].
// Parameter: weight [Vocab, Embed], initially `init`, by default N(0, 1). Tokens that are an input
// are checked as weft::gather's indices are. Misuse does not compile: see the WEFT_REJECT
// overloads.
template <class Vocab, class Embed, expression I>
requires(detail::rule_of_embedding<I, Vocab, Embed>() ==
         rule::none) constexpr auto embedding(scope s, const I& tokens,
                                              initializer init = init::normal()) {
  return gather<Vocab>(s.param<"weight", Vocab, Embed>(init), tokens);
}
WEFT_REJECT_IF(
    (class Vocab, class Embed, class I), (detail::rule_of_embedding<I, Vocab, Embed>()),
    embedding(scope, const I&, initializer = {}),
    (number,
     "nn::embedding: the tokens are a tensor of int32; for one token write weft::constant(0)"),
    (no_axes, "nn::embedding: name two axes, as in embedding<Vocab, Embed>(s, tokens)"),
    (indices, "nn::embedding: the tokens are not int32"),
    (nested, "nn::embedding: the tokens have the axis that they pick from"),
    WEFT_TOO_MANY_AXES("nn::embedding"))

// One table for input embedding and output projection (Press and Wolf 2017).
template <class Vocab, class Embed>
struct tied {
  tensor<float, shape<Vocab, Embed>> weight;  // the table: a row for each token

  // The row of each token: tokens int32 [...] to float [..., Embed]. Tokens that are an input are
  // checked as weft::gather's indices are.
  template <expression I>
  constexpr auto embed(const I& tokens) const {
    return gather<Vocab>(weight, tokens);
  }
  // The product of each vector with each row: x float [..., Embed] to float [..., Vocab].
  template <expression X>
  constexpr auto logits(const X& x) const {
    return dot<Embed>(x, weight);
  }
};
// Declares such a table. Parameter: weight [Vocab, Embed], initially `init`, by default N(0,
// 0.02²).
template <class Vocab, class Embed>
constexpr tied<Vocab, Embed> tied_embedding(scope s, initializer init = init::normal(0, 0.02)) {
  return {s.param<"weight", Vocab, Embed>(init)};
}
template <class Vocab, class Embed>
requires(!detail::two_axes<Vocab, Embed>)
    WEFT_REJECT(rule::no_axes, tied_embedding(scope, initializer = {}),
                (no_axes,
                 "nn::tied_embedding: name two axes, as in tied_embedding<Vocab, Embed>(s)"))

// The learned position encoding of Gehring et al. 2017 (section 3.1), to be added to the token
// embeddings: float [Pos, Embed]. Parameter: weight [Pos, Embed], for every position up to Pos's
// bound, initially `init`, by default N(0, 0.02²).
template <class Pos, class Embed>
constexpr auto learned_positions(scope s, initializer init = init::normal(0, 0.02)) {
  return s.param<"weight", Pos, Embed>(init);
}
template <class Pos, class Embed>
requires(!detail::two_axes<Pos, Embed>)
    WEFT_REJECT(rule::no_axes, learned_positions(scope, initializer = {}),
                (no_axes,
                 "nn::learned_positions: name two axes, as in learned_positions<Pos, Embed>(s)"))

WEFT_REJECT_OTHER_CALLS(embedding, "embedding<Vocab, Embed>(s, tokens)")

}  // namespace weft::nn
#include "weft/header_end.hpp"
