// The parameters of multi-head attention's input projections.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/scope.hpp"
#include "weft/nn/axes.hpp"
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

// The input projections of a layer with the axes A, laid out, named and initialized as
// torch.nn.MultiheadAttention's: weights Xavier uniform, biases zero.
template <class A>
struct projections {
  using Embed = typename A::embed;
  using HeadDim = typename A::head_dim;
  using ValueDim = axis_of<A, roles::value_dim>;
  using KeyWidth = axis_of<A, roles::key_width>;
  using ValueWidth = axis_of<A, roles::value_width>;
  using Queries = query_heads<A>;
  using Keys = key_heads<A>;
  static constexpr bool same_heads = std::same_as<Queries, shape<typename A::heads>> &&
                                     std::same_as<Keys, Queries> && std::same_as<HeadDim, ValueDim>;
  static constexpr bool same_widths =
      std::same_as<Embed, KeyWidth> && std::same_as<Embed, ValueWidth>;

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
      using Heads = typename A::heads;
      return split_qkv<Heads>(weight<"in_proj_weight", Embed, HeadDim>(s, shape<in_proj<Heads>>{}));
    } else {
      return qkv{weight<"q_proj_weight", Embed, HeadDim>(s, Queries{}),
                 weight<"k_proj_weight", KeyWidth, HeadDim>(s, Keys{}),
                 weight<"v_proj_weight", ValueWidth, ValueDim>(s, Keys{})};
    }
  }
  static constexpr auto biases(scope s) {
    if constexpr (same_heads) {
      using Heads = typename A::heads;
      return split_qkv<Heads>(bias<"in_proj_bias", HeadDim>(s, shape<in_proj<Heads>>{}));
    } else {
      return qkv{bias<"q_proj_bias", HeadDim>(s, Queries{}),
                 bias<"k_proj_bias", HeadDim>(s, Keys{}), bias<"v_proj_bias", ValueDim>(s, Keys{})};
    }
  }
};

}  // namespace weft::nn::detail
#include "weft/header_end.hpp"
