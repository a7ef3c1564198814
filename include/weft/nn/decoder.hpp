// The decoder of a transformer.
#pragma once

#include "weft/nn/encoder.hpp"

namespace weft::nn {

// The result of a decoder: output [..., Pos, Embed], the weights of its self-attention [..., Pos,
// Heads..., KeyPos], and those of its attention to the memory [..., Pos, Heads..., MemoryPos].
template <class Output, class Weights, class MemoryWeights>
struct decoder_output {
  Output output;                 // [..., Pos, Embed]
  Weights weights;               // [..., Pos, Heads..., KeyPos]
  MemoryWeights memory_weights;  // [..., Pos, Heads..., MemoryPos]
};
template <class Output, class Weights, class MemoryWeights>
decoder_output(Output, Weights, MemoryWeights) -> decoder_output<Output, Weights, MemoryWeights>;

namespace detail {

// The axes of a memory that x does not have, except those that attention contracts.
template <class X, class Y, class MemoryPos, class Embed>
using surplus_of_memory = axes_in<weft::detail::surplus,
                                  without<shape_t<Y>, united<shape_t<X>, shape<MemoryPos, Embed>>>>;
template <class X, class Y, class MemoryPos, class Embed>
inline constexpr bool fits_memory =
    std::same_as<surplus_of_memory<X, Y, MemoryPos, Embed>, weft::detail::surplus<>>;

// The first rule that the arguments of a decoder, and the axes of its operands and masks, break.
template <expression X, expression Y, class M, class N, class O, class P, class Pos, class KeyPos,
          class MemoryPos, class Embed, class Heads, class HeadDim, class Hidden>
constexpr rule rule_of_decoder() {
  if (!layer_arguments<transformer_options, O, P, M, N>) return rule::arguments;
  constexpr rule of_self =
      rule_of_encoder<X, M, O, P, Pos, KeyPos, Embed, Heads, HeadDim, Hidden>();
  if constexpr (of_self != rule::none) {
    return of_self == rule::surplus ? rule::mask : of_self;
  } else {
    constexpr rule of_memory = rule_of_multi_head<X, Y, Y, N, MemoryPos, Embed, Heads, HeadDim>();
    if (of_memory == rule::key || of_memory == rule::keys) return rule::memory;
    if (of_memory != rule::none && of_memory != rule::surplus) return of_memory;
    if (!fits_memory<X, Y, MemoryPos, Embed>) return rule::surplus;
    return of_memory == rule::surplus ? rule::mask : rule::none;
  }
}
// The axes that only the masks of a decoder have.
template <class X, class Y, class M, class N, class Pos, class KeyPos, class Embed, class Heads>
using surplus_of_masks = hana::experimental::types<
    surplus<M, multi_head_scores<X, as_keys<X, Pos, KeyPos>, Embed, Heads>>,
    surplus<N, multi_head_scores<X, Y, Embed, Heads>>>;

}  // namespace detail

#define WEFT_DECODER_RULES(name, use)                                                       \
  (not_an_axis, name ": name axes that are not the same, as in " use),                      \
      (missing, name ": the operand has not both Pos and Embed"),                           \
      (keys, name ": KeyPos is not an alias of Pos, or the operand has it already"),        \
      (memory,                                                                              \
       name ": the memory has not both MemoryPos and Embed, or the operand has MemoryPos"), \
      (elements, name ": operand or memory is not float; convert with weft::cast<float>"),  \
      (surplus, name ": the memory has an axis that the operand has not; see surplus<>"),   \
      (mask, name ": a mask has an axis that its scores have not"),                         \
      (mask_order, name                                                                     \
       ": a mask has its keys along another axis; name that of the queries first, as in "   \
       "causal<Pos, KeyPos>()"),                                                            \
      (mask_keys, name                                                                      \
       ": a mask of floats is added and needs the keys' axis; valid lengths "               \
       "are std::int32_t, without it"),                                                     \
      (pairs, name ": the encoding turns pairs of a head's elements; give HeadDim an even extent")

// Self-attention, cross-attention to an encoder's output, and a feed-forward network, each with a
// residual connection (Vaswani et al. 2017, section 3.1): x float [..., Pos, Embed] and memory
// float [..., MemoryPos, Embed] to nn::decoder_output. `mask` is of the self-attention, usually
// nn::causal<Pos, KeyPos>(), `memory_mask` of the cross-attention. Parameters under the names of
// torch.nn.TransformerDecoderLayer: self_attn, multihead_attn (see nn::multi_head_attention),
// linear1, linear2, norm1, norm2, norm3. `position_encoding` is the position encoding of the
// self-attention, see nn::encoding. A memory with an axis that x does not have, other than
// MemoryPos, does not compile.
template <class Pos, class KeyPos, class MemoryPos, class Embed, class Heads, class HeadDim,
          class Hidden, expression X, expression Y, detail::mask_like M = mask_list<>,
          detail::mask_like N = mask_list<>, encoding_like P = encoding>
requires(detail::rule_of_decoder<X, Y, M, N, transformer_options, P, Pos, KeyPos, MemoryPos, Embed,
                                 Heads, HeadDim, Hidden>() ==
         rule::none) constexpr auto decoder_block(scope s, const X& x, const Y& memory,
                                                  const M& mask = {}, const N& memory_mask = {},
                                                  transformer_options options = {},
                                                  const P& position_encoding = {}) {
  const detail::residual<Embed> first{s / "norm1", options}, second{s / "norm2", options},
      third{s / "norm3", options};
  const auto self = self_attention<Pos, KeyPos, Embed, Heads, HeadDim>(
      s / "self_attn", first.before(x), mask, detail::attention_of(options), position_encoding);
  const auto after_self = first.after(x, self.output);
  const auto cross = multi_head_attention<MemoryPos, Embed, Heads, HeadDim>(
      s / "multihead_attn", second.before(after_self), memory, memory, memory_mask,
      detail::attention_of(options));
  const auto after_cross = second.after(after_self, cross.output);
  const auto fed = feed_forward<Embed, Hidden>(s, third.before(after_cross), options);
  return decoder_output{third.after(after_cross, fed), self.weights, cross.weights};
}
template <class Pos, class KeyPos, class MemoryPos, class Embed, class Heads, class HeadDim,
          class Hidden, expression X, expression Y, class M = mask_list<>, class N = mask_list<>,
          class O = transformer_options, class P = encoding,
          class Surplus = detail::surplus_of_memory<X, Y, MemoryPos, Embed>,
          class OfMasks = detail::surplus_of_masks<X, Y, M, N, Pos, KeyPos, Embed, Heads>>
requires(detail::rule_of_decoder<X, Y, M, N, O, P, Pos, KeyPos, MemoryPos, Embed, Heads, HeadDim,
                                 Hidden>() != rule::none)
    WEFT_REJECT(
        (detail::rule_of_decoder<X, Y, M, N, O, P, Pos, KeyPos, MemoryPos, Embed, Heads, HeadDim,
                                 Hidden>()),
        decoder_block(scope, const X&, const Y&, const M& = {}, const N& = {}, const O& = {},
                      const P& = {}),
        (arguments,
         "nn::decoder_block: after the memory come its own mask, the memory's, options and the "
         "encoding, in this order; write {} in the place of one that is not there"),
        WEFT_DECODER_RULES(
            "nn::decoder_block",
            "decoder_block<Pos, KeyPos, MemoryPos, Embed, Heads, HeadDim, Hidden>(s, x, memory)"))

// A stack of `layers` blocks, at least one, and with .final_norm a normalisation: the output, and
// the weights of the last block. Parameters under "layers.0", "layers.1", ... and "norm", as
// torch.nn.TransformerDecoder.
template <class Pos, class KeyPos, class MemoryPos, class Embed, class Heads, class HeadDim,
          class Hidden, expression X, expression Y, detail::mask_like M = mask_list<>,
          detail::mask_like N = mask_list<>, encoding_like P = encoding>
requires(detail::rule_of_decoder<X, Y, M, N, transformer_options, P, Pos, KeyPos, MemoryPos, Embed,
                                 Heads, HeadDim, Hidden>() ==
         rule::none) constexpr auto decoder(scope s, const X& x, const Y& memory, int layers,
                                            const M& mask = {}, const N& memory_mask = {},
                                            transformer_options options = {},
                                            const P& position_encoding = {}) {
  const auto block = [&](int i, const auto& y) {
    return decoder_block<Pos, KeyPos, MemoryPos, Embed, Heads, HeadDim, Hidden>(
        s / "layers" / i, y, memory, mask, memory_mask, options, position_encoding);
  };
  auto last = block(0, x);
  for (int i = 1; i < layers; ++i) last = block(i, last.output);
  if (options.final_norm) last.output = detail::norm<Embed>(s / "norm", last.output, options);
  return last;
}
template <class Pos, class KeyPos, class MemoryPos, class Embed, class Heads, class HeadDim,
          class Hidden, expression X, expression Y, class M = mask_list<>, class N = mask_list<>,
          class O = transformer_options, class P = encoding,
          class Surplus = detail::surplus_of_memory<X, Y, MemoryPos, Embed>,
          class OfMasks = detail::surplus_of_masks<X, Y, M, N, Pos, KeyPos, Embed, Heads>>
requires(detail::rule_of_decoder<X, Y, M, N, O, P, Pos, KeyPos, MemoryPos, Embed, Heads, HeadDim,
                                 Hidden>() != rule::none)
    WEFT_REJECT(
        (detail::rule_of_decoder<X, Y, M, N, O, P, Pos, KeyPos, MemoryPos, Embed, Heads, HeadDim,
                                 Hidden>()),
        decoder(scope, const X&, const Y&, int, const M& = {}, const N& = {}, const O& = {},
                const P& = {}),
        (arguments,
         "nn::decoder: after the number of layers come its own mask, the memory's, options and the "
         "encoding, in this order; write {} in the place of one that is not there"),
        WEFT_DECODER_RULES(
            "nn::decoder",
            "decoder<Pos, KeyPos, MemoryPos, Embed, Heads, HeadDim, Hidden>(s, x, memory, layers)"))

#undef WEFT_DECODER_RULES

template <class... Axes, class... Args>
WEFT_REJECT((rule::no_axes), decoder_block(scope, const Args&...),
            (no_axes,
             "nn::decoder_block: it is called as decoder_block<Pos, KeyPos, MemoryPos, Embed, "
             "Heads, HeadDim, Hidden>(s, x, memory)"))

template <class... Axes, class... Args>
WEFT_REJECT((rule::no_axes), decoder(scope, const Args&...),
            (no_axes,
             "nn::decoder: it is called as decoder<Pos, KeyPos, MemoryPos, Embed, Heads, HeadDim, "
             "Hidden>(s, x, memory, layers)"))

}  // namespace weft::nn
