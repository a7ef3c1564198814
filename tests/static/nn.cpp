#include "weft/nn/attention.hpp"
#include "weft/nn/embedding.hpp"
#include "weft/nn/linear.hpp"
#include "weft/nn/norm.hpp"
#include "weft/ops/convert.hpp"
#include "words.hpp"

using namespace words;
using weft::shape;

struct Hidden : weft::axis<16> {};
struct OtherPos : weft::axis<weft::up_to<512>> {};

template <class In, class Out>
constexpr auto takes_linear = [](auto a) {
  return requires(weft::scope s) {
    weft::nn::linear<In, Out>(s, a);
  };
};
template <class In, class Out>
constexpr auto takes_linear_without_bias = [](auto a) {
  return requires(weft::scope s) {
    weft::nn::linear_without_bias<In, Out>(s, a);
  };
};
template <class Embed, class Hidden>
constexpr auto takes_feed_forward = [](auto a) {
  return requires(weft::scope s) {
    weft::nn::feed_forward<Embed, Hidden>(s, a);
  };
};
template <class Embed>
constexpr auto takes_layer_norm = [](auto a) {
  return requires(weft::scope s) {
    weft::nn::layer_norm<Embed>(s, a);
  };
};
template <class Vocab, class Embed>
constexpr auto embeds = [](auto a) {
  return requires(weft::scope s) {
    weft::nn::embedding<Vocab, Embed>(s, a);
  };
};
template <class Pos, class Embed>
concept has_positions = requires(weft::scope s) {
  weft::nn::learned_positions<Pos, Embed>(s);
};
template <class HeadDim, class KeyPos>
constexpr auto weighs = [](auto... a) {
  return requires {
    weft::nn::attention_weights<HeadDim, KeyPos>(a...);
  };
};
template <class Pos, class KeyPos, class Embed = words::Embed>
constexpr auto attends = [](auto a, auto mask) {
  return requires(weft::scope s) {
    weft::nn::self_attention<Pos, KeyPos, Embed, Heads, HeadDim>(s, a, mask);
  };
};

// linear
static_assert(is<decltype(weft::nn::linear<shape<Embed>, shape<Heads, HeadDim>>(
                     std::declval<weft::scope>(), x)),
                 floats<Batch, Pos, Heads, HeadDim>>);
static_assert(takes_linear<shape<Embed>, shape<Hidden>>(x));
static_assert(takes_linear<shape<Embed>, shape<>>(x) &&
              takes_linear<shape<Pos, Embed>, shape<Hidden>>(x));
static_assert(!takes_linear<Embed, Hidden>(x) &&
              !takes_linear<shape<>, shape<Hidden>>(x));  // lists
static_assert(!takes_linear<shape<int>, shape<Hidden>>(x) && !takes_linear<shape<Embed>, int>(x));
static_assert(!takes_linear<shape<Heads>, shape<Hidden>>(x));     // missing
static_assert(!takes_linear<shape<Pos>, shape<Hidden>>(tokens));  // elements
static_assert(!takes_linear<shape<Embed>, shape<Embed>>(x));      // twice
static_assert(
    !takes_linear<shape<Level<0>>, shape<Batch, Pos, Embed, Heads>>(five<float>));  // rank
static_assert(takes_linear_without_bias<shape<Embed>, shape<Hidden>>(x));
static_assert(!takes_linear_without_bias<Embed, Hidden>(x));
static_assert(!takes_linear_without_bias<shape<Heads>, shape<Hidden>>(x));
static_assert(!takes_linear_without_bias<shape<Pos>, shape<Hidden>>(tokens));
static_assert(!takes_linear_without_bias<shape<Embed>, shape<Embed>>(x));
static_assert(
    !takes_linear_without_bias<shape<Level<0>>, shape<Batch, Pos, Embed, Heads>>(five<float>));

// feed_forward
static_assert(takes_feed_forward<Embed, Hidden>(x));
static_assert(!takes_feed_forward<shape<Embed>, Hidden>(x) && !takes_feed_forward<Embed, int>(x));
static_assert(!takes_feed_forward<Heads, Hidden>(x) && !takes_feed_forward<Pos, Hidden>(tokens));
static_assert(!takes_feed_forward<Embed, Embed>(x));

// layer_norm
static_assert(takes_layer_norm<Embed>(x) && !takes_layer_norm<Heads>(x));
static_assert(!takes_layer_norm<Pos>(tokens));

// embedding and learned_positions
static_assert(embeds<Vocab, Embed>(tokens) && !embeds<Vocab, Embed>(x));
static_assert(!embeds<Vocab, Vocab>(tokens) && !embeds<int, Embed>(tokens));
static_assert(!embeds<Pos, Embed>(tokens));  // nested
static_assert(!embeds<Vocab, Embed>(
    weft::tensor<std::int32_t,
                 shape<Level<0>, Level<1>, Level<2>, Level<3>, Level<4>, Level<5>, Level<6>>>{}));
static_assert(has_positions<Pos, Embed> && !has_positions<Pos, Pos> && !has_positions<Pos, int>);

// attention_weights
static_assert(weighs<HeadDim, KeyPos>(query, key) && weighs<HeadDim, KeyPos>(query, key, causal));
static_assert(!weighs<Embed, KeyPos>(query, key) && !weighs<Embed, KeyPos>(query, key, causal));
static_assert(!weighs<HeadDim, KeyPos>(query, query) &&
              !weighs<HeadDim, Embed>(query, key, causal));
static_assert(!weighs<Pos, KeyPos>(tokens, tokens) && !weighs<HeadDim, KeyPos>(query, key, tokens));
static_assert(!weighs<HeadDim, KeyPos>(query, key, five<bool>));

// self_attention
static_assert(attends<Pos, KeyPos>(x, causal) &&
              attends<Pos, KeyPos>(x, weft::nn::causal<Pos, KeyPos>()));
static_assert(!attends<Pos, Pos>(x, causal) && !attends<Pos, int>(x, causal));  // axes
static_assert(!attends<Pos, KeyPos>(tokens, causal) &&
              !attends<KeyPos, Pos>(x, causal));    // missing
static_assert(!attends<Pos, OtherPos>(x, causal));  // keys
static_assert(!attends<Pos, KeyPos>(floats<Pos, KeyPos, Embed>{}, causal));
static_assert(!attends<Pos, KeyPos>(integers<Pos, Embed>{}, causal));  // elements
static_assert(!attends<Pos, KeyPos>(x, x));                            // mask
static_assert(!attends<Pos, KeyPos>(x, five<bool>));                   // rank
