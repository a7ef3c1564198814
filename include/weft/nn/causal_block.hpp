// A block of a decoder-only model as most are published today, with its cache of keys and values.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/reject.hpp"
#include "weft/nn/attention.hpp"
#include "weft/nn/axes.hpp"
#include "weft/nn/cache.hpp"
#include "weft/nn/feed_forward.hpp"
#include "weft/nn/linear.hpp"
#include "weft/nn/multi_head_attention.hpp"
#include "weft/nn/norm.hpp"
#include "weft/nn/position/rotary.hpp"
#include "weft/nn/rolling.hpp"
#include "weft/nn/sink.hpp"
#include "weft/ops/functions.hpp"
#include "weft/ops/view.hpp"

namespace weft::nn {

// Options of nn::causal_block.
struct causal_options {
  double epsilon = 1e-5;         // of the normalizations
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
  // Each position sees itself and the *window - 1 before it; by default all before it.
  std::optional<int> window = {};
  std::optional<double> scale = {};     // factor of the scores; by default 1 / sqrt(HeadDim)
  std::optional<double> soft_cap = {};  // c: scores become c tanh(score / c)
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

template <class Past>
concept cached_rows_like = requires(Past past) {
  past.keys, past.values;
};

using causal_attention_roles =
    role_list<roles::cache, roles::embed, roles::heads, roles::head_dim, roles::group>;
using causal_roles = role_list<roles::cache, roles::embed, roles::heads, roles::head_dim,
                               roles::hidden, roles::group>;
template <class A, class Roles, expression X, cache_position_like At, class P>
constexpr auto fault_of_causal() {
  using Pos = in_role<roles::positions, typename At::positions>;
  using of_axes = decltype(fault_of_axes<A>(Roles{}, Pos{}));
  if constexpr (is_broken<of_axes>)
    return of_axes{};
  else
    return first_fault_t<
        fault_of_operand<X, Pos>, fault_of_operand<X, role_in<A, roles::embed>>,
        fault_if<is_along<X, role_in<A, roles::cache>>, rule::taken, role_in<A, roles::cache>>,
        fault_if<!floating<X>, rule::elements>,
        fault_if<!fits_head<typename A::head_dim, P>, rule::pairs, role_in<A, roles::head_dim>>>{};
}
template <class A, class X, class At, class P>
using causal_attention_fault = decltype(fault_of_causal<A, causal_attention_roles, X, At, P>());
template <class A, class X, class At, class P>
using causal_fault = decltype(fault_of_causal<A, causal_roles, X, At, P>());

// The RMS norm of a causal block.
template <class Axis, expression X>
constexpr auto block_norm(scope s, const X& x, const causal_options& options) {
  if (!options.one_plus_weight) return rms_norm<Axis>(s, x, {.epsilon = options.epsilon});
  const auto weight = s.param<"weight", Axis>(init::zeros());
  return weft::rms_norm<Axis>(x, weight + 1.0f, {.epsilon = options.epsilon});
}

// The axis of a head's queries and gates.
template <class HeadDim>
struct query_and_gate : axis<2 * HeadDim::extent> {};

// Keys and values of a run's positions, and all so far, where they are the block's own; or those
// that it shares.
template <class A, class... Keys>
constexpr auto keys_and_values(no_term, scope s, const auto& x, const auto& at,
                               const causal_options& options, const auto& position_encoding,
                               shape<Keys...>) {
  using Cache = typename A::cache;
  using HeadDim = typename A::head_dim;
  const auto project = [&](const char* name) {
    return linear<typename A::embed, shape<Keys..., HeadDim>>(s / name, x,
                                                              {.bias = options.qkv_bias});
  };
  auto k = project("k_proj");
  auto v = project("v_proj");
  if (options.norm_heads) k = block_norm<HeadDim>(s / "k_norm", k, options);
  if (options.norm_values) v = weft::rms_norm<HeadDim>(v, {.epsilon = options.epsilon});
  const auto turned =
      position_encoding.template key<shape<Keys...>, HeadDim>(s / "position", k, position_ids(at));
  return options.bfloat16_cache ? kv_cache<Cache, bfloat16>(s, at, turned, v)
                                : kv_cache<Cache>(s, at, turned, v);
}
template <class A, class K, class V>
constexpr auto keys_and_values(const cached_rows<K, V>& shared, const auto&...) {
  return shared;
}

// The positions of keys and queries; and whether a key is among the last `window`.
template <class Cache, class At>
constexpr auto positions_of_cache(const At& at, const auto& ids, const causal_options& options) {
  using Pos = typename At::positions;
  if constexpr (is_rolling<At>)
    return positions_in_attention<Pos, Cache>(at, {.scale = options.scale});
  else
    return positions_in_attention<Pos, Cache>(ids, {.scale = options.scale});
}
template <class Cache, class At>
constexpr auto is_within(const At& at, const auto& ids, int window) {
  if constexpr (is_rolling<At>)
    return at.distance > -window || at.sinks;
  else
    return positions<Cache>() > ids - window;
}

// The attention of a causal block: see nn::causal_attention. `shared` is no_term or the keys and
// values of another one.
template <class A, class At, class... Queries>
constexpr auto cached_attention(scope s, const auto& x, const At& at, const auto& shared,
                                const causal_options& options, const auto& position_encoding,
                                shape<Queries...>) {
  using Cache = typename A::cache;
  using HeadDim = typename A::head_dim;
  using Embed = typename A::embed;
  using Whole = query_and_gate<HeadDim>;
  using of_queries = shape<Queries..., HeadDim>;
  const scope to_query = s / "q_proj";
  const linear_options as_query{.bias = options.qkv_bias};
  decltype(linear<Embed, of_queries>(to_query, x)) q{}, gate{};
  if (options.output_gate) {
    const auto both = linear<Embed, shape<Queries..., Whole>>(to_query, x, as_query);
    q = slice<Whole, HeadDim>(both);
    gate = slice<Whole, HeadDim, HeadDim::extent>(both);
  } else {
    q = linear<Embed, of_queries>(to_query, x, as_query);
  }
  if (options.norm_heads) q = block_norm<HeadDim>(s / "q_norm", q, options);
  const auto ids = position_ids(at);
  const auto where = positions_of_cache<Cache>(at, ids, options);
  const scope own = s / "position";
  const auto turned = position_encoding.template query<shape<Queries...>, HeadDim>(own, q, ids);
  const auto past =
      keys_and_values<A>(shared, s, x, at, options, position_encoding, key_heads<A>{});
  const score_options products{options.scale, options.soft_cap};
  auto of_keys = dot_product_score<HeadDim>(turned, past.keys, products);
  if constexpr (requires { requires(At::ring::sinks > 0); }) {
    const auto to_sinks =
        position_encoding.template query<shape<Queries...>, HeadDim>(own, q, sink_position_ids(at));
    if (to_sinks.id != q.id)
      of_keys = of_keys + moved_sinks<HeadDim>(at, to_sinks, turned, past.keys, products);
  }
  const auto scores = add_term(
      of_keys, position_encoding.template scores<shape<Queries...>, HeadDim>(own, q, where));
  auto mask = causal_cache_mask<Cache>(at);
  if (options.window) mask = mask && is_within<Cache>(at, ids, *options.window);
  const auto visible = masked<Cache>(scores, mask);
  const auto weights =
      options.sinks
          ? softmax_with_sink<Cache>(visible, s.template param<"sinks", Queries...>(init::zeros()))
          : softmax<Cache>(visible);
  auto mixed =
      add_term(dot<Cache>(weights, past.values),
               position_encoding.template values<shape<Queries...>, HeadDim>(own, weights, where));
  if (options.output_gate) mixed = mixed * sigmoid(gate);
  return causal_output{
      linear<of_queries, Embed>(s / "o_proj", mixed, {.bias = options.output_bias}), past};
}

template <class A>
constexpr auto causal_layer(scope s, const auto& x, const auto& at, const auto& shared,
                            const causal_options& options, const auto& position_encoding) {
  using Embed = typename A::embed;
  using Hidden = typename A::hidden;
  const auto norm = [&](const char* name, const auto& of) {
    return block_norm<Embed>(s / name, of, options);
  };
  const auto after = [&](const char* name, const auto& part) {
    return options.post_norms ? norm(name, part) : part;
  };
  const auto attended = cached_attention<A>(s / "self_attn", norm("input_layernorm", x), at, shared,
                                            options, position_encoding, query_heads<A>{});
  const auto y = add_term(x, after("post_attention_layernorm", attended.output));
  const auto normed =
      norm(options.post_norms ? "pre_feedforward_layernorm" : "post_attention_layernorm", y);
  const scope mlp = s / "mlp";
  const linear_options plain{.bias = false};
  auto hidden = linear<Embed, Hidden>(mlp / "up_proj", normed, plain);
  if (is_gated(options.activation))
    hidden = activate(options.activation, linear<Embed, Hidden>(mlp / "gate_proj", normed, plain)) *
             hidden;
  else
    hidden = activate(options.activation, hidden);
  const auto out = linear<Hidden, Embed>(mlp / "down_proj", hidden, plain);
  return causal_output{add_term(y, after("post_feedforward_layernorm", out)), attended.past};
}

}  // namespace detail

// The attention of nn::causal_block: x float [..., Pos, embed] to an output of the same axes.
// Parameters, states and axes as there, without "self_attn" and hidden.
template <class A, expression X, detail::cache_position_like At,
          encoding_like P = position::rotary<>>
requires(detail::causal_attention_fault<A, X, At, P>::broken ==
         rule::none) constexpr auto causal_attention(scope s, const X& x, const At& at,
                                                     const causal_options& options = {},
                                                     const P& position_encoding = {}) {
  return detail::cached_attention<A>(s, x, at, no_term{}, options, position_encoding,
                                     detail::query_heads<A>{});
}
// With the keys and values of an earlier block, .past of its result, and without such parameters
// and states of its own (Brandon et al. 2024, "Reducing transformer key-value cache size with
// cross-layer attention", section 2).
template <class A, expression X, detail::cache_position_like At, detail::cached_rows_like Past,
          encoding_like P = position::rotary<>>
requires(detail::causal_attention_fault<A, X, At, P>::broken ==
         rule::none) constexpr auto causal_attention(scope s, const X& x, const At& at,
                                                     const Past& past,
                                                     const causal_options& options = {},
                                                     const P& position_encoding = {}) {
  return detail::cached_attention<A>(s, x, at, past, options, position_encoding,
                                     detail::query_heads<A>{});
}

// A block of Llama (Touvron et al. 2023, section 2.2) and of the models after it, decoded with a
// cache: x + attention(norm(x)), then y + feed-forward(norm(y)), with RMS norms, rotary positions
// and SwiGLU. x float [..., Pos, embed] to the same axes. `at` is the progress of each sequence
// along Pos, see nn::decode_state; one serves all blocks. Runs over the parts of a sequence give
// what one run over all of it gives; cache bounds its length. `position_encoding` is an
// nn::encoding. Axes, see nn/axes.hpp: cache, embed, heads, head_dim and hidden; optional are group
// and key_heads, for keys and values that several heads share.
//
// Parameters, under the names of Hugging Face's transformers: input_layernorm.weight [embed],
// self_attn.q_proj.weight [query's heads, head_dim, embed], k_proj.weight and v_proj.weight [key's
// heads, head_dim, embed], o_proj.weight [embed, query's heads, head_dim], with .qkv_bias a bias of
// the first three, with .output_bias o_proj.bias [embed], with .norm_heads q_norm.weight and
// k_norm.weight [head_dim], with .sinks sinks [query's heads]; with .output_gate q_proj.weight has
// twice the elements for each head, its queries and then its gates;
// post_attention_layernorm.weight [embed]; mlp.gate_proj.weight and mlp.up_proj.weight [hidden,
// embed], mlp.down_proj.weight [embed, hidden]. With .post_norms, post_attention_layernorm is of
// the attention's output, pre_feedforward_layernorm and post_feedforward_layernorm are the other
// two. States: self_attn.keys and self_attn.values [..., cache, key's heads, head_dim]. Misuse does
// not compile: see the WEFT_REJECT_LAYER overloads.
template <class A, expression X, detail::cache_position_like At,
          encoding_like P = position::rotary<>>
requires(detail::causal_fault<A, X, At, P>::broken ==
         rule::none) constexpr auto causal_block(scope s, const X& x, const At& at,
                                                 const causal_options& options = {},
                                                 const P& position_encoding = {}) {
  return detail::causal_layer<A>(s, x, at, no_term{}, options, position_encoding).output;
}

// The same block with its keys and values beside its output, for blocks that share them, and such a
// block: every second one here attends to the keys and values of the one before.
//
//   const auto own = nn::causal_layer<axes>(s / 0, x, at);
//   const auto next = nn::causal_layer<axes>(s / 1, own.output, at, own.past);
template <class A, expression X, detail::cache_position_like At,
          encoding_like P = position::rotary<>>
requires(detail::causal_fault<A, X, At, P>::broken ==
         rule::none) constexpr auto causal_layer(scope s, const X& x, const At& at,
                                                 const causal_options& options = {},
                                                 const P& position_encoding = {}) {
  return detail::causal_layer<A>(s, x, at, no_term{}, options, position_encoding);
}
// The block that shares the keys and values of an earlier one.
template <class A, expression X, detail::cache_position_like At, detail::cached_rows_like Past,
          encoding_like P = position::rotary<>>
requires(detail::causal_fault<A, X, At, P>::broken ==
         rule::none) constexpr auto causal_layer(scope s, const X& x, const At& at,
                                                 const Past& past,
                                                 const causal_options& options = {},
                                                 const P& position_encoding = {}) {
  return detail::causal_layer<A>(s, x, at, past, options, position_encoding);
}

#define WEFT_REJECT_CAUSAL(layer, fault)                                                       \
  template <                                                                                   \
      class... Axes, expression X, detail::cache_position_like At, class O = causal_options,   \
      class P = position::rotary<>,                                                            \
      class Fault = detail::fault_of_call<                                                     \
          detail::called_with<detail::only_t<Axes...>, causal_options, O> && encoding_like<P>, \
          detail::fault<detail::only_t<Axes...>, X, At, P>>>                                   \
  requires(!detail::cached_rows_like<O> && Fault::broken != rule::none)                        \
      WEFT_REJECT_LAYER(layer, #layer "<axes>(s, x, at, options, encoding)",                   \
                        (scope, const X&, const At&, const O& = {}, const P& = {}))
WEFT_REJECT_CAUSAL(causal_attention, causal_attention_fault)
WEFT_REJECT_CAUSAL(causal_block, causal_fault)
WEFT_REJECT_CAUSAL(causal_layer, causal_fault)
#undef WEFT_REJECT_CAUSAL
#define WEFT_REJECT_SHARING(layer, fault)                                                         \
  template <class A, expression X, detail::cache_position_like At, detail::cached_rows_like Past, \
            encoding_like P = position::rotary<>, class Fault = detail::fault<A, X, At, P>>       \
  requires(Fault::broken != rule::none) WEFT_REJECT_FAULTS(                                       \
      layer, #layer "<axes>(s, x, at, past, options, encoding)",                                  \
      (scope, const X&, const At&, const Past&, const causal_options& = {}, const P& = {}))
WEFT_REJECT_SHARING(causal_attention, causal_attention_fault)
WEFT_REJECT_SHARING(causal_layer, causal_fault)
#undef WEFT_REJECT_SHARING

}  // namespace weft::nn
#include "weft/header_end.hpp"
