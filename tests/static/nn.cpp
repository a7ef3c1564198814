#include "weft/nn/embedding.hpp"
#include "weft/nn/feed_forward.hpp"
#include "weft/nn/linear.hpp"
#include "weft/nn/multi_head_attention.hpp"
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
template <class Pos, class KeyPos, class Embed = words::Embed, class Heads = words::Heads>
constexpr auto attends = [](auto a, auto... mask) {
  return requires(weft::scope s) {
    weft::nn::self_attention<Pos, KeyPos, Embed, Heads, HeadDim>(s, a, mask...);
  };
};
template <class Widths, class Heads = words::Heads>
constexpr auto attends_to = [](auto query, auto key, auto value, auto... mask) {
  return requires(weft::scope s) {
    weft::nn::multi_head_attention<KeyPos, Widths, Heads, HeadDim>(s, query, key, value, mask...);
  };
};
template <class KeyPos>
constexpr auto masks_softmax = [](auto... a) {
  return requires {
    weft::nn::masked_softmax<KeyPos>(a...);
  };
};
template <class KeyPos>
constexpr auto pools = [](auto... a) {
  return requires {
    weft::nn::attention<KeyPos>(a...);
  };
};
template <class QueryDim, class KeyDim>
constexpr auto scores_of = [](auto q, auto k) {
  return requires(weft::scope s) {
    weft::nn::additive_score<QueryDim, KeyDim, Hidden>(s, q, k);
    weft::nn::bilinear_score<QueryDim, KeyDim>(s, q, k);
  };
};
template <class Dim>
constexpr auto scores_by_products = [](auto q, auto k) {
  return requires {
    weft::nn::dot_product_score<Dim>(q, k);
    weft::nn::gaussian_score<Dim>(q, k);
  };
};
template <class Embed>
constexpr auto takes_rms_norm = [](auto a) {
  return requires(weft::scope s) {
    weft::nn::rms_norm<Embed>(s, a);
  };
};
template <class Vocab, class Embed>
concept ties = requires(weft::scope s) {
  weft::nn::tied_embedding<Vocab, Embed>(s);
};

// linear
static_assert(is<decltype(weft::nn::linear<shape<Embed>, shape<Heads, HeadDim>>(
                     std::declval<weft::scope>(), x)),
                 floats<Batch, Pos, Heads, HeadDim>>);
static_assert(takes_linear<shape<Embed>, shape<Hidden>>(x));
static_assert(takes_linear<shape<Embed>, shape<>>(x) &&
              takes_linear<shape<Pos, Embed>, shape<Hidden>>(x));
static_assert(!takes_linear<Embed, Hidden>(x) &&
              !takes_linear<shape<>, shape<Hidden>>(x));  // not weft::shape
static_assert(!takes_linear<shape<int>, shape<Hidden>>(x) && !takes_linear<shape<Embed>, int>(x));
static_assert(!takes_linear<shape<Heads>, shape<Hidden>>(x));     // no such axis
static_assert(!takes_linear<shape<Pos>, shape<Hidden>>(tokens));  // dtype
static_assert(!takes_linear<shape<Embed>, shape<Embed>>(x));      // named twice
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
static_assert(!embeds<Pos, Embed>(tokens));  // indices have Pos
static_assert(!embeds<Vocab, Embed>(
    weft::tensor<std::int32_t,
                 shape<Level<0>, Level<1>, Level<2>, Level<3>, Level<4>, Level<5>, Level<6>>>{}));
static_assert(has_positions<Pos, Embed> && !has_positions<Pos, Pos> && !has_positions<Pos, int>);

// rms_norm and tied_embedding
static_assert(takes_rms_norm<Embed>(x) && !takes_rms_norm<Heads>(x));
static_assert(!takes_rms_norm<Pos>(tokens));
static_assert(ties<Vocab, Embed> && !ties<Embed, Embed> && !ties<Vocab, int>);

// Scores: a query [Batch, Pos, Heads, HeadDim], a key [Batch, KeyPos, Heads, HeadDim].
constexpr floats<Batch, KeyPos, Embed> keys{};
constexpr floats<Batch, Pos, Heads, KeyPos> scores{};
static_assert(scores_by_products<HeadDim>(query, key) && !scores_by_products<HeadDim>(x, key));
static_assert(!scores_by_products<HeadDim>(query, x) && !scores_by_products<Pos>(tokens, x));
static_assert(scores_of<Embed, HeadDim>(x, key) && !scores_of<Embed, HeadDim>(query, key));
static_assert(!scores_of<Embed, HeadDim>(x, keys) && !scores_of<Pos, HeadDim>(tokens, key));

// Masks of every kind, over any axes of the scores.
constexpr integers<Batch> valid_of_sequences{};
constexpr floats<Heads, KeyPos> added{};
static_assert(masks_softmax<KeyPos>(scores) && masks_softmax<KeyPos>(scores, causal));
static_assert(masks_softmax<KeyPos>(scores, valid_of_sequences) &&
              masks_softmax<KeyPos>(scores, tokens) && masks_softmax<KeyPos>(scores, added));
static_assert(masks_softmax<KeyPos>(scores, weft::nn::masks(causal, valid_of_sequences, added)));
static_assert(!masks_softmax<KeyPos>(x) && !masks_softmax<Pos>(tokens));  // no such axis; dtype
static_assert(!masks_softmax<KeyPos>(scores, x));                         // axes
static_assert(!masks_softmax<KeyPos>(scores, weft::nn::masks(causal, x)));
static_assert(!masks_softmax<KeyPos>(scores, integers<Batch, KeyPos>{}));  // lengths have KeyPos
static_assert(!masks_softmax<KeyPos>(scores, floats<Batch>{}) &&
              !masks_softmax<KeyPos>(scores, weft::nn::masks(causal, floats<Batch>{})));
static_assert(masks_softmax<KeyPos>(scores, floats<KeyPos>{}) &&
              masks_softmax<KeyPos>(scores, masks<Batch, Pos>{}));
static_assert(pools<KeyPos>(scores, key) && pools<KeyPos>(scores, key, causal));
static_assert(!pools<KeyPos>(scores, query) && !pools<Pos>(tokens, x));
static_assert(!pools<KeyPos>(scores, key, masks<KeyPos, Embed>{}));
static_assert(!pools<KeyPos>(scores, key, floats<Batch>{}));

// causal and sliding_window
template <class Pos, class KeyPos>
concept has_causal = requires {
  weft::nn::causal<Pos, KeyPos>();
};
template <class Pos, class KeyPos>
constexpr auto is_causal_from = [](auto offset) {
  return requires {
    weft::nn::causal<Pos, KeyPos>(offset);
  };
};
template <class Pos, class KeyPos>
concept has_window = requires {
  weft::nn::sliding_window<Pos, KeyPos>(1, 0);
};
static_assert(has_causal<Pos, KeyPos> && has_causal<Pos, OtherPos> && !has_causal<Pos, Pos> &&
              !has_causal<Pos, int>);
static_assert(is_causal_from<Pos, KeyPos>(tokens) && !is_causal_from<Pos, KeyPos>(x) &&
              !is_causal_from<Pos, Pos>(tokens) && !is_causal_from<Pos, Pos>(x));
static_assert(has_window<Pos, KeyPos> && !has_window<Pos, Pos> && !has_window<int, KeyPos>);

// attention_weights
static_assert(weighs<HeadDim, KeyPos>(query, key) && weighs<HeadDim, KeyPos>(query, key, causal));
static_assert(!weighs<Embed, KeyPos>(query, key) && !weighs<Embed, KeyPos>(query, key, causal));
static_assert(!weighs<HeadDim, KeyPos>(query, query) &&
              !weighs<HeadDim, Embed>(query, key, causal));
static_assert(!weighs<Pos, KeyPos>(tokens, tokens));
static_assert(!weighs<HeadDim, KeyPos>(query, key, five<bool>));
static_assert(weighs<HeadDim, KeyPos>(query, key, added) &&
              !weighs<HeadDim, KeyPos>(query, key, floats<Heads>{}));

// self_attention
static_assert(attends<Pos, KeyPos>(x) && attends<Pos, KeyPos>(x, causal) &&
              attends<Pos, KeyPos>(x, weft::nn::causal<Pos, KeyPos>()));
static_assert(!attends<Pos, Pos>(x, causal) && !attends<Pos, int>(x, causal));  // axes
static_assert(!attends<Pos, KeyPos>(tokens, causal) &&
              !attends<KeyPos, Pos>(x, causal));    // no such axis
static_assert(!attends<Pos, OtherPos>(x, causal));  // not an alias of Pos
static_assert(!attends<Pos, KeyPos>(floats<Pos, KeyPos, Embed>{}, causal));
static_assert(!attends<Pos, KeyPos>(integers<Pos, Embed>{}, causal));  // dtype
static_assert(!attends<Pos, KeyPos>(x, x));                            // mask
static_assert(attends<Pos, KeyPos>(x, added) && !attends<Pos, KeyPos>(x, floats<Batch>{}));

// multi_head_attention
using weft::nn::widths, weft::nn::grouped, weft::nn::multi_query;
static_assert(attends_to<Embed>(x, keys, keys) && attends_to<Embed>(x, keys, keys, causal));
static_assert(attends_to<Embed, grouped<Heads, Hidden>>(x, keys, keys) &&
              attends_to<Embed, multi_query<Heads>>(x, keys, keys));
static_assert(!attends_to<Embed, HeadDim>(x, keys, keys) &&
              !attends_to<Embed, grouped<Heads, int>>(x, keys, keys));  // axes
static_assert(!attends_to<widths<Vocab, Embed>>(x, keys, keys));        // query
static_assert(!attends_to<widths<Embed, Vocab, Embed>>(x, keys, keys));
static_assert(!attends_to<widths<Embed, Embed, Vocab>>(x, keys, keys));
static_assert(!attends_to<Embed>(x, x, x) && !attends_to<Embed>(keys, keys, keys));  // KeyPos axis
static_assert(!attends_to<Embed>(integers<Pos, Embed>{}, keys, keys));               // dtype
static_assert(!attends_to<Embed>(x, keys, keys, integers<Batch, KeyPos>{}));         // mask
static_assert(!attends_to<Embed>(x, keys, keys, floats<Batch>{}));
