// Embeddings of tokens and positions.
#pragma once

#include "weft/graph/reject.hpp"
#include "weft/graph/scope.hpp"
#include "weft/ops/dot.hpp"
#include "weft/ops/gather.hpp"

namespace weft::nn {

namespace detail {

template <class A, class B>
inline constexpr bool two_axes = axis_like<A>&& axis_like<B> && !std::same_as<A, B>;

enum class embedding_fault { none, axes, indices, nested, rank };

template <class I, class Vocab, class Embed>
constexpr embedding_fault fault_of_embedding() {
  if (!two_axes<Vocab, Embed>) return embedding_fault::axes;
  if (!std::same_as<element_t<I>, std::int32_t>) return embedding_fault::indices;
  if (has_axis<Vocab, shape_t<I>>) return embedding_fault::nested;
  constexpr int rank = united_rank<shape_t<I>, shape<Vocab, Embed>>;
  if (rank > max_rank) return embedding_fault::rank;
  return embedding_fault::none;
}

}  // namespace detail

// The table's row of each token, as torch.nn.Embedding: tokens int32 [...] to float [..., Embed].
// Parameter: weight [Vocab, Embed], initially `init`, by default N(0, 1). Tokens that are an input
// are checked as weft::gather's indices are. Misuse does not compile: see the WEFT_REJECT
// overloads.
template <class Vocab, class Embed, expression I>
constexpr auto embedding(scope s, const I& tokens, initializer init = init::normal()) {
  return gather<Vocab>(s.param<"weight", Vocab, Embed>(init), tokens);
}
template <class Vocab, class Embed, expression I>
requires(detail::fault_of_embedding<I, Vocab, Embed>() == detail::embedding_fault::axes)
    WEFT_REJECT("nn::embedding: name two axes, as in embedding<Vocab, Embed>(s, tokens)",
                embedding(scope, const I&, initializer = {}))
template <class Vocab, class Embed, expression I>
requires(detail::fault_of_embedding<I, Vocab, Embed>() == detail::embedding_fault::indices)
    WEFT_REJECT("nn::embedding: the tokens are not int32",
                embedding(scope, const I&, initializer = {}))
template <class Vocab, class Embed, expression I>
requires(detail::fault_of_embedding<I, Vocab, Embed>() == detail::embedding_fault::nested)
    WEFT_REJECT("nn::embedding: the tokens have the axis that they pick from",
                embedding(scope, const I&, initializer = {}))
template <class Vocab, class Embed, expression I>
requires(detail::fault_of_embedding<I, Vocab, Embed>() == detail::embedding_fault::rank)
    WEFT_REJECT("nn::embedding: the operands have more than 8 axes between them",
                embedding(scope, const I&, initializer = {}))

template <class Vocab, class Embed, class I>
requires(!expression<I>) WEFT_REJECT(
    "nn::embedding: the tokens are a tensor of int32; for one token write weft::constant(0)",
    embedding(scope, const I&, initializer = {}))

// One table for input embedding and output projection (Press and Wolf 2017). `embed` is the row of
// each token, tokens int32 [...] to float [..., Embed]; `logits` the product of each vector with
// each row, x float [..., Embed] to float [..., Vocab].
template <class Vocab, class Embed>
struct tied {
  tensor<float, shape<Vocab, Embed>> weight;

  template <expression I>
  constexpr auto embed(const I& tokens) const {
    return gather<Vocab>(weight, tokens);
  }
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
    WEFT_REJECT("nn::tied_embedding: name two axes, as in tied_embedding<Vocab, Embed>(s)",
                tied_embedding(scope, initializer = {}))

// The learned position encoding of Gehring et al. 2017 (section 3.1), to be added to the token
// embeddings: float [Pos, Embed]. Parameter: weight [Pos, Embed], for every position up to Pos's
// bound, initially `init`, by default N(0, 0.02²).
template <class Pos, class Embed>
constexpr auto learned_positions(scope s, initializer init = init::normal(0, 0.02)) {
  return s.param<"weight", Pos, Embed>(init);
}
template <class Pos, class Embed>
requires(!detail::two_axes<Pos, Embed>)
    WEFT_REJECT("nn::learned_positions: name two axes, as in learned_positions<Pos, Embed>(s)",
                learned_positions(scope, initializer = {}))

}  // namespace weft::nn
