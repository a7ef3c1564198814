// The encoder-decoder transformer (Vaswani et al. 2017, figure 1).
#pragma once

#include "weft/language.hpp"

#include "weft/nn/decoder.hpp"

namespace weft::nn {

namespace detail {

// The first rule that the arguments of a transformer, and the axes of its operands and masks,
// break.
template <expression X, expression Y, class L, class M, class N, class O, class P, class SourcePos,
          class SourceKeyPos, class Pos, class KeyPos, class Embed, class Heads, class HeadDim,
          class Hidden>
constexpr rule rule_of_transformer() {
  if (!layer_arguments<transformer_options, O, P, L, M, N>) return rule::arguments;
  constexpr rule of_source =
      rule_of_encoder<X, L, O, P, SourcePos, SourceKeyPos, Embed, Heads, HeadDim, Hidden>();
  if constexpr (of_source != rule::none)
    return of_source == rule::surplus ? rule::mask : of_source;
  else
    return rule_of_decoder<Y, X, M, N, O, P, Pos, KeyPos, SourcePos, Embed, Heads, HeadDim,
                           Hidden>();
}

}  // namespace detail

// From a source float [..., SourcePos, Embed] and a target float [..., Pos, Embed], both with their
// positions encoded, to nn::decoder_output: .output [..., Pos, Embed] and the weights of the
// decoder's last block. The decoder attends to the encoder's output along SourcePos. SourceKeyPos
// and KeyPos are aliases of SourcePos and Pos. The masks are those of the encoder's self-attention,
// of the decoder's (as a rule nn::causal<Pos, KeyPos>()), and of the decoder's attention to the
// encoder's output. Parameters under "encoder" and "decoder", as torch.nn.Transformer.
// `position_encoding` is the position encoding of both self-attentions, see nn::encoding. A source
// with an axis that the target does not have, other than SourcePos, does not compile.
template <class SourcePos, class SourceKeyPos, class Pos, class KeyPos, class Embed, class Heads,
          class HeadDim, class Hidden, expression X, expression Y,
          detail::mask_like L = mask_list<>, detail::mask_like M = mask_list<>,
          detail::mask_like N = mask_list<>, encoding_like P = encoding>
requires(detail::rule_of_transformer<X, Y, L, M, N, transformer_options, P, SourcePos, SourceKeyPos,
                                     Pos, KeyPos, Embed, Heads, HeadDim, Hidden>() ==
         rule::none) constexpr auto transformer(scope s, const X& source, const Y& target,
                                                int encoder_layers, int decoder_layers,
                                                const L& source_mask = {}, const M& mask = {},
                                                const N& memory_mask = {},
                                                transformer_options options = {},
                                                const P& position_encoding = {}) {
  const auto memory = encoder<SourcePos, SourceKeyPos, Embed, Heads, HeadDim, Hidden>(
      s / "encoder", source, encoder_layers, source_mask, options, position_encoding);
  return decoder<Pos, KeyPos, SourcePos, Embed, Heads, HeadDim, Hidden>(
      s / "decoder", target, memory.output, decoder_layers, mask, memory_mask, options,
      position_encoding);
}
template <class SourcePos, class SourceKeyPos, class Pos, class KeyPos, class Embed, class Heads,
          class HeadDim, class Hidden, expression X, expression Y, class L = mask_list<>,
          class M = mask_list<>, class N = mask_list<>, class O = transformer_options,
          class P = encoding, class Surplus = detail::surplus_of_memory<Y, X, SourcePos, Embed>,
          class OfMasks = hana::experimental::types<
              detail::surplus<L, detail::multi_head_scores<
                                     X, detail::as_keys<X, SourcePos, SourceKeyPos>, Embed, Heads>>,
              detail::surplus_of_masks<Y, X, M, N, Pos, KeyPos, Embed, Heads>>>
requires(detail::rule_of_transformer<X, Y, L, M, N, O, P, SourcePos, SourceKeyPos, Pos, KeyPos,
                                     Embed, Heads, HeadDim, Hidden>() != rule::none)
    WEFT_REJECT(
        (detail::rule_of_transformer<X, Y, L, M, N, O, P, SourcePos, SourceKeyPos, Pos, KeyPos,
                                     Embed, Heads, HeadDim, Hidden>()),
        transformer(scope, const X&, const Y&, int, int, const L& = {}, const M& = {},
                    const N& = {}, const O& = {}, const P& = {}),
        (arguments,
         "nn::transformer: after the numbers of layers come the source's mask, the target's, the "
         "memory's, options and the encoding, in this order; write {} in the place of one that is "
         "not there"),
        (not_an_axis,
         "nn::transformer: name axes that are not the same, as in transformer<SourcePos, "
         "SourceKeyPos, Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(s, source, target, 6, 6)"),
        (missing,
         "nn::transformer: the source has not both SourcePos and Embed, or the target not both Pos "
         "and Embed"),
        (keys,
         "nn::transformer: SourceKeyPos is not an alias of SourcePos, or KeyPos of Pos, or an "
         "operand has it already"),
        (memory, "nn::transformer: the target has the axis SourcePos"),
        (elements,
         "nn::transformer: source or target is not float; convert with weft::cast<float>"),
        (surplus, "nn::transformer: the source has an axis that the target has not; see surplus<>"),
        (mask, "nn::transformer: a mask has an axis that its scores have not"),
        (mask_order,
         "nn::transformer: a mask has its keys along another axis; name that of the queries first, "
         "as in causal<Pos, KeyPos>()"),
        (mask_keys,
         "nn::transformer: a mask of floats is added and needs the keys' axis; valid lengths are "
         "std::int32_t, without it"),
        (pairs,
         "nn::transformer: the encoding turns pairs of a head's elements; give HeadDim an even "
         "extent"))

template <class... Axes, class... Args>
WEFT_REJECT((rule::no_axes), transformer(scope, const Args&...),
            (no_axes,
             "nn::transformer: it is called as transformer<SourcePos, SourceKeyPos, Pos, KeyPos, "
             "Embed, Heads, HeadDim, Hidden>(s, source, target, 6, 6)"))

}  // namespace weft::nn
