#include "weft/nn/embedding.hpp"
#include "weft/nn/feed_forward.hpp"
#include "weft/nn/linear.hpp"
#include "weft/nn/multi_head_attention.hpp"
#include "weft/nn/norm.hpp"
#include "weft/nn/segments.hpp"
#include "weft/nn/sink.hpp"
#include "weft/ops/convert.hpp"

#include "../../words.hpp"

using namespace words;
using namespace weft::nn;
using weft::shape;

struct OtherPos : weft::axis<weft::up_to<512>> {};
struct wide_keys : axes {
  using key_width = Vocab;
};
struct wide_values : axes {
  using value_width = Vocab;
};
struct wide : axes {
  using embed = Vocab;
};
struct other_keys : axes {
  using keys = OtherPos;
};
constexpr floats<Level<0>, Level<1>, Level<2>, Level<3>, Level<4>, Level<5>, Level<6>, Level<7>>
    eight{};

constexpr floats<Batch, KeyPos, Embed> keys{};
constexpr floats<Batch, Pos, Heads, KeyPos> scores{};

void wrong(weft::scope s) {
  // errors: nn::linear: In and Out are axes, or lists of axes, as in linear<Embed, Hidden>(s, x) or
  // linear<Embed, shape<Heads, HeadDim>>(s, x)
  linear<shape<>, Hidden>(s, x);
  linear<Embed, shape<int>>(s, x);
  linear<shape<int>, Hidden>(s, x);
  linear<Embed, int>(s, x);
  // errors: nn::linear: the operand has no such axis
  linear<Heads, Hidden>(s, x);
  linear<shape<Pos, Heads>, shape<Hidden>>(s, x);
  linear<Embed, Hidden>(s, tokens);
  // error: nn::linear: the elements are not float; convert with weft::cast<float>
  linear<Pos, Hidden>(s, tokens);
  // errors: nn::linear: an axis is named twice; give the second role a name of its own with
  // weft::alias
  linear<Embed, Embed>(s, x);
  linear<Embed, Embed>(s, x, {.bias = false});
  // error: nn::linear: the operands have more than 8 axes between them
  linear<Level<0>, shape<Batch, Pos, Embed, Heads>>(s, five<float>);
  // errors: nn::linear: it takes a scope, an operand and options, as in linear<Embed, Hidden>(s, x,
  // {.bias = false}); a parameter that is initialized otherwise is s.param<...>(init::...) and
  // weft::dot
  linear<Embed, Hidden>(s, x, false);
  linear<Embed, Hidden>(s, x, gain, weft::init::zeros());
  // errors: nn::lora: In and Out are axes or lists of axes, Rank is an axis
  lora<Embed, Hidden, int>(s, x);
  lora<shape<>, Hidden, Vocab>(s, x);
  // error: nn::lora: the operand has no such axis
  lora<Heads, Hidden, Vocab>(s, x);
  // error: nn::lora: the elements are not float; convert with weft::cast<float>
  lora<Pos, Hidden, Vocab>(s, tokens);
  // errors: nn::lora: an axis is named twice; give the second role a name of its own with
  // weft::alias
  lora<Embed, Hidden, Hidden>(s, x, {.alpha = 2});
  lora<Embed, Hidden, Embed>(s, x);
  // error: nn::lora: the operands have more than 8 axes between them
  lora<Level<0>, shape<Batch, Pos, Embed>, Heads>(s, five<float>);
  // errors: nn::lora: it is called as lora<Embed, Hidden, Rank>(s, x, {.alpha = 16})
  lora<Embed, Hidden>(s, x);
  lora<Embed, Hidden, Vocab>(s, x, 16);
  // errors: nn::feed_forward: name two axes, as in feed_forward<Embed, Hidden>(s, x)
  feed_forward<shape<Embed>, shape<Hidden>>(s, x);
  feed_forward<shape<Embed>, Hidden>(s, x);
  feed_forward<Embed, int>(s, x);
  // error: nn::feed_forward: the operand has no such axis
  feed_forward<Heads, Hidden>(s, x);
  // error: nn::feed_forward: the elements are not float; convert with weft::cast<float>
  feed_forward<Pos, Hidden>(s, tokens);
  // error: nn::feed_forward: an axis is named twice; give the second role a name of its own with
  // weft::alias
  feed_forward<Embed, Embed>(s, x);
  // error: nn::feed_forward: the operands have more than 8 axes between them
  feed_forward<Level<0>, Hidden>(s, eight);
  // error: nn::layer_norm: the operand has no such axis
  weft::nn::layer_norm<Heads>(s, x);
  // error: nn::layer_norm: the elements are not float; convert with weft::cast<float>
  weft::nn::layer_norm<Pos>(s, tokens);
  // errors: nn::embedding: name two axes, as in embedding<Vocab, Embed>(s, tokens)
  embedding<Vocab, Vocab>(s, tokens);
  embedding<shape<Vocab>, Embed>(s, tokens);
  embedding<int, Embed>(s, tokens);
  // error: nn::embedding: the tokens are not int32
  embedding<Vocab, Embed>(s, x);
  // errors: nn::embedding: the tokens are a tensor of int32; for one token write weft::constant(0)
  embedding<Vocab, Embed>(s, 0);
  embedding<Vocab, Embed>(s, 0, weft::init::zeros());
  // error: nn::embedding: the tokens have the axis that they pick from
  embedding<Pos, Embed>(s, tokens);
  // errors: nn::embedding: the operands have more than 8 axes between them
  embedding<Vocab, Hidden>(s, weft::cast<std::int32_t>(eight));
  embedding<Vocab, Embed>(
      s, integers<Level<0>, Level<1>, Level<2>, Level<3>, Level<4>, Level<5>, Level<6>>{});
  // errors: nn::learned_positions: name two axes, as in learned_positions<Pos, Embed>(s)
  learned_positions<Embed, Embed>(s);
  learned_positions<Pos, int>(s, weft::init::zeros());
  learned_positions<Pos, Pos>(s);
  learned_positions<Pos, int>(s);
  // errors: nn::tied_embedding: name two axes, as in tied_embedding<Vocab, Embed>(s)
  tied_embedding<Embed, Embed>(s);
  tied_embedding<Vocab, int>(s);
  // error: nn::rms_norm: the operand has no such axis
  rms_norm<Heads>(s, x);
  // error: nn::rms_norm: the elements are not float; convert with weft::cast<float>
  rms_norm<Pos>(s, tokens);
  // error: nn::causal: the offset is not int32
  weft::nn::causal<Pos, KeyPos>(x);
  // errors: nn::causal: name the axis of the queries and another for the keys, as in causal<Pos,
  // KeyPos>()
  weft::nn::causal<Pos, Pos>();
  weft::nn::causal<Pos, int>();
  // errors: nn::causal: name the axis of the queries and another for the keys, as in causal<Pos,
  // KeyPos>(offset)
  weft::nn::causal<Pos, Pos>(tokens);
  weft::nn::causal<Pos, Pos>(x);
  // errors: nn::sliding_window: name the axis of the queries and another for the keys, as in
  // sliding_window<Pos, KeyPos>({.left = 8})
  sliding_window<Pos, Pos>({.left = 1});
  sliding_window<int, KeyPos>({.left = 1});
  // error: nn::segments: name the segments' axis, that of the positions and another for the keys,
  // as in segments<Segment, Pos, KeyPos>(begins, ends)
  segments<Batch, Pos, Pos>(integers<Batch>{}, integers<Batch>{});
  // error: nn::segments: begins and ends are not int32
  segments<Batch, Pos, KeyPos>(integers<Batch>{}, floats<Batch>{});
  // error: nn::segments: begins and ends do not both have the segments' axis
  segments<Batch, Pos, KeyPos>(integers<Batch>{}, integers<Heads>{});
  // error: nn::valid: the lengths are not int32
  valid<KeyPos>(x);
  // error: nn::masked_softmax: the scores have no such axis of keys
  masked_softmax<KeyPos>(x);
  // error: nn::masked_softmax: the scores are not float; convert with weft::cast<float>
  masked_softmax<Pos>(tokens);
  // errors: nn::masked_softmax: a mask has an axis that its scores lack
  // note: only_the_mask_has<
  masked_softmax<Pos>(x, words::causal);
  masked_softmax<KeyPos>(scores, x);
  masked_softmax<KeyPos>(scores, weft::nn::masks(words::causal, x));
  // errors: nn::masked_softmax: a mask of floats is added and needs the keys' axis; valid lengths
  // are std::int32_t, without it
  masked_softmax<Pos>(x, tokens);
  masked_softmax<KeyPos>(scores, weft::nn::masks(words::causal, floats<Batch>{}));
  masked_softmax<KeyPos>(scores, integers<Batch, KeyPos>{});
  masked_softmax<KeyPos>(scores, floats<Batch>{});
  // errors: nn::masked_softmax: a mask has its keys along another axis; name that of the queries
  // first, as in causal<Pos, KeyPos>()
  masked_softmax<KeyPos>(scores, weft::nn::causal<KeyPos, Pos>());
  masked_softmax<KeyPos>(
      scores, weft::nn::masks(weft::nn::sliding_window<KeyPos, Pos>({.left = 1, .right = 2})));
  masked_softmax<KeyPos>(scores, weft::positions<Pos>() > 1 && weft::nn::causal<KeyPos, Pos>());
  // error: nn::dot_product_score: the query has no such axis to contract
  dot_product_score<HeadDim>(x, key);
  // error: nn::dot_product_score: the key has no such axis to contract
  dot_product_score<HeadDim>(query, x);
  // error: nn::dot_product_score: query or key is not float; convert with weft::cast<float>
  dot_product_score<Pos>(tokens, x);
  // error: nn::additive_score: the query has no such axis to contract
  additive_score<Embed, HeadDim, Hidden>(s, query, key);
  // errors: nn::additive_score: the key has no such axis to contract
  additive_score<HeadDim, Embed, Hidden>(s, query, key);
  additive_score<Embed, HeadDim, Hidden>(s, x, keys);
  // error: nn::additive_score: query or key is not float; convert with weft::cast<float>
  additive_score<Pos, HeadDim, Hidden>(s, tokens, key);
  // error: nn::bilinear_score: the query has no such axis to contract
  bilinear_score<Embed, HeadDim>(s, query, key);
  // errors: nn::bilinear_score: the key has no such axis to contract
  bilinear_score<HeadDim, Embed>(s, query, key);
  bilinear_score<Embed, HeadDim>(s, x, keys);
  // error: nn::bilinear_score: query or key is not float; convert with weft::cast<float>
  bilinear_score<Pos, HeadDim>(s, tokens, key);
  // error: nn::gaussian_score: the query has no such axis to contract
  gaussian_score<HeadDim>(x, key);
  // error: nn::gaussian_score: the key has no such axis to contract
  gaussian_score<HeadDim>(query, x);
  // error: nn::gaussian_score: query or key is not float; convert with weft::cast<float>
  gaussian_score<Pos>(tokens, x);
  // error: nn::attention: scores or values have no such axis of keys
  attention<KeyPos>(scores, query);
  // error: nn::attention: scores or values are not float; convert with weft::cast<float>
  attention<Pos>(tokens, x);
  // error: nn::attention: a mask has an axis that its scores lack
  // note: only_the_mask_has<
  attention<KeyPos>(scores, key, words::masks<KeyPos, Embed>{});
  // error: nn::attention: a mask has its keys along another axis; name that of the queries
  // first, as in causal<Pos, KeyPos>()
  attention<KeyPos>(scores, key, weft::nn::causal<KeyPos, Pos>());
  // error: nn::attention: a mask of floats is added and needs the keys' axis; valid lengths are
  // std::int32_t, without it
  attention<KeyPos>(scores, key, floats<Batch>{});
  // error: nn::softmax_with_sink: the scores have no such axis of keys
  softmax_with_sink<Embed>(scores, gain);
  // error: nn::softmax_with_sink: scores or sink are not float; convert with weft::cast<float>
  softmax_with_sink<KeyPos>(scores, tokens);
  // error: nn::softmax_with_sink: the sink has the keys' axis, or one that the scores lack
  softmax_with_sink<KeyPos>(scores, x);
  // errors: nn::attention_weights: the query has no such axis to contract
  attention_weights<Embed, KeyPos>(query, key);
  attention_weights<Embed, KeyPos>(query, key, words::causal);
  // errors: nn::attention_weights: the key lacks the axis to contract, or not that of the keys
  attention_weights<HeadDim, KeyPos>(query, query, words::causal);
  attention_weights<HeadDim, KeyPos>(query, query);
  attention_weights<HeadDim, Embed>(query, key, words::causal);
  attention_weights<Pos, KeyPos>(tokens, tokens);
  // error: nn::attention_weights: query or key is not float; convert with weft::cast<float>
  attention_weights<Pos, Batch>(x, tokens);
  // error: nn::attention_weights: a mask has an axis that its scores lack
  // note: only_the_mask_has<
  attention_weights<HeadDim, KeyPos>(query, key, five<bool>);
  // error: nn::attention_weights: a mask has its keys along another axis; name that of the
  // queries first, as in causal<Pos, KeyPos>()
  attention_weights<HeadDim, KeyPos>(query, key, weft::nn::causal<KeyPos, Pos>());
  // errors: nn::attention_weights: a mask of floats is added and needs the keys' axis; valid
  // lengths are std::int32_t, without it
  attention_weights<HeadDim, KeyPos>(query, key, floats<Batch, Pos>{});
  attention_weights<HeadDim, KeyPos>(query, key, floats<Heads>{});
  // error: nn::multi_head_attention: an operand lacks the axis of its role; see fault<>
  // note: roles::embed
  multi_head_attention<wide>(s, x, keys, keys);
  // errors: nn::multi_head_attention: an operand lacks the axis of its role; see fault<>
  // note: roles::keys
  multi_head_attention<axes>(s, x, keys, x);
  multi_head_attention<axes>(s, x, x, x);
  // error: nn::multi_head_attention: an operand lacks the axis of its role; see fault<>
  // note: roles::key_width
  multi_head_attention<wide_keys>(s, x, keys, keys);
  // error: nn::multi_head_attention: an operand lacks the axis of its role; see fault<>
  // note: roles::value_width
  multi_head_attention<wide_values>(s, x, keys, keys);
  // error: nn::multi_head_attention: an operand has the axis of a role already; see fault<>
  // note: roles::keys
  multi_head_attention<axes>(s, keys, keys, keys);
  // error: nn::multi_head_attention: an operand is not float; convert with weft::cast<float>
  multi_head_attention<axes>(s, integers<Pos, Embed>{}, keys, keys);
  // error: nn::multi_head_attention: a mask has an axis that its scores lack
  // note: only_the_mask_has<
  multi_head_attention<axes>(s, x, keys, keys, words::masks<HeadDim, KeyPos>{});
  // error: nn::multi_head_attention: a mask has its keys along another axis; name that of the
  // queries first, as in causal<Pos, KeyPos>()
  multi_head_attention<axes>(s, x, keys, keys, weft::nn::causal<KeyPos, Pos>());
  // errors: nn::multi_head_attention: a mask of floats is added and needs the keys' axis; valid
  // lengths are std::int32_t, without it
  multi_head_attention<axes>(s, x, keys, keys, integers<Batch, KeyPos>{});
  multi_head_attention<axes>(s, x, keys, keys, floats<Batch>{});
  // error: nn::self_attention: an operand lacks the axis of its role; see fault<>
  // note: roles::embed
  self_attention<wide>(s, x);
  // errors: nn::self_attention: an operand lacks the axis of its role; see fault<>
  // note: roles::
  self_attention<axes>(s, tokens, words::causal);
  self_attention<axes>(s, keys, {}, {.bias = false});
  // errors: nn::self_attention: keys is no alias of positions; see fault<>
  // note: OtherPos
  self_attention<other_keys>(s, x);
  self_attention<other_keys>(s, x, words::causal);
  // errors: nn::self_attention: an operand has the axis of a role already; see fault<>
  self_attention<axes>(s, floats<Pos, KeyPos, Embed>{});
  self_attention<axes>(s, floats<Pos, KeyPos, Embed>{}, words::causal);
  // error: nn::self_attention: an operand is not float; convert with weft::cast<float>
  self_attention<axes>(s, integers<Pos, Embed>{}, words::causal);
  // error: nn::self_attention: the operands have more than 8 axes between them
  self_attention<axes>(s, floats<Level<0>, Level<1>, Level<2>, Level<3>, Level<4>, Pos, Embed>{});
  // error: nn::self_attention: a mask has an axis that its scores lack
  // note: only_the_mask_has<
  self_attention<axes>(s, x, x);
  // error: nn::self_attention: a mask has its keys along another axis; name that of the queries
  // first, as in causal<Pos, KeyPos>()
  self_attention<axes>(s, x, weft::nn::causal<KeyPos, Pos>());
  // errors: nn::self_attention: a mask of floats is added and needs the keys' axis; valid lengths
  // are std::int32_t, without it
  self_attention<axes>(s, x, floats<Heads>{});
  self_attention<axes>(s, x, floats<Batch>{});
}
