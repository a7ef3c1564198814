// Affine layers and the feed-forward network.
#pragma once

#include "weft/graph/scope.hpp"
#include "weft/ops/dot.hpp"
#include "weft/ops/elementwise.hpp"

namespace weft::nn {

namespace detail {

template <class... In, class... Out>
constexpr auto linear_weight(scope s, shape<In...>, shape<Out...>) {
  return s.param<"weight", Out..., In...>(init::fan_in_uniform<In...>());
}
template <class... In, class... Out>
constexpr auto linear_bias(scope s, shape<In...>, shape<Out...>) {
  return s.param<"bias", Out...>(init::fan_in_uniform<In...>());
}
template <class... In, expression X, expression W>
constexpr auto contract(shape<In...>, const X& x, const W& w) {
  return dot<In...>(x, w);
}

}  // namespace detail

// x W without a bias. In and Out are lists of axes: linear_without_bias<shape<Embed>, shape<Heads,
// HeadDim>>(s, x [..., Embed]) is [..., Heads, HeadDim]. Parameter: weight [Out..., In...], in the
// order and with the beginning of torch.nn.Linear(bias=False).
template <class In, class Out, expression X>
constexpr auto linear_without_bias(scope s, const X& x) {
  return detail::contract(In{}, x, detail::linear_weight(s, In{}, Out{}));
}

// x W + b. Parameters: weight [Out..., In...] and bias [Out...], as torch.nn.Linear.
template <class In, class Out, expression X>
constexpr auto linear(scope s, const X& x) {
  auto const y = linear_without_bias<In, Out>(s, x);
  return y + detail::linear_bias(s, In{}, Out{});
}

// The position-wise network of Vaswani et al. 2017, equation 2, with GELU in the place of max(0,
// x): linear2(gelu(linear1(x))). Parameters under "linear1" and "linear2".
template <class Embed, class Hidden, expression X>
constexpr auto feed_forward(scope s, const X& x) {
  auto const hidden = gelu(linear<shape<Embed>, shape<Hidden>>(s / "linear1", x));
  return linear<shape<Hidden>, shape<Embed>>(s / "linear2", hidden);
}

}  // namespace weft::nn
