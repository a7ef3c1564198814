// Layers without their axes, or with other arguments.
#include "weft/nn/causal_block.hpp"
#include "weft/nn/convolution.hpp"
#include "weft/nn/embedding.hpp"
#include "weft/nn/transformer.hpp"

#include "../../words.hpp"

using namespace words;
using namespace weft::nn;

constexpr cache_position<Pos, integers<Batch>, all_positions> at{};

void wrong(weft::scope s) {
  // errors: nn::linear: it is called as linear<Embed, Hidden>(s, x)
  linear(s, x);
  linear<Embed>(s, x);
  // errors: nn::layer_norm: it is called as layer_norm<Embed>(s, x, {.epsilon = 1e-5})
  weft::nn::layer_norm(s, x);
  weft::nn::layer_norm<Embed>(s, x, gain);
  // errors: nn::rms_norm: it is called as rms_norm<Embed>(s, x, {.epsilon = 1e-5})
  weft::nn::rms_norm<Embed>(s, 1);
  weft::nn::rms_norm<Embed>(s, x, 1e-6);
  // errors: nn::embedding: it is called as embedding<Vocab, Embed>(s, tokens)
  embedding<Vocab>(s, tokens);
  embedding(s, tokens);
  // error: nn::feed_forward: it is called as feed_forward<Embed, Hidden>(s, x)
  feed_forward<Embed>(s, x);
  // error: nn::multi_head_attention: one struct names the axes, and {} stands for what is not
  // there, as in multi_head_attention<axes>(s, query, key, value, mask, options,
  // nn::for_queries<Pos>(encoding))
  multi_head_attention<axes>(s, x);
  // errors: nn::self_attention: one struct names the axes, and {} stands for what is not there, as
  // in self_attention<axes>(s, x, mask, options, encoding)
  self_attention(s, x);
  self_attention<Pos, KeyPos, Embed, Heads, HeadDim>(s, x);
  // error: nn::encoder_block: one struct names the axes, and {} stands for what is not there, as in
  // encoder_block<axes>(s, x, mask, options, encoding)
  encoder_block<Pos, KeyPos, Embed>(s, x);
  // errors: nn::encoder: one struct names the axes, and {} stands for what is not there, as in
  // encoder<axes>(s, x, layers, mask, options, encoding)
  encoder<axes>(s, x);
  encoder<axes>(s, 1, 2);
  encoder<axes>(s, x, words::causal, 2);
  encoder<Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(s, x, 2);
  encoder<Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(s, x, 2, {}, {.bias = false});
  // error: nn::decoder_block: one struct names the axes, and {} stands for what is not there, as in
  // decoder_block<axes>(s, x, memory, mask, memory_mask, options, encoding)
  decoder_block<axes>(s, x);
  // error: nn::decoder: one struct names the axes, and {} stands for what is not there, as in
  // decoder<axes>(s, x, memory, layers, mask, memory_mask, options, encoding)
  decoder<axes>(s, x, x);
  // errors: nn::transformer: one struct names the axes, and {} stands for what is not there, as in
  // transformer<source, target>(s, x, y, encoder_layers, decoder_layers, source_mask, mask,
  // memory_mask, options, encoding)
  transformer<axes>(s, x, x, 6, 6);
  transformer<Pos, KeyPos, Embed, Heads, HeadDim>(s, x, x, 6, 6, {}, {}, {}, {.bias = false});
  transformer<axes, axes>(s, x, x, 6);
  // errors: nn::causal_layer: one struct names the axes, and {} stands for what is not there, as in
  // causal_layer<axes>(s, x, at, options, encoding)
  causal_layer<axes>(s, x, x);
  causal_layer<KeyPos, Embed, Heads, HeadDim, Hidden>(s, x, at, {.window = 2});
  // error: nn::causal_attention: one struct names the axes, and {} stands for what is not there, as
  // in causal_attention<axes>(s, x, at, options, encoding)
  causal_attention<KeyPos, Embed, Heads, HeadDim>(s, x, at);
  // error: nn::convolution: it is called as convolution<In, Out, nn::along<Pos, 3>>(s, x)
  convolution<Embed>(s, x);
}
