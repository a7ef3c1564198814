// The decoder of a transformer.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/nn/encoder.hpp"

namespace weft::nn {

// The result of a decoder: output [..., positions, embed], the weights of its self-attention [...,
// positions, heads..., keys], and those of its attention to the memory [..., positions, heads...,
// memory].
template <class Output, class Weights, class MemoryWeights>
struct decoder_output {
  Output output;                 // [..., positions, embed]
  Weights weights;               // [..., positions, heads..., keys]
  MemoryWeights memory_weights;  // [..., positions, heads..., memory]
};
template <class Output, class Weights, class MemoryWeights>
decoder_output(Output, Weights, MemoryWeights) -> decoder_output<Output, Weights, MemoryWeights>;

namespace detail {

// The axes of a memory that x does not have, except those that attention contracts.
template <class A, class Memory, class X, class Y>
using surplus_of_memory =
    axes_in<weft::detail::surplus,
            without<shape_t<Y>, united<shape_t<X>, shape<Memory, typename A::embed>>>>;

// What a decoder breaks whose memory Y is along Memory, an in_role; N is the mask of that.
template <class A, class Memory, class Self, expression Y, class N>
constexpr auto fault_of_decoder() {
  using of_axes = decltype(fault_of_axes<A>(encoder_roles{}, Memory{}));
  if constexpr (is_broken<of_axes>) {
    return of_axes{};
  } else {
    using X = typename Self::operand;
    using surplus = surplus_of_memory<A, typename Memory::axis, X, Y>;
    return first_fault_t<
        encoder_fault<A, Self>, fault_of_heads<A, Memory, attending<X, N, no_term>, Y, Y>,
        fault_if<!std::same_as<surplus, weft::detail::surplus<>>, rule::memory, surplus>>{};
  }
}
template <class A, class Self, class Y, class N>
using decoder_fault = decltype(fault_of_decoder<A, role_in<A, roles::memory>, Self, Y, N>());
template <class A, class X, class Y, class M, class N, class O, class P>
using decoder_call_fault =
    fault_of_call<called_with<A, transformer_options, O, M, N> && encoding_like<P>,
                  decoder_fault<A, attending<X, M, P>, Y, N>>;
template <class A, class X, class Y, class M, class N, class P>
concept decodes = decoder_fault<A, attending<X, M, P>, Y, N>::broken == rule::none;

// A block of a decoder whose memory is along Memory, and a stack of them.
template <class A, class Memory>
constexpr auto decode_block(scope s, const auto& x, const auto& memory, const auto& mask,
                            const auto& memory_mask, const transformer_options& options,
                            const auto& position_encoding) {
  using Embed = typename A::embed;
  const residual<Embed> first{s / "norm1", options}, second{s / "norm2", options},
      third{s / "norm3", options};
  const auto self = attend_to_itself<A>(s / "self_attn", first.before(x), mask,
                                        attention_of(options), position_encoding);
  const auto after_self = first.after(x, self.output);
  const auto cross = attend<A, Memory>(s / "multihead_attn", second.before(after_self), memory,
                                       memory, memory_mask, attention_of(options), no_term{});
  const auto after_cross = second.after(after_self, cross.output);
  const auto fed = feed_forward<Embed, typename A::hidden>(s, third.before(after_cross), options);
  return decoder_output{third.after(after_cross, fed), self.weights, cross.weights};
}
template <class A, class Memory>
constexpr auto decode(scope s, const auto& x, const auto& memory, int layers, const auto& mask,
                      const auto& memory_mask, const transformer_options& options,
                      const auto& position_encoding) {
  const auto block = [&](int i, const auto& y) {
    return decode_block<A, Memory>(s / "layers" / i, y, memory, mask, memory_mask, options,
                                   position_encoding);
  };
  auto last = block(0, x);
  for (int i = 1; i < layers; ++i) last = block(i, last.output);
  if (options.final_norm) last.output = norm<typename A::embed>(s / "norm", last.output, options);
  return last;
}

}  // namespace detail

// Self-attention, cross-attention to an encoder's output, and a feed-forward network, each with a
// residual connection (Vaswani et al. 2017, section 3.1): x float [..., positions, embed] and
// memory float [..., memory, embed] to nn::decoder_output. Axes: those of nn::encoder_block, and
// memory. `mask` is of the self-attention, usually nn::causal<Pos, KeyPos>(), `memory_mask` of the
// cross-attention. Parameters under the names of torch.nn.TransformerDecoderLayer: self_attn,
// multihead_attn (see nn::multi_head_attention), linear1, linear2, norm1, norm2, norm3.
// `position_encoding` is the position encoding of the self-attention, see nn::encoding. A memory
// with an axis that x does not have, other than memory, does not compile.
template <class A, expression Y, detail::mask_like M = mask_list<>,
          detail::mask_like N = mask_list<>, encoding_like P = encoding>
constexpr auto decoder_block(
    scope s, const expression auto& x, const Y& memory, const M& mask = {},
    const N& memory_mask = {}, transformer_options options = {},
    const P& position_encoding = {}) requires detail::decodes<A, decltype(x), Y, M, N, P> {
  return detail::decode_block<A, typename A::memory>(s, x, memory, mask, memory_mask, options,
                                                     position_encoding);
}
template <class... Axes, expression X, expression Y, class M = mask_list<>, class N = mask_list<>,
          class O = transformer_options, class P = encoding,
          class Fault = detail::decoder_call_fault<detail::only_t<Axes...>, X, Y, M, N, O, P>>
requires(Fault::broken != rule::none)
    WEFT_REJECT_LAYER(decoder_block,
                      "decoder_block<axes>(s, x, memory, mask, memory_mask, options, encoding)",
                      (scope, const X&, const Y&, const M& = {}, const N& = {}, const O& = {},
                       const P& = {}))

// A stack of `layers` blocks, at least one, and with .final_norm a normalization: the output, and
// the weights of the last block. Parameters under "layers.0", "layers.1", ... and "norm", as
// torch.nn.TransformerDecoder.
template <class A, expression Y, detail::mask_like M = mask_list<>,
          detail::mask_like N = mask_list<>, encoding_like P = encoding>
constexpr auto decoder(
    scope s, const expression auto& x, const Y& memory, int layers, const M& mask = {},
    const N& memory_mask = {}, transformer_options options = {},
    const P& position_encoding = {}) requires detail::decodes<A, decltype(x), Y, M, N, P> {
  return detail::decode<A, typename A::memory>(s, x, memory, layers, mask, memory_mask, options,
                                               position_encoding);
}
template <class... Axes, expression X, expression Y, class M = mask_list<>, class N = mask_list<>,
          class O = transformer_options, class P = encoding,
          class Fault = detail::decoder_call_fault<detail::only_t<Axes...>, X, Y, M, N, O, P>>
requires(Fault::broken != rule::none)
    WEFT_REJECT_LAYER(decoder,
                      "decoder<axes>(s, x, memory, layers, mask, memory_mask, options, encoding)",
                      (scope, const X&, const Y&, int, const M& = {}, const N& = {}, const O& = {},
                       const P& = {}))

}  // namespace weft::nn
#include "weft/header_end.hpp"
