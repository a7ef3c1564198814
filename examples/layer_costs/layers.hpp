// The layers that the attention chapter compares: each maps a sequence of n vectors of size d to
// another. The attention is the chapter's, of a sequence with itself, without projections.
#pragma once

#include <weft/model.hpp>

namespace layer_costs {

template <int N>
struct Pos : weft::axis<N> {};
template <int N>
struct KeyPos : weft::alias<Pos<N>> {};
template <int D>
struct Embed : weft::axis<D> {};
template <int D>
struct Value : weft::alias<Embed<D>> {};

// softmax(X Xᵀ / sqrt(d)) X, over the keys that the mask shows.
template <int N, int D, class Mask>
constexpr auto attention_to_itself(weft::scope s, const Mask& mask) {
  using namespace weft;
  auto x = s.input<"x", float, Pos<N>, Embed<D>>();
  auto keys = rename<Pos<N>, KeyPos<N>>(x);
  auto weights = nn::attention_weights<Embed<D>, KeyPos<N>>(x, keys, mask);
  return dot<KeyPos<N>>(weights, rename<Embed<D>, Value<D>>(keys));
}

template <int N, int D>
struct self_attention {
  constexpr auto operator()(weft::scope s) const {
    return attention_to_itself<N, D>(s, weft::nn::masks());
  }
};

// Each position attends to r positions on both sides.
template <int N, int D, int R>
struct restricted_self_attention {
  constexpr auto operator()(weft::scope s) const {
    return attention_to_itself<N, D>(
        s, weft::nn::sliding_window<Pos<N>, KeyPos<N>>({.left = R, .right = R}));
  }
};

template <int N, int D>
struct recurrent {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos<N>, Embed<D>>();
    return weft::nn::rnn<Pos<N>, Embed<D>, Value<D>>(s, x).all;
  }
};

// With k taps, an odd number, and zero padding that keeps the length.
template <int N, int D, int K>
struct convolutional {
  constexpr auto operator()(weft::scope s) const {
    constexpr weft::window same{.left = K / 2, .right = K / 2};
    auto x = s.input<"x", float, Pos<N>, Embed<D>>();
    return weft::nn::convolution<Embed<D>, Value<D>, weft::nn::along<Pos<N>, K, same>>(s, x);
  }
};

}  // namespace layer_costs
