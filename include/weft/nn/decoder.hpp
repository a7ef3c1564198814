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

// The first rule that the arguments of a decoder break.
template <expression X, expression Y, class MemoryPos, class Embed, class O, class P,
          class... Masks>
constexpr rule rule_of_decoder() {
  if (!layer_arguments<transformer_options, O, P, Masks...>) return rule::arguments;
  return fits_memory<X, Y, MemoryPos, Embed> ? rule::none : rule::surplus;
}

}  // namespace detail

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
requires detail::fits_memory<X, Y, MemoryPos, Embed>
constexpr auto decoder_block(scope s, const X& x, const Y& memory, const M& mask = {},
                             const N& memory_mask = {}, transformer_options options = {},
                             const P& position_encoding = {}) {
  detail::residual<Embed> const first{s / "norm1", options}, second{s / "norm2", options},
      third{s / "norm3", options};
  auto const self = self_attention<Pos, KeyPos, Embed, Heads, HeadDim>(
      s / "self_attn", first.before(x), mask, detail::attention_of(options), position_encoding);
  auto const after_self = first.after(x, self.output);
  auto const cross = multi_head_attention<MemoryPos, Embed, Heads, HeadDim>(
      s / "multihead_attn", second.before(after_self), memory, memory, memory_mask,
      detail::attention_of(options));
  auto const after_cross = second.after(after_self, cross.output);
  auto const fed = feed_forward<Embed, Hidden>(s, third.before(after_cross), options);
  return decoder_output{third.after(after_cross, fed), self.weights, cross.weights};
}
template <class Pos, class KeyPos, class MemoryPos, class Embed, class Heads, class HeadDim,
          class Hidden, expression X, expression Y, class M = mask_list<>, class N = mask_list<>,
          class O = transformer_options, class P = encoding,
          class Surplus = detail::surplus_of_memory<X, Y, MemoryPos, Embed>>
requires(detail::rule_of_decoder<X, Y, MemoryPos, Embed, O, P, M, N>() != rule::none) WEFT_REJECT(
    (detail::rule_of_decoder<X, Y, MemoryPos, Embed, O, P, M, N>()),
    decoder_block(scope, const X&, const Y&, const M& = {}, const N& = {}, const O& = {},
                  const P& = {}),
    (arguments,
     "nn::decoder_block: after the memory come its own mask, the memory's, options and the "
     "encoding, in this order; write {} in the place of one that is not there"),
    (surplus, "nn::decoder_block: the memory has an axis that the operand has not; see surplus<>"))

// A stack of `layers` blocks, at least one, and with .final_norm a normalisation: the output, and
// the weights of the last block. Parameters under "layers.0", "layers.1", ... and "norm", as
// torch.nn.TransformerDecoder.
template <class Pos, class KeyPos, class MemoryPos, class Embed, class Heads, class HeadDim,
          class Hidden, expression X, expression Y, detail::mask_like M = mask_list<>,
          detail::mask_like N = mask_list<>, encoding_like P = encoding>
requires detail::fits_memory<X, Y, MemoryPos, Embed>
constexpr auto decoder(scope s, const X& x, const Y& memory, int layers, const M& mask = {},
                       const N& memory_mask = {}, transformer_options options = {},
                       const P& position_encoding = {}) {
  auto const block = [&](int i, const auto& y) {
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
          class Surplus = detail::surplus_of_memory<X, Y, MemoryPos, Embed>>
requires(detail::rule_of_decoder<X, Y, MemoryPos, Embed, O, P, M, N>() != rule::none) WEFT_REJECT(
    (detail::rule_of_decoder<X, Y, MemoryPos, Embed, O, P, M, N>()),
    decoder(scope, const X&, const Y&, int, const M& = {}, const N& = {}, const O& = {},
            const P& = {}),
    (arguments,
     "nn::decoder: after the number of layers come its own mask, the memory's, options and the "
     "encoding, in this order; write {} in the place of one that is not there"),
    (surplus, "nn::decoder: the memory has an axis that the operand has not; see surplus<>"))

}  // namespace weft::nn
