// The encoder of a transformer; with a causal mask, a decoder-only model.
#pragma once
#include "weft/header_begin.hpp"

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
  return options.normalization == normalization::rms
             ? rms_norm<Embed>(s, x, {.epsilon = options.epsilon})
             : layer_norm<Embed>(s, x, {.epsilon = options.epsilon});
}

// The residual connection and normalization of a part of a block: x + part(norm(x)) with
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

// What the operand of an encoder or a decoder breaks, beside its attention.
template <class A, class X>
using fault_of_hidden = first_fault_t<
    fault_if<is_along<X, role_in<A, roles::hidden>>, rule::taken, role_in<A, roles::hidden>>,
    fault_if<(united_rank<shape_t<X>, shape<typename A::hidden>> > max_rank), rule::rank>>;

using encoder_roles = role_list<roles::positions, roles::keys, roles::embed, roles::heads,
                                roles::head_dim, roles::hidden, roles::group, roles::value_dim>;
template <class A, class Self>
constexpr auto fault_of_encoder() {
  using of_layer = decltype(fault_of_layer<A, encoder_roles, Self>());
  if constexpr (is_broken<of_layer>)
    return of_layer{};
  else
    return fault_of_hidden<A, typename Self::operand>{};
}
template <class A, class Self>
using encoder_fault = decltype(fault_of_encoder<A, Self>());

template <class A, class X, class M, class O, class P>
using encoder_call_fault =
    fault_of_call<called_with<A, transformer_options, O, M> && encoding_like<P>,
                  encoder_fault<A, attending<X, M, P>>>;

constexpr multi_head_options attention_of(const transformer_options& o) {
  return {.bias = o.bias, .scale = o.scale, .soft_cap = o.soft_cap, .dropout = o.dropout};
}

}  // namespace detail

// Self-attention and a feed-forward network, each with a residual connection (Vaswani et al. 2017,
// section 3.1; with .norm_first as Xiong et al. 2020): x float [..., positions, embed] to .output
// of the same axes and .weights of the attention, [..., positions, heads..., keys]. Axes, see
// nn/axes.hpp: positions, keys, embed, heads, head_dim and hidden; optional are group, key_heads
// and value_dim. Parameters under the names of torch.nn.TransformerEncoderLayer: self_attn (see
// nn::self_attention), linear1 and linear2 (see nn::feed_forward), norm1 and norm2. `mask` is over
// any axes of the scores, see mask.hpp. `position_encoding` is the position encoding of the
// attention, see nn::encoding; it does not add to the embedding, nn::add_positions does. Misuse
// does not compile.
template <class A, expression X, detail::mask_like M = mask_list<>, encoding_like P = encoding>
requires(detail::encoder_fault<A, detail::attending<X, M, P>>::broken ==
         rule::none) constexpr auto encoder_block(scope s, const X& x, const M& mask = {},
                                                  transformer_options options = {},
                                                  const P& position_encoding = {}) {
  using Embed = typename A::embed;
  const detail::residual<Embed> first{s / "norm1", options}, second{s / "norm2", options};
  const auto self = detail::attend_to_itself<A>(s / "self_attn", first.before(x), mask,
                                                detail::attention_of(options), position_encoding);
  const auto after_self = first.after(x, self.output);
  const auto fed = feed_forward<Embed, typename A::hidden>(s, second.before(after_self), options);
  return attention_output{second.after(after_self, fed), self.weights};
}
template <class... Axes, expression X, class M = mask_list<>, class O = transformer_options,
          class P = encoding,
          class Fault = detail::encoder_call_fault<detail::only_t<Axes...>, X, M, O, P>>
requires(Fault::broken != rule::none)
    WEFT_REJECT_LAYER(encoder_block, "encoder_block<axes>(s, x, mask, options, encoding)",
                      (scope, const X&, const M& = {}, const O& = {}, const P& = {}))

// A stack of `layers` blocks, at least one, and with .final_norm a normalization: the output, and
// the weights of the last block. Parameters under "layers.0", "layers.1", ... and "norm", as
// torch.nn.TransformerEncoder.
template <class A, expression X, detail::mask_like M = mask_list<>, encoding_like P = encoding>
requires(detail::encoder_fault<A, detail::attending<X, M, P>>::broken ==
         rule::none) constexpr auto encoder(scope s, const X& x, int layers, const M& mask = {},
                                            transformer_options options = {},
                                            const P& position_encoding = {}) {
  const auto block = [&](int i, const auto& y) {
    return encoder_block<A>(s / "layers" / i, y, mask, options, position_encoding);
  };
  auto last = block(0, x);
  for (int i = 1; i < layers; ++i) last = block(i, last.output);
  if (options.final_norm)
    last.output = detail::norm<typename A::embed>(s / "norm", last.output, options);
  return last;
}
template <class... Axes, expression X, class M = mask_list<>, class O = transformer_options,
          class P = encoding,
          class Fault = detail::encoder_call_fault<detail::only_t<Axes...>, X, M, O, P>>
requires(Fault::broken != rule::none)
    WEFT_REJECT_LAYER(encoder, "encoder<axes>(s, x, layers, mask, options, encoding)",
                      (scope, const X&, int, const M& = {}, const O& = {}, const P& = {}))

}  // namespace weft::nn
#include "weft/header_end.hpp"
