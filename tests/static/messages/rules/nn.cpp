#include "weft/nn/attention.hpp"
#include "weft/nn/embedding.hpp"
#include "weft/nn/linear.hpp"
#include "weft/nn/norm.hpp"
#include "weft/ops/convert.hpp"

#include "../../words.hpp"

using namespace words;
using namespace weft::nn;
using weft::shape;

struct Hidden : weft::axis<16> {};
struct OtherPos : weft::axis<weft::up_to<512>> {};
constexpr floats<Level<0>, Level<1>, Level<2>, Level<3>, Level<4>, Level<5>, Level<6>, Level<7>>
    eight{};

void wrong(weft::scope s) {
  // error: nn::linear: In and Out are lists of axes, as in linear<shape<Embed>, shape<Hidden>>(s,
  // x)
  linear<Embed, Hidden>(s, x);
  // error: nn::linear: In and Out are lists of axes, as in linear<shape<Embed>, shape<Hidden>>(s,
  // x)
  linear<shape<>, shape<Hidden>>(s, x);
  // error: nn::linear: In and Out are lists of axes, as in linear<shape<Embed>, shape<Hidden>>(s,
  // x)
  linear<shape<Embed>, shape<int>>(s, x);
  // error: nn::linear: the operand has no such axis
  linear<shape<Heads>, shape<Hidden>>(s, x);
  // error: nn::linear: the operand has no such axis
  linear<shape<Embed>, shape<Hidden>>(s, tokens);
  // error: nn::linear: the elements are not float; convert with weft::cast<float>
  linear<shape<Pos>, shape<Hidden>>(s, tokens);
  // error: nn::linear: an axis is named twice; give the second role a name of its own with
  // weft::alias
  linear<shape<Embed>, shape<Embed>>(s, x);
  // error: nn::linear: the operands have more than 8 axes between them
  linear<shape<Level<0>>, shape<Batch, Pos, Embed, Heads>>(s, five<float>);
  // error: nn::linear_without_bias: In and Out are lists of axes, as in
  // linear_without_bias<shape<Embed>, shape<Hidden>>(s, x)
  linear_without_bias<Embed, Hidden>(s, x);
  // error: nn::linear_without_bias: In and Out are lists of axes, as in
  // linear_without_bias<shape<Embed>, shape<Hidden>>(s, x)
  linear_without_bias<shape<>, shape<Hidden>>(s, x);
  // error: nn::linear_without_bias: In and Out are lists of axes, as in
  // linear_without_bias<shape<Embed>, shape<Hidden>>(s, x)
  linear_without_bias<shape<Embed>, shape<int>>(s, x);
  // error: nn::linear_without_bias: the operand has no such axis
  linear_without_bias<shape<Heads>, shape<Hidden>>(s, x);
  // error: nn::linear_without_bias: the operand has no such axis
  linear_without_bias<shape<Embed>, shape<Hidden>>(s, tokens);
  // error: nn::linear_without_bias: the elements are not float; convert with weft::cast<float>
  linear_without_bias<shape<Pos>, shape<Hidden>>(s, tokens);
  // error: nn::linear_without_bias: an axis is named twice; give the second role a name of its own
  // with weft::alias
  linear_without_bias<shape<Embed>, shape<Embed>>(s, x);
  // error: nn::linear_without_bias: the operands have more than 8 axes between them
  linear_without_bias<shape<Level<0>>, shape<Batch, Pos, Embed, Heads>>(s, five<float>);
  // error: nn::feed_forward: name two axes, as in feed_forward<Embed, Hidden>(s, x)
  feed_forward<shape<Embed>, shape<Hidden>>(s, x);
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
  // error: nn::embedding: name two axes, as in embedding<Vocab, Embed>(s, tokens)
  embedding<Vocab, Vocab>(s, tokens);
  // error: nn::embedding: name two axes, as in embedding<Vocab, Embed>(s, tokens)
  embedding<shape<Vocab>, Embed>(s, tokens);
  // error: nn::embedding: the tokens are not int32
  embedding<Vocab, Embed>(s, x);
  // error: nn::embedding: the tokens have the axis that they pick from
  embedding<Pos, Embed>(s, tokens);
  // error: nn::embedding: the operands have more than 8 axes between them
  embedding<Vocab, Hidden>(s, weft::cast<std::int32_t>(eight));
  // error: nn::learned_positions: name two axes, as in learned_positions<Pos, Embed>(s)
  learned_positions<Embed, Embed>(s);
  // error: nn::learned_positions: name two axes, as in learned_positions<Pos, Embed>(s)
  learned_positions<Pos, int>(s, weft::init::zeros());
  // error: nn::attention_weights: the query has no such axis to contract
  attention_weights<Embed, KeyPos>(query, key);
  // error: nn::attention_weights: the key has not the axis to contract, or not that of the keys
  attention_weights<HeadDim, KeyPos>(query, query);
  // error: nn::attention_weights: query or key is not float; convert with weft::cast<float>
  attention_weights<Pos, Batch>(x, tokens);
  // error: nn::attention_weights: the operands have more than 8 axes between them
  attention_weights<Level<4>, Level<5>>(five<float>, five_more<float>);
  // error: nn::attention_weights: the query has no such axis to contract
  attention_weights<Embed, KeyPos>(query, key, words::causal);
  // error: nn::attention_weights: the key has not the axis to contract, or not that of the keys
  attention_weights<HeadDim, KeyPos>(query, query, words::causal);
  // error: nn::attention_weights: query or key is not float; convert with weft::cast<float>
  attention_weights<Pos, Batch>(x, tokens, words::causal);
  // error: nn::attention_weights: the operands have more than 8 axes between them
  attention_weights<Level<4>, Level<5>>(five<float>, five_more<float>, words::causal);
  // error: nn::attention_weights: the mask is not of booleans, such as a comparison gives
  attention_weights<HeadDim, KeyPos>(query, key, tokens);
  // error: nn::attention_weights: the operands have more than 8 axes between them
  attention_weights<HeadDim, KeyPos>(query, key, five<bool>);
  // error: nn::self_attention: name five axes, as in self_attention<Pos, KeyPos, Embed, Heads,
  // HeadDim>(s, x, mask)
  self_attention<Pos, Pos, Embed, Heads, HeadDim>(s, x, words::causal);
  // error: nn::self_attention: name five axes, as in self_attention<Pos, KeyPos, Embed, Heads,
  // HeadDim>(s, x, mask)
  self_attention<Pos, KeyPos, Embed, Heads, int>(s, x, words::causal);
  // error: nn::self_attention: the operand has not both Pos and Embed
  self_attention<Pos, KeyPos, Vocab, Heads, HeadDim>(s, x, words::causal);
  // error: nn::self_attention: the operand has not both Pos and Embed
  self_attention<Pos, KeyPos, Embed, Heads, HeadDim>(s, tokens, words::causal);
  // error: nn::self_attention: KeyPos is not an alias of Pos, or the operand has it already
  self_attention<Pos, OtherPos, Embed, Heads, HeadDim>(s, x, words::causal);
  // error: nn::self_attention: KeyPos is not an alias of Pos, or the operand has it already
  self_attention<Pos, KeyPos, Embed, Heads, HeadDim>(s, floats<Pos, KeyPos, Embed>{},
                                                     words::causal);
  // error: nn::self_attention: the elements are not float; convert with weft::cast<float>
  self_attention<Pos, KeyPos, Embed, Heads, HeadDim>(s, integers<Pos, Embed>{}, words::causal);
  // error: nn::self_attention: the mask is not of booleans, such as a comparison gives
  self_attention<Pos, KeyPos, Embed, Heads, HeadDim>(s, x, x);
  // error: nn::self_attention: the operands have more than 8 axes between them
  self_attention<Pos, KeyPos, Embed, Heads, HeadDim>(s, x, five<bool>);
}
