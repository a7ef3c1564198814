// The parameters of multi-head attention's input projections.
#pragma once

#include "weft/graph/scope.hpp"
#include "weft/nn/attention_axes.hpp"
#include "weft/ops/view.hpp"

namespace weft::nn::detail {

// The heads of queries, keys and values, concatenated in this order.
template <class Heads>
struct in_proj : axis<3 * Heads::extent> {};

template <class Query, class Key, class Value>
struct qkv {
  Query query;
  Key key;
  Value value;
};
template <class Query, class Key, class Value>
qkv(Query, Key, Value) -> qkv<Query, Key, Value>;

template <class Heads, class W>
constexpr auto split_qkv(const W& w) {
  using All = in_proj<Heads>;
  return qkv{slice<All, Heads>(w), slice<All, Heads, Heads::extent>(w),
             slice<All, Heads, 2 * Heads::extent>(w)};
}

// The input projections of a layer with the axes W, H and D (widths_of, heads_of, dims_of), laid
// out, named and initialised as torch.nn.MultiheadAttention's: weights Xavier uniform, biases zero.
template <class W, class H, class D>
struct projections {
  static constexpr bool same_heads = std::same_as<typename H::query, typename H::key> &&
                                     std::same_as<typename D::key, typename D::value>;
  static constexpr bool same_widths = std::same_as<typename W::query, typename W::key> &&
                                      std::same_as<typename W::query, typename W::value>;

  template <fixed_string Name, class In, class Dim, class... Heads>
  static constexpr auto weight(scope s, shape<Heads...>) {
    return s.param<Name, Heads..., Dim, In>(init::xavier_uniform<In>());
  }
  template <fixed_string Name, class Dim, class... Heads>
  static constexpr auto bias(scope s, shape<Heads...>) {
    return s.param<Name, Heads..., Dim>(init::zeros());
  }

  static constexpr auto weights(scope s) {
    if constexpr (same_heads && same_widths) {
      using Heads = outermost<typename H::key>;
      return split_qkv<Heads>(
          weight<"in_proj_weight", typename W::query, typename D::key>(s, shape<in_proj<Heads>>{}));
    } else {
      return qkv{
          weight<"q_proj_weight", typename W::query, typename D::key>(s, typename H::query{}),
          weight<"k_proj_weight", typename W::key, typename D::key>(s, typename H::key{}),
          weight<"v_proj_weight", typename W::value, typename D::value>(s, typename H::key{})};
    }
  }
  static constexpr auto biases(scope s) {
    if constexpr (same_heads) {
      using Heads = outermost<typename H::key>;
      return split_qkv<Heads>(bias<"in_proj_bias", typename D::key>(s, shape<in_proj<Heads>>{}));
    } else {
      return qkv{bias<"q_proj_bias", typename D::key>(s, typename H::query{}),
                 bias<"k_proj_bias", typename D::key>(s, typename H::key{}),
                 bias<"v_proj_bias", typename D::value>(s, typename H::key{})};
    }
  }
};

}  // namespace weft::nn::detail
