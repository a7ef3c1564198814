// A block of a decoder-only model as most are published today, with its cache of keys and values.
#pragma once

#include "weft/graph/reject.hpp"
#include "weft/nn/attention.hpp"
#include "weft/nn/attention_axes.hpp"
#include "weft/nn/cache.hpp"
#include "weft/nn/feed_forward.hpp"
#include "weft/nn/linear.hpp"
#include "weft/nn/multi_head_attention.hpp"
#include "weft/nn/norm.hpp"
#include "weft/nn/position/rotary.hpp"
#include "weft/ops/functions.hpp"

namespace weft::nn {

// Options of nn::causal_block.
struct causal_options {
  double epsilon = 1e-5;         // of the normalisations
  bool qkv_bias = false;         // of the projections to queries, keys and values, as in Qwen 2
  bool norm_heads = false;       // RMS norms of each query and key over HeadDim, as in Qwen 3
  bool one_plus_weight = false;  // norms multiply by 1 + weight, as in Gemma
  bool post_norms = false;       // norms of both parts' outputs too, as in Gemma 2 and 3
  // Of the feed-forward network; without a gate there is no gate_proj.
  nn::activation activation = nn::activation::swiglu;
  int window = 0;    // each position sees itself and the `window` - 1 before it; 0: all before it
  double scale = 0;  // factor of the scores; 0 for 1 / sqrt(HeadDim)
  double soft_cap = 0;  // of the scores: c tanh(score / c); 0 for none
};

namespace detail {

template <expression X, class Pos, class Cache, class Embed, class Heads, class HeadDim,
          class Hidden>
constexpr rule rule_of_causal_block() {
  using Inner = typename heads_of<Heads>::query;
  constexpr bool axes_are = axis_like<Embed> && axis_like<HeadDim> && axis_like<Hidden> &&
                            roles<Pos, Cache, Embed, HeadDim, Hidden>(Inner{});
  if constexpr (!axes_are) {
    return rule::not_an_axis;
  } else {
    if (!has_axis<Pos, shape_t<X>> || !has_axis<Embed, shape_t<X>>) return rule::missing;
    if (has_axis<Cache, shape_t<X>>) return rule::cache;
    if (!weft::detail::floating<X>) return rule::elements;
    return rule::none;
  }
}

// The RMS norm of a causal block.
template <class Axis, expression X>
constexpr auto block_norm(scope s, const X& x, const causal_options& options) {
  if (!options.one_plus_weight) return rms_norm<Axis>(s, x, options.epsilon);
  auto const weight = s.param<"weight", Axis>(init::zeros());
  return weft::rms_norm<Axis>(x, weight + 1.0f, options.epsilon);
}

// The attention of a causal block: x float [..., Pos, Embed] to the same axes.
template <class Cache, class Embed, class Heads, class HeadDim, class Pos, class Offset,
          class Count, expression X, class P, class... Queries, class... Keys>
constexpr auto cached_attention(scope s, const X& x, const cache_position<Pos, Offset, Count>& at,
                                const causal_options& options, const P& position_encoding,
                                shape<Queries...>, shape<Keys...>) {
  using In = shape<Embed>;
  auto const project = [&]<class Out>(Out, const char* name) {
    return affine<In, Out>(s / name, x, options.qkv_bias);
  };
  auto q = project(shape<Queries..., HeadDim>{}, "q_proj");
  auto k = project(shape<Keys..., HeadDim>{}, "k_proj");
  auto const v = project(shape<Keys..., HeadDim>{}, "v_proj");
  if (options.norm_heads) {
    q = block_norm<HeadDim>(s / "q_norm", q, options);
    k = block_norm<HeadDim>(s / "k_norm", k, options);
  }
  auto const ids = position_ids(at);
  auto const where = positions_in_attention<Pos, Cache>(ids, options.scale);
  scope const own = s / "position";
  auto const turned = position_encoding.template query<shape<Queries...>, HeadDim>(own, q, ids);
  auto const past = kv_cache<Cache>(
      s, at, position_encoding.template key<shape<Keys...>, HeadDim>(own, k, ids), v);
  auto const scores =
      add_term(dot_product_score<HeadDim>(turned, past.keys, {options.scale, options.soft_cap}),
               position_encoding.template scores<shape<Queries...>, HeadDim>(own, q, where));
  auto mask = causal_cache_mask<Cache>(at);
  if (options.window > 0) mask = mask && positions<Cache>() > ids - options.window;
  auto const attended = attention<Cache>(scores, past.values, mask);
  auto const mixed = add_term(
      attended.output,
      position_encoding.template values<shape<Queries...>, HeadDim>(own, attended.weights, where));
  return linear_without_bias<shape<Queries..., HeadDim>, In>(s / "o_proj", mixed);
}

}  // namespace detail

// A block of Llama (Touvron et al. 2023, section 2.2) and of the models after it, decoded with a
// cache: x + attention(norm(x)), then y + feed-forward(norm(y)), with RMS norms, rotary positions
// and SwiGLU. x float [..., Pos, Embed] to the same axes. Heads is an axis, or nn::grouped or
// nn::multi_query, for keys and values that several heads share. `at` is the progress of each
// sequence, see nn::decode_state; one serves all blocks. Runs over the parts of a sequence give
// what one run over all of it gives; Cache bounds its length. `position_encoding` is an
// nn::encoding.
//
// Parameters, under the names of Hugging Face's transformers: input_layernorm.weight [Embed],
// self_attn.q_proj.weight [query's Heads, HeadDim, Embed], k_proj.weight and v_proj.weight [key's
// Heads, HeadDim, Embed], o_proj.weight [Embed, query's Heads, HeadDim], with .qkv_bias a bias of
// the first three, with .norm_heads q_norm.weight and k_norm.weight [HeadDim];
// post_attention_layernorm.weight [Embed]; mlp.gate_proj.weight and mlp.up_proj.weight [Hidden,
// Embed], mlp.down_proj.weight [Embed, Hidden]. With .post_norms, post_attention_layernorm is of
// the attention's output, pre_feedforward_layernorm and post_feedforward_layernorm are the other
// two. States: self_attn.keys and self_attn.values [..., Cache, key's Heads, HeadDim]. Misuse does
// not compile: see the WEFT_REJECT overload.
template <class Cache, class Embed, class Heads, class HeadDim, class Hidden, class Pos,
          class Offset, class Count, expression X, encoding_like P = position::rotary<>>
requires(detail::rule_of_causal_block<X, Pos, Cache, Embed, Heads, HeadDim, Hidden>() ==
         rule::none) constexpr auto causal_block(scope s, const X& x,
                                                 const cache_position<Pos, Offset, Count>& at,
                                                 causal_options options = {},
                                                 const P& position_encoding = {}) {
  using H = detail::heads_of<Heads>;
  using In = shape<Embed>;
  using Out = shape<Hidden>;
  auto const norm = [&](const char* name, const auto& of) {
    return detail::block_norm<Embed>(s / name, of, options);
  };
  auto const after = [&](const char* name, const auto& part) {
    return options.post_norms ? norm(name, part) : part;
  };
  auto const attended = detail::cached_attention<Cache, Embed, Heads, HeadDim>(
      s / "self_attn", norm("input_layernorm", x), at, options, position_encoding,
      typename H::query{}, typename H::key{});
  auto const y = detail::add_term(x, after("post_attention_layernorm", attended));
  auto const normed =
      norm(options.post_norms ? "pre_feedforward_layernorm" : "post_attention_layernorm", y);
  scope const mlp = s / "mlp";
  auto hidden = linear_without_bias<In, Out>(mlp / "up_proj", normed);
  if (detail::is_gated(options.activation))
    hidden = detail::activate(options.activation,
                              linear_without_bias<In, Out>(mlp / "gate_proj", normed)) *
             hidden;
  else
    hidden = detail::activate(options.activation, hidden);
  auto const out = linear_without_bias<Out, In>(mlp / "down_proj", hidden);
  return detail::add_term(y, after("post_feedforward_layernorm", out));
}
template <class Cache, class Embed, class Heads, class HeadDim, class Hidden, class Pos,
          class Offset, class Count, expression X, encoding_like P = position::rotary<>>
requires(detail::rule_of_causal_block<X, Pos, Cache, Embed, Heads, HeadDim, Hidden>() != rule::none)
    WEFT_REJECT((detail::rule_of_causal_block<X, Pos, Cache, Embed, Heads, HeadDim, Hidden>()),
                causal_block(scope, const X&, const cache_position<Pos, Offset, Count>&,
                             causal_options = {}, const P& = {}),
                (not_an_axis,
                 "nn::causal_block: name axes that are not the same, as in causal_block<Cache, "
                 "Embed, Heads, HeadDim, Hidden>(s, x, at)"),
                (missing, "nn::causal_block: the operand has not both Embed and the axis of `at`"),
                (cache, "nn::causal_block: the operand has the cache's axis"),
                (elements,
                 "nn::causal_block: the elements are not float; convert with weft::cast<float>"))

}  // namespace weft::nn
