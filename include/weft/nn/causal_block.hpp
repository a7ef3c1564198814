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
#include "weft/nn/sink.hpp"
#include "weft/ops/functions.hpp"
#include "weft/ops/view.hpp"

namespace weft::nn {

// Options of nn::causal_block.
struct causal_options {
  double epsilon = 1e-5;         // of the normalisations
  bool qkv_bias = false;         // of the projections to queries, keys and values, as in Qwen 2
  bool output_bias = false;      // of the projection of the attention's output, as in gpt-oss
  bool norm_heads = false;       // RMS norms of each query and key over HeadDim, as in Qwen 3
  bool norm_values = false;      // and of each value, without a weight, as in Gemma 4
  bool one_plus_weight = false;  // norms multiply by 1 + weight, as in Gemma
  bool post_norms = false;       // norms of both parts' outputs too, as in Gemma 2 and 3
  bool sinks = false;            // a learned sink for each head of queries, as in gpt-oss
  // The attention's output is multiplied by the sigmoid of a projection of x, which q_proj.weight
  // has after each head's queries, as in Qwen 3 Next.
  bool output_gate = false;
  // Of the feed-forward network; without a gate there is no gate_proj.
  nn::activation activation = nn::activation::swiglu;
  int window = 0;    // each position sees itself and the `window` - 1 before it; 0: all before it
  double scale = 0;  // factor of the scores; 0 for 1 / sqrt(HeadDim)
  double soft_cap = 0;          // of the scores: c tanh(score / c); 0 for none
  bool bfloat16_cache = false;  // keys and values are kept as bfloat16, in half of the memory
};

// What a block or its attention gives.
template <class Output, class Past>
struct causal_output {
  Output output;  // float [..., Pos, Embed]
  Past past;      // the cached_rows that it attended to, which later ones may share
};
template <class Output, class Past>
causal_output(Output, Past) -> causal_output<Output, Past>;

namespace detail {

// Whether the encoding among a layer's arguments, by default rotary, can turn heads of HeadDim.
template <class HeadDim, class... Arguments>
inline constexpr bool fit_head = (fits_head<HeadDim, Arguments> && ...) &&
                                 ((encoding_like<Arguments> || ...) ||
                                  fits_head<HeadDim, position::rotary<>>);

template <expression X, class Pos, class Cache, class Embed, class Heads, class HeadDim,
          class... Hidden>
constexpr rule rule_of_causal(bool fits) {
  using Queries = typename heads_of<Heads>::query;
  constexpr bool axes_are = axis_like<Embed> && axis_like<HeadDim> && (axis_like<Hidden> && ...) &&
                            roles<Pos, Cache, Embed, HeadDim, Hidden...>(Queries{});
  if constexpr (!axes_are) {
    return rule::not_an_axis;
  } else {
    if (!has_axis<Pos, shape_t<X>> || !has_axis<Embed, shape_t<X>>) return rule::missing;
    if (has_axis<Cache, shape_t<X>>) return rule::cache;
    if (!weft::detail::floating<X>) return rule::elements;
    return fits ? rule::none : rule::pairs;
  }
}

// The RMS norm of a causal block.
template <class Axis, expression X>
constexpr auto block_norm(scope s, const X& x, const causal_options& options) {
  if (!options.one_plus_weight) return rms_norm<Axis>(s, x, options.epsilon);
  const auto weight = s.param<"weight", Axis>(init::zeros());
  return weft::rms_norm<Axis>(x, weight + 1.0f, options.epsilon);
}

// The axis of a head's queries and gates.
template <class HeadDim>
struct query_and_gate : axis<2 * HeadDim::extent> {};

// Keys and values of a run's positions, and all so far, where they are the block's own; or those
// that it shares.
template <class Cache, class HeadDim, class Embed, class At, class X, class P, class... Keys>
constexpr auto keys_and_values(no_term, scope s, const X& x, const At& at,
                               const causal_options& options, const P& position_encoding,
                               shape<Keys...>) {
  const auto project = [&](const char* name) {
    return affine<shape<Embed>, shape<Keys..., HeadDim>>(s / name, x, options.qkv_bias);
  };
  auto k = project("k_proj");
  auto v = project("v_proj");
  if (options.norm_heads) k = block_norm<HeadDim>(s / "k_norm", k, options);
  if (options.norm_values) v = weft::rms_norm<HeadDim>(v, options.epsilon);
  const auto turned =
      position_encoding.template key<shape<Keys...>, HeadDim>(s / "position", k, position_ids(at));
  return options.bfloat16_cache ? kv_cache<Cache, bfloat16>(s, at, turned, v)
                                : kv_cache<Cache>(s, at, turned, v);
}
template <class Cache, class HeadDim, class Embed, class K, class V, class... Others>
constexpr auto keys_and_values(const cached_rows<K, V>& shared, const Others&...) {
  return shared;
}

// The attention of a causal block: see nn::causal_attention. `shared` is no_term or the keys and
// values of another one.
template <class Cache, class Embed, class Heads, class HeadDim, class Pos, class Offset,
          class Count, expression X, class Shared, class P, class... Queries>
constexpr auto cached_attention(scope s, const X& x, const cache_position<Pos, Offset, Count>& at,
                                const Shared& shared, const causal_options& options,
                                const P& position_encoding, shape<Queries...>) {
  using In = shape<Embed>;
  using Whole = query_and_gate<HeadDim>;
  using of_queries = shape<Queries..., HeadDim>;
  const scope to_query = s / "q_proj";
  decltype(linear<In, of_queries>(to_query, x)) q{}, gate{};
  if (options.output_gate) {
    const auto both = affine<In, shape<Queries..., Whole>>(to_query, x, options.qkv_bias);
    q = slice<Whole, HeadDim>(both);
    gate = slice<Whole, HeadDim, HeadDim::extent>(both);
  } else {
    q = affine<In, of_queries>(to_query, x, options.qkv_bias);
  }
  if (options.norm_heads) q = block_norm<HeadDim>(s / "q_norm", q, options);
  const auto ids = position_ids(at);
  const auto where = positions_in_attention<Pos, Cache>(ids, options.scale);
  const scope own = s / "position";
  const auto turned = position_encoding.template query<shape<Queries...>, HeadDim>(own, q, ids);
  const auto past = keys_and_values<Cache, HeadDim, Embed>(
      shared, s, x, at, options, position_encoding, typename heads_of<Heads>::key{});
  const auto scores =
      add_term(dot_product_score<HeadDim>(turned, past.keys, {options.scale, options.soft_cap}),
               position_encoding.template scores<shape<Queries...>, HeadDim>(own, q, where));
  auto mask = causal_cache_mask<Cache>(at);
  if (options.window > 0) mask = mask && positions<Cache>() > ids - options.window;
  const auto visible = masked<Cache>(scores, mask);
  const auto weights =
      options.sinks
          ? softmax_with_sink<Cache>(visible, s.template param<"sinks", Queries...>(init::zeros()))
          : softmax<Cache>(visible);
  auto mixed =
      add_term(dot<Cache>(weights, past.values),
               position_encoding.template values<shape<Queries...>, HeadDim>(own, weights, where));
  if (options.output_gate) mixed = mixed * sigmoid(gate);
  return causal_output{affine<of_queries, In>(s / "o_proj", mixed, options.output_bias), past};
}

}  // namespace detail

// The attention of such a block: x float [..., Pos, Embed] to an output of the same axes, as
// nn::causal_block's part of it is. Parameters and states as there, without "self_attn".
template <class Cache, class Embed, class Heads, class HeadDim, class Pos, class Offset,
          class Count, expression X, encoding_like P = position::rotary<>>
requires(
    detail::rule_of_causal<X, Pos, Cache, Embed, Heads, HeadDim>(detail::fit_head<HeadDim, P>) ==
    rule::none) constexpr auto causal_attention(scope s, const X& x,
                                                const cache_position<Pos, Offset, Count>& at,
                                                const causal_options& options = {},
                                                const P& position_encoding = {}) {
  return detail::cached_attention<Cache, Embed, Heads, HeadDim>(
      s, x, at, no_term{}, options, position_encoding, typename detail::heads_of<Heads>::query{});
}
// With the keys and values of an earlier block, .past of its result, and without such parameters
// and states of its own (Brandon et al. 2024, "Reducing transformer key-value cache size with
// cross-layer attention", section 2).
template <class Cache, class Embed, class Heads, class HeadDim, class Pos, class Offset,
          class Count, expression X, expression K, expression V,
          encoding_like P = position::rotary<>>
requires(
    detail::rule_of_causal<X, Pos, Cache, Embed, Heads, HeadDim>(detail::fit_head<HeadDim, P>) ==
    rule::none) constexpr auto causal_attention(scope s, const X& x,
                                                const cache_position<Pos, Offset, Count>& at,
                                                const cached_rows<K, V>& past,
                                                const causal_options& options = {},
                                                const P& position_encoding = {}) {
  return detail::cached_attention<Cache, Embed, Heads, HeadDim>(
      s, x, at, past, options, position_encoding, typename detail::heads_of<Heads>::query{});
}

#define WEFT_CAUSAL_RULES(name, axes)                                                  \
  (not_an_axis, name ": name axes that are not the same, as in " axes),                \
      (missing, name ": the operand has not both Embed and the axis of `at`"),         \
      (cache, name ": the operand has the cache's axis"),                              \
      (elements, name ": the elements are not float; convert with weft::cast<float>"), \
      (pairs, name ": the encoding turns pairs of a head's elements; give HeadDim an even extent")

template <class Cache, class Embed, class Heads, class HeadDim, class Pos, class Offset,
          class Count, expression X, class... More>
requires(detail::rule_of_causal<X, Pos, Cache, Embed, Heads, HeadDim>(
             detail::fit_head<HeadDim, More...>) != rule::none)
    WEFT_REJECT((detail::rule_of_causal<X, Pos, Cache, Embed, Heads, HeadDim>(
                    detail::fit_head<HeadDim, More...>)),
                causal_attention(scope, const X&, const cache_position<Pos, Offset, Count>&,
                                 const More&...),
                WEFT_CAUSAL_RULES("nn::causal_attention",
                                  "causal_attention<Cache, Embed, Heads, HeadDim>(s, x, at)"))

namespace detail {

template <class Cache, class Embed, class Heads, class HeadDim, class Hidden>
constexpr auto causal_layer(scope s, const auto& x, const auto& at, const auto& shared,
                            const causal_options& options, const auto& position_encoding) {
  using In = shape<Embed>;
  using Out = shape<Hidden>;
  const auto norm = [&](const char* name, const auto& of) {
    return block_norm<Embed>(s / name, of, options);
  };
  const auto after = [&](const char* name, const auto& part) {
    return options.post_norms ? norm(name, part) : part;
  };
  const auto attended = cached_attention<Cache, Embed, Heads, HeadDim>(
      s / "self_attn", norm("input_layernorm", x), at, shared, options, position_encoding,
      typename heads_of<Heads>::query{});
  const auto y = add_term(x, after("post_attention_layernorm", attended.output));
  const auto normed =
      norm(options.post_norms ? "pre_feedforward_layernorm" : "post_attention_layernorm", y);
  const scope mlp = s / "mlp";
  auto hidden = linear_without_bias<In, Out>(mlp / "up_proj", normed);
  if (is_gated(options.activation))
    hidden = activate(options.activation, linear_without_bias<In, Out>(mlp / "gate_proj", normed)) *
             hidden;
  else
    hidden = activate(options.activation, hidden);
  const auto out = linear_without_bias<Out, In>(mlp / "down_proj", hidden);
  return causal_output{add_term(y, after("post_feedforward_layernorm", out)), attended.past};
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
// the first three, with .output_bias o_proj.bias [Embed], with .norm_heads q_norm.weight and
// k_norm.weight [HeadDim], with .sinks sinks [query's Heads]; with .output_gate q_proj.weight has
// twice the elements for each head, its queries and then its gates;
// post_attention_layernorm.weight [Embed]; mlp.gate_proj.weight and mlp.up_proj.weight [Hidden,
// Embed], mlp.down_proj.weight [Embed, Hidden]. With .post_norms, post_attention_layernorm is of
// the attention's output, pre_feedforward_layernorm and post_feedforward_layernorm are the other
// two. States: self_attn.keys and self_attn.values [..., Cache, key's Heads, HeadDim]. Misuse does
// not compile: see the WEFT_REJECT overload.
template <class Cache, class Embed, class Heads, class HeadDim, class Hidden, class Pos,
          class Offset, class Count, expression X, encoding_like P = position::rotary<>>
requires(detail::rule_of_causal<X, Pos, Cache, Embed, Heads, HeadDim, Hidden>(
             detail::fit_head<HeadDim, P>) ==
         rule::none) constexpr auto causal_block(scope s, const X& x,
                                                 const cache_position<Pos, Offset, Count>& at,
                                                 const causal_options& options = {},
                                                 const P& position_encoding = {}) {
  return detail::causal_layer<Cache, Embed, Heads, HeadDim, Hidden>(s, x, at, no_term{}, options,
                                                                    position_encoding)
      .output;
}
template <class Cache, class Embed, class Heads, class HeadDim, class Hidden, class Pos,
          class Offset, class Count, expression X, class... More>
requires(detail::rule_of_causal<X, Pos, Cache, Embed, Heads, HeadDim, Hidden>(
             detail::fit_head<HeadDim, More...>) != rule::none)
    WEFT_REJECT((detail::rule_of_causal<X, Pos, Cache, Embed, Heads, HeadDim, Hidden>(
                    detail::fit_head<HeadDim, More...>)),
                causal_block(scope, const X&, const cache_position<Pos, Offset, Count>&,
                             const More&...),
                WEFT_CAUSAL_RULES("nn::causal_block",
                                  "causal_block<Cache, Embed, Heads, HeadDim, Hidden>(s, x, at)"))

// The same block with its keys and values beside its output, for blocks that share them, and such a
// block: every second one here attends to the keys and values of the one before.
//
//   auto const own = nn::causal_layer<Cache, Embed, Heads, HeadDim, Hidden>(s / 0, x, at);
//   auto const next = nn::causal_layer<Cache, Embed, Heads, HeadDim, Hidden>(s / 1, own.output, at,
//                                                                            own.past);
template <class Cache, class Embed, class Heads, class HeadDim, class Hidden, class Pos,
          class Offset, class Count, expression X, encoding_like P = position::rotary<>>
requires(detail::rule_of_causal<X, Pos, Cache, Embed, Heads, HeadDim, Hidden>(
             detail::fit_head<HeadDim, P>) ==
         rule::none) constexpr auto causal_layer(scope s, const X& x,
                                                 const cache_position<Pos, Offset, Count>& at,
                                                 const causal_options& options = {},
                                                 const P& position_encoding = {}) {
  return detail::causal_layer<Cache, Embed, Heads, HeadDim, Hidden>(s, x, at, no_term{}, options,
                                                                    position_encoding);
}
// The block that shares the keys and values of an earlier one.
template <class Cache, class Embed, class Heads, class HeadDim, class Hidden, class Pos,
          class Offset, class Count, expression X, expression K, expression V,
          encoding_like P = position::rotary<>>
requires(detail::rule_of_causal<X, Pos, Cache, Embed, Heads, HeadDim, Hidden>(
             detail::fit_head<HeadDim, P>) ==
         rule::none) constexpr auto causal_layer(scope s, const X& x,
                                                 const cache_position<Pos, Offset, Count>& at,
                                                 const cached_rows<K, V>& past,
                                                 const causal_options& options = {},
                                                 const P& position_encoding = {}) {
  return detail::causal_layer<Cache, Embed, Heads, HeadDim, Hidden>(s, x, at, past, options,
                                                                    position_encoding);
}
template <class Cache, class Embed, class Heads, class HeadDim, class Hidden, class Pos,
          class Offset, class Count, expression X, class... More>
requires(detail::rule_of_causal<X, Pos, Cache, Embed, Heads, HeadDim, Hidden>(
             detail::fit_head<HeadDim, More...>) != rule::none)
    WEFT_REJECT((detail::rule_of_causal<X, Pos, Cache, Embed, Heads, HeadDim, Hidden>(
                    detail::fit_head<HeadDim, More...>)),
                causal_layer(scope, const X&, const cache_position<Pos, Offset, Count>&,
                             const More&...),
                WEFT_CAUSAL_RULES("nn::causal_layer",
                                  "causal_layer<Cache, Embed, Heads, HeadDim, Hidden>(s, x, at)"))

#undef WEFT_CAUSAL_RULES

}  // namespace weft::nn
