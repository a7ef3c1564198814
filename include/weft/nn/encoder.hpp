// The encoder of a transformer; with a causal mask, a decoder-only model.
#pragma once

#include "weft/graph/reject.hpp"
#include "weft/nn/detail.hpp"
#include "weft/nn/feed_forward.hpp"
#include "weft/nn/multi_head_attention.hpp"
#include "weft/nn/norm.hpp"
#include "weft/nn/options.hpp"

namespace weft::nn {

namespace detail {

template <class Embed, expression X>
constexpr auto norm(scope s, const X& x, const transformer_options& options) {
  return options.normalization == normalization::rms ? rms_norm<Embed>(s, x, options.epsilon)
                                                     : layer_norm<Embed>(s, x, options.epsilon);
}

// The residual connection and normalisation of a part of a block: x + part(norm(x)) with
// .norm_first, else norm(x + part(x)).
template <class Embed>
struct residual {
  scope s;
  const transformer_options& options;

  template <expression X>
  constexpr auto before(const X& x) const {
    return options.norm_first ? norm<Embed>(s, x, options) : x;
  }
  template <expression X, expression Y>
  constexpr auto after(const X& x, const Y& part) const {
    const auto y = add_term(x, dropped(part, options.dropout));
    return options.norm_first ? y : norm<Embed>(s, y, options);
  }
};

// The first rule that the arguments of an encoder, and the axes of its operand and mask, break.
template <expression X, class M, class O, class P, class Pos, class KeyPos, class Embed,
          class Heads, class HeadDim, class Hidden>
constexpr rule rule_of_encoder() {
  if (!layer_arguments<transformer_options, O, P, M>) return rule::arguments;
  constexpr rule of_attention =
      rule_of_self_attention<X, M, attention_options, P, Pos, KeyPos, Embed, Heads, HeadDim>();
  if constexpr (of_attention != rule::none)
    return of_attention;
  else
    return rule_of_linear<X, shape<Embed>, shape<Hidden>>() == rule::none ? rule::none
                                                                          : rule::not_an_axis;
}

constexpr attention_options attention_of(const transformer_options& o) {
  return {.bias = o.bias, .scale = o.scale, .soft_cap = o.soft_cap, .dropout = o.dropout};
}

}  // namespace detail

#define WEFT_ENCODER_RULES(name, use)                                                       \
  (not_an_axis, name ": name axes that are not the same, as in " use),                      \
      (missing, name ": the operand has not both Pos and Embed"),                           \
      (keys, name ": KeyPos is not an alias of Pos, or the operand has it already"),        \
      (elements, name ": the elements are not float; convert with weft::cast<float>"),      \
      (surplus, name ": the mask has an axis that the scores have not"),                    \
      (mask_order, name                                                                     \
       ": the mask has its keys along another axis; name that of the queries first, as in " \
       "causal<Pos, KeyPos>()"),                                                            \
      (mask_keys, name                                                                      \
       ": a mask of floats is added and needs the keys' axis; valid lengths "               \
       "are std::int32_t, without it"),                                                     \
      (pairs, name ": the encoding turns pairs of a head's elements; give HeadDim an even extent")

// Self-attention and a feed-forward network, each with a residual connection (Vaswani et al. 2017,
// section 3.1; with .norm_first as Xiong et al. 2020): x float [..., Pos, Embed] to .output of the
// same axes and .weights of the attention, [..., Pos, Heads..., KeyPos]. Parameters under the names
// of torch.nn.TransformerEncoderLayer: self_attn (see nn::self_attention), linear1 and linear2 (see
// nn::feed_forward), norm1 and norm2. `mask` is over any axes of the scores, see mask.hpp.
// `position_encoding` is the position encoding of the attention, see nn::encoding; it does not add
// to the embedding, nn::add_positions does. Misuse does not compile.
template <class Pos, class KeyPos, class Embed, class Heads, class HeadDim, class Hidden,
          expression X, detail::mask_like M = mask_list<>, encoding_like P = encoding>
requires(detail::rule_of_encoder<X, M, transformer_options, P, Pos, KeyPos, Embed, Heads, HeadDim,
                                 Hidden>() ==
         rule::none) constexpr auto encoder_block(scope s, const X& x, const M& mask = {},
                                                  transformer_options options = {},
                                                  const P& position_encoding = {}) {
  const detail::residual<Embed> first{s / "norm1", options}, second{s / "norm2", options};
  const auto self = self_attention<Pos, KeyPos, Embed, Heads, HeadDim>(
      s / "self_attn", first.before(x), mask, detail::attention_of(options), position_encoding);
  const auto after_self = first.after(x, self.output);
  const auto fed = feed_forward<Embed, Hidden>(s, second.before(after_self), options);
  return attention_output{second.after(after_self, fed), self.weights};
}
template <class Pos, class KeyPos, class Embed, class Heads, class HeadDim, class Hidden,
          expression X, class M = mask_list<>, class O = transformer_options, class P = encoding,
          class Surplus = detail::surplus<
              M, detail::multi_head_scores<X, detail::as_keys<X, Pos, KeyPos>, Embed, Heads>>>
requires(detail::rule_of_encoder<X, M, O, P, Pos, KeyPos, Embed, Heads, HeadDim, Hidden>() !=
         rule::none)
    WEFT_REJECT(
        (detail::rule_of_encoder<X, M, O, P, Pos, KeyPos, Embed, Heads, HeadDim, Hidden>()),
        encoder_block(scope, const X&, const M& = {}, const O& = {}, const P& = {}),
        (arguments,
         "nn::encoder_block: after the operand come the mask, options and the encoding, in this "
         "order; write {} in the place of one that is not there"),
        WEFT_ENCODER_RULES("nn::encoder_block",
                           "encoder_block<Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(s, x)"))

// A stack of `layers` blocks, at least one, and with .final_norm a normalisation: the output, and
// the weights of the last block. Parameters under "layers.0", "layers.1", ... and "norm", as
// torch.nn.TransformerEncoder.
template <class Pos, class KeyPos, class Embed, class Heads, class HeadDim, class Hidden,
          expression X, detail::mask_like M = mask_list<>, encoding_like P = encoding>
requires(detail::rule_of_encoder<X, M, transformer_options, P, Pos, KeyPos, Embed, Heads, HeadDim,
                                 Hidden>() ==
         rule::none) constexpr auto encoder(scope s, const X& x, int layers, const M& mask = {},
                                            transformer_options options = {},
                                            const P& position_encoding = {}) {
  const auto block = [&](int i, const auto& y) {
    return encoder_block<Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(s / "layers" / i, y, mask,
                                                                     options, position_encoding);
  };
  auto last = block(0, x);
  for (int i = 1; i < layers; ++i) last = block(i, last.output);
  if (options.final_norm) last.output = detail::norm<Embed>(s / "norm", last.output, options);
  return last;
}
template <class Pos, class KeyPos, class Embed, class Heads, class HeadDim, class Hidden,
          expression X, class M = mask_list<>, class O = transformer_options, class P = encoding,
          class Surplus = detail::surplus<
              M, detail::multi_head_scores<X, detail::as_keys<X, Pos, KeyPos>, Embed, Heads>>>
requires(detail::rule_of_encoder<X, M, O, P, Pos, KeyPos, Embed, Heads, HeadDim, Hidden>() !=
         rule::none)
    WEFT_REJECT(
        (detail::rule_of_encoder<X, M, O, P, Pos, KeyPos, Embed, Heads, HeadDim, Hidden>()),
        encoder(scope, const X&, int, const M& = {}, const O& = {}, const P& = {}),
        (arguments,
         "nn::encoder: after the number of layers come the mask, options and the encoding, in this "
         "order; write {} in the place of one that is not there"),
        WEFT_ENCODER_RULES("nn::encoder",
                           "encoder<Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(s, x, layers)"))

#undef WEFT_ENCODER_RULES

template <class... Axes, class... Args>
WEFT_REJECT((rule::no_axes), encoder_block(scope, const Args&...),
            (no_axes,
             "nn::encoder_block: it is called as encoder_block<Pos, KeyPos, Embed, Heads, HeadDim, "
             "Hidden>(s, x)"))

template <class... Axes, class... Args>
WEFT_REJECT((rule::no_axes), encoder(scope, const Args&...),
            (no_axes,
             "nn::encoder: it is called as encoder<Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(s, "
             "x, layers)"))

}  // namespace weft::nn
