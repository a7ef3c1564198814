#include "weft/nn/embedding.hpp"
#include "weft/nn/feed_forward.hpp"
#include "weft/nn/linear.hpp"
#include "weft/nn/multi_head_attention.hpp"
#include "weft/nn/norm.hpp"
#include "words.hpp"

using namespace words;
using weft::shape;
namespace nn = weft::nn;

struct OtherPos : weft::axis<weft::up_to<512>> {};

constexpr floats<Batch, KeyPos, Embed> keys{};
constexpr floats<Batch, Pos, Heads, KeyPos> scores{};
constexpr integers<Batch> lengths{};
constexpr floats<Heads, KeyPos> added{};
extern const weft::scope s;

static_assert(is<decltype(nn::linear<Embed, shape<Heads, HeadDim>>(s, x)),
                 floats<Batch, Pos, Heads, HeadDim>>);
static_assert(is<decltype(nn::linear<Embed, shape<>>(s, x)), floats<Batch, Pos>>);
static_assert(is<decltype(nn::lora<shape<Pos, Embed>, shape<Heads, HeadDim>, Hidden>(s, x)),
                 floats<Batch, Heads, HeadDim>>);
static_assert(is<decltype(nn::linear<shape<Pos, Embed>, Hidden>(s, x)), floats<Batch, Hidden>>);
static_assert(
    is<decltype(nn::linear<Embed, Hidden>(s, x, {.bias = false})), floats<Batch, Pos, Hidden>>);
static_assert(are<floats<Batch, Pos, Embed>, decltype(nn::feed_forward<Embed, Hidden>(s, x)),
                  decltype(nn::layer_norm<Embed>(s, x)), decltype(nn::rms_norm<Embed>(s, x)),
                  decltype(nn::embedding<Vocab, Embed>(s, tokens))>);
static_assert(is<decltype(nn::learned_positions<Pos, Embed>(s)), floats<Pos, Embed>>);
static_assert(is<decltype(nn::tied_embedding<Vocab, Embed>(s)), nn::tied<Vocab, Embed>>);

// Scores: a query [Batch, Pos, Heads, HeadDim], a key [Batch, KeyPos, Heads, HeadDim].
static_assert(
    are<floats<Batch, Pos, Heads, KeyPos>, decltype(nn::dot_product_score<HeadDim>(query, key)),
        decltype(nn::gaussian_score<HeadDim>(query, key))>);
static_assert(are<floats<Batch, Pos, KeyPos, Heads>,
                  decltype(nn::additive_score<Embed, HeadDim, Hidden>(s, x, key)),
                  decltype(nn::bilinear_score<Embed, HeadDim>(s, x, key))>);

// Masks of every kind, over any axes of the scores.
template <class... Mask>
using weights = decltype(nn::masked_softmax<KeyPos>(scores, std::declval<Mask>()...));
static_assert(
    are<floats<Batch, Pos, Heads, KeyPos>, weights<>, weights<masks<KeyPos, Pos>>,
        weights<masks<Batch, Pos>>, weights<integers<Batch>>, weights<integers<Batch, Pos>>,
        weights<floats<Heads, KeyPos>>, weights<floats<KeyPos>>,
        decltype(nn::masked_softmax<KeyPos>(scores, nn::masks(causal, lengths, added)))>);
static_assert(
    are<floats<Batch, Pos, Heads, HeadDim>, decltype(nn::attention<KeyPos>(scores, key).output),
        decltype(nn::attention<KeyPos>(scores, key, causal).output)>);

// causal and sliding_window
static_assert(is<weft::shape_t<decltype(nn::causal<Pos, KeyPos>())>, shape<KeyPos, Pos>>);
static_assert(is<weft::shape_t<decltype(nn::causal<Pos, OtherPos>())>, shape<OtherPos, Pos>>);
static_assert(
    is<weft::shape_t<decltype(nn::sliding_window<Pos, KeyPos>({.left = 1}))>, shape<KeyPos, Pos>>);
static_assert(
    is<weft::shape_t<decltype(nn::causal<Pos, KeyPos>(tokens))>, shape<KeyPos, Pos, Batch>>);

static_assert(are<floats<Batch, Pos, Heads, KeyPos>,
                  decltype(nn::attention_weights<HeadDim, KeyPos>(query, key)),
                  decltype(nn::attention_weights<HeadDim, KeyPos>(query, key, causal)),
                  decltype(nn::attention_weights<HeadDim, KeyPos>(query, key, added))>);

template <class... Mask>
using self_attention = decltype(nn::self_attention<axes>(s, x, std::declval<Mask>()...).output);
static_assert(are<floats<Batch, Pos, Embed>, self_attention<>, self_attention<masks<KeyPos, Pos>>,
                  self_attention<floats<Heads, KeyPos>>,
                  self_attention<decltype(nn::causal<Pos, KeyPos>())>>);

struct grouped : axes {
  using group = Hidden;
};
struct multi_query : axes {
  using key_heads = shape<>;
};
template <class Axes, class... Mask>
using attention =
    decltype(nn::multi_head_attention<Axes>(s, x, keys, keys, std::declval<Mask>()...).output);
static_assert(are<floats<Batch, Pos, Embed>, attention<axes>, attention<axes, masks<KeyPos, Pos>>,
                  attention<grouped>, attention<multi_query>>);
