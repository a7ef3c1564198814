// Encoder and decoder (Vaswani et al. 2017, figure 1).
#pragma once

#include "weft/nn/decoder.hpp"

namespace weft::nn {

// From a source [..., SourcePos, Embed] and a target [..., Pos, Embed], both with their positions
// encoded, to an output [..., Pos, Embed] and the weights of the last block of the decoder. The
// decoder looks at the source under its own axis, SourcePos. Parameters under "encoder" and
// "decoder", as torch.nn.Transformer. `order` is for what attends to itself, see nn::encoding.
template <class SourcePos, class SourceKeyPos, class Pos, class KeyPos, class Embed, class Heads,
          class HeadDim, class Hidden, expression X, expression Y, detail::a_mask L = mask_list<>,
          detail::a_mask M = mask_list<>, detail::a_mask N = mask_list<>, an_encoding P = encoding>
constexpr auto transformer(scope s, const X& source, const Y& target, int encoder_layers,
                           int decoder_layers, const L& source_mask = {}, const M& mask = {},
                           const N& memory_mask = {}, transformer_options options = {},
                           const P& order = {}) {
  auto const memory = encoder<SourcePos, SourceKeyPos, Embed, Heads, HeadDim, Hidden>(
      s / "encoder", source, encoder_layers, source_mask, options, order);
  return decoder<Pos, KeyPos, SourcePos, Embed, Heads, HeadDim, Hidden>(
      s / "decoder", target, memory.output, decoder_layers, mask, memory_mask, options, order);
}

}  // namespace weft::nn
