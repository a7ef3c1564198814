// Attention layers.
#pragma once

#include <limits>

#include "weft/nn/linear.hpp"
#include "weft/ops/normalize.hpp"
#include "weft/ops/sources.hpp"
#include "weft/ops/view.hpp"

namespace weft::nn {

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

// The same where the mask holds; elsewhere the weight is 0.
template <class HeadDim, class KeyPos, expression Q, expression K, expression M>
constexpr auto attention_weights(const Q& query, const K& key, const M& mask) {
  auto const scores = dot<HeadDim>(query, key) / sqrt(HeadDim{});
  return softmax<KeyPos>(where(mask, scores, -std::numeric_limits<float>::infinity()));
}

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

}  // namespace weft::nn
