// Layers without their axes, or with other arguments.
#include "weft/nn/convolution.hpp"
#include "weft/nn/embedding.hpp"
#include "weft/nn/transformer.hpp"

#include "../../words.hpp"

using namespace words;
using namespace weft::nn;

void wrong(weft::scope s) {
  // errors: nn::linear: it is called as linear<shape<Embed>, shape<Hidden>>(s, x)
  linear(s, x);
  linear<weft::shape<Embed>>(s, x);
  // errors: nn::layer_norm: it is called as layer_norm<Embed>(s, x)
  weft::nn::layer_norm(s, x);
  weft::nn::layer_norm<Embed>(s, x, gain);
  // error: nn::rms_norm: it is called as rms_norm<Embed>(s, x)
  weft::nn::rms_norm<Embed>(s, 1);
  // errors: nn::embedding: it is called as embedding<Vocab, Embed>(s, tokens)
  embedding<Vocab>(s, tokens);
  embedding(s, tokens);
  // error: nn::feed_forward: it is called as feed_forward<Embed, Hidden>(s, x)
  feed_forward<Embed>(s, x);
  // error: nn::multi_head_attention: it is called as multi_head_attention<KeyPos, Embed, Heads,
  // HeadDim>(s, query, key, value)
  multi_head_attention<KeyPos, Embed, Heads, HeadDim>(s, x);
  // errors: nn::self_attention: it is called as self_attention<Pos, KeyPos, Embed, Heads,
  // HeadDim>(s, x)
  self_attention(s, x);
  self_attention<Pos, KeyPos, Embed, Heads>(s, x);
  // error: nn::encoder_block: it is called as encoder_block<Pos, KeyPos, Embed, Heads, HeadDim,
  // Hidden>(s, x)
  encoder_block<Pos, KeyPos, Embed>(s, x);
  // errors: nn::encoder: it is called as encoder<Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(s, x,
  // layers)
  encoder<Pos, KeyPos, Embed, Heads, HeadDim, Vocab>(s, x);
  encoder<Pos, KeyPos, Embed, Heads, HeadDim>(s, x, 2);
  // error: nn::decoder_block: it is called as decoder_block<Pos, KeyPos, MemoryPos, Embed, Heads,
  // HeadDim, Hidden>(s, x, memory)
  decoder_block<Pos, KeyPos, KeyPos, Embed, Heads, HeadDim, Vocab>(s, x);
  // error: nn::decoder: it is called as decoder<Pos, KeyPos, MemoryPos, Embed, Heads, HeadDim,
  // Hidden>(s, x, memory, layers)
  decoder<Pos, KeyPos, KeyPos, Embed, Heads, HeadDim, Vocab>(s, x, x);
  // error: nn::transformer: it is called as transformer<SourcePos, SourceKeyPos, Pos, KeyPos,
  // Embed, Heads, HeadDim, Hidden>(s, source, target, 6, 6)
  transformer<Pos, KeyPos, Embed, Heads, HeadDim>(s, x, x, 6, 6);
  // error: nn::convolution: it is called as convolution<Pos, OutPos, Tap, In, Out>(s, x)
  convolution<Pos, Embed, Vocab>(s, x);
}
