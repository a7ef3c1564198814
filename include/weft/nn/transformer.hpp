// The encoder-decoder transformer (Vaswani et al. 2017, figure 1).
#pragma once
#include "weft/header_begin.hpp"

#include "weft/language.hpp"

#include "weft/nn/decoder.hpp"

namespace weft::nn {

namespace detail {

// What a transformer breaks. The decoder's memory is along the source's positions.
template <class Source, class Target, class OfSource, class OfTarget, class N>
constexpr auto fault_of_transformer() {
  using of_source = encoder_fault<Source, OfSource>;
  if constexpr (is_broken<of_source>)
    return of_source{};
  else
    return fault_of_decoder<Target, in_role<roles::memory, typename Source::positions>, OfTarget,
                            typename OfSource::operand, N>();
}

}  // namespace detail

// From a source float [..., positions, embed] with the axes Source, and a target float [...,
// positions, embed] with the axes Target, both with their positions encoded, to nn::decoder_output:
// .output [..., Target's positions, embed] and the weights of the decoder's last block. Source
// names the axes of nn::encoder, Target those of nn::decoder but for memory: the decoder attends to
// the encoder's output along Source's positions. embed is the same in both. The masks are those of
// the encoder's self-attention, of the decoder's (as a rule nn::causal<Pos, KeyPos>()), and of the
// decoder's attention to the encoder's output. Parameters under "encoder" and "decoder", as
// torch.nn.Transformer. `position_encoding` is the position encoding of both self-attentions, see
// nn::encoding. A source with an axis that the target does not have, other than its positions, does
// not compile.
//
//   struct source {
//     using positions = SourcePos;
//     using keys = SourceKeyPos;
//     using embed = Embed;
//     using heads = Heads;
//     using head_dim = HeadDim;
//     using hidden = Hidden;
//   };
//   struct target : source {
//     using positions = Pos;
//     using keys = KeyPos;
//   };
//   auto y = nn::transformer<source, target>(s, x, y, 6, 6, {}, nn::causal<Pos, KeyPos>()).output;
template <class Source, class Target, expression X, expression Y, detail::mask_like L = mask_list<>,
          detail::mask_like M = mask_list<>, detail::mask_like N = mask_list<>,
          encoding_like P = encoding>
requires(decltype(detail::fault_of_transformer<Source, Target, detail::attending<X, L, P>,
                                               detail::attending<Y, M, P>, N>())::broken ==
         rule::none) constexpr auto transformer(scope s, const X& source, const Y& target,
                                                int encoder_layers, int decoder_layers,
                                                const L& source_mask = {}, const M& mask = {},
                                                const N& memory_mask = {},
                                                transformer_options options = {},
                                                const P& position_encoding = {}) {
  const auto memory = encoder<Source>(s / "encoder", source, encoder_layers, source_mask, options,
                                      position_encoding);
  return detail::decode<Target, typename Source::positions>(s / "decoder", target, memory.output,
                                                            decoder_layers, mask, memory_mask,
                                                            options, position_encoding);
}
#define WEFT_TRANSFORMER                                                                     \
  "transformer<source, target>(s, x, y, encoder_layers, decoder_layers, source_mask, mask, " \
  "memory_mask, options, encoding)"
template <class... Axes, expression X, expression Y, detail::mask_like L = mask_list<>,
          detail::mask_like M = mask_list<>, detail::mask_like N = mask_list<>,
          encoding_like P = encoding,
          class Fault = decltype(detail::fault_of_transformer<Axes..., detail::attending<X, L, P>,
                                                              detail::attending<Y, M, P>, N>())>
requires(Fault::broken != rule::none)
    WEFT_REJECT_LAYER(transformer, WEFT_TRANSFORMER,
                      (scope, const X&, const Y&, int, int, const L& = {}, const M& = {},
                       const N& = {}, transformer_options = {}, const P& = {}))
template <class... Axes, class L = mask_list<>, class M = mask_list<>, class N = mask_list<>,
          class O = transformer_options, class P = encoding>
requires(sizeof...(Axes) != 2 || !encoding_like<P> ||
         !detail::called_with<scope, transformer_options, O, L, M, N>)
    WEFT_REJECT(rule::arguments,
                transformer(scope, const auto&, const auto&, int, int, const L& = {}, const M& = {},
                            const N& = {}, const O& = {}, const P& = {}),
                (arguments, WEFT_CALLED("nn::transformer", WEFT_TRANSFORMER)))
#undef WEFT_TRANSFORMER

}  // namespace weft::nn
#include "weft/header_end.hpp"
