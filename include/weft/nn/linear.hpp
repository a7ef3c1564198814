// Affine layers.
#pragma once

#include "weft/graph/reject.hpp"
#include "weft/graph/scope.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/dot.hpp"

namespace weft::nn {

namespace detail {

// A layer checks its own arguments, so that the compiler reports the error at the user's line.
template <expression X, class... In, class... Out>
constexpr rule rule_of_lists(shape<In...>, shape<Out...>) {
  if (sizeof...(In) == 0 || !(axis_like<In> && ...) || !(axis_like<Out> && ...)) return rule::list;
  if (!(has_axis<In, shape_t<X>> && ...)) return rule::missing;
  if (!weft::detail::floating<X>) return rule::elements;
  if (!distinct<shape<Out..., In...>>) return rule::twice;
  constexpr int rank = united_rank<shape_t<X>, shape<Out...>>;
  if (rank > max_rank) return rule::rank;
  return rule::none;
}
template <expression X, class In, class Out>
constexpr rule rule_of_linear() {
  if constexpr (requires { rule_of_lists<X>(In{}, Out{}); })
    return rule_of_lists<X>(In{}, Out{});
  else
    return rule::list;
}

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

#define WEFT_LINEAR_RULES(name)                                                                   \
  (missing, name ": the operand has no such axis"),                                               \
      (elements, name ": the elements are not float; convert with weft::cast<float>"),            \
      (twice,                                                                                     \
       name ": an axis is named twice; give the second role a name of its own with weft::alias"), \
      (rank, name ": the operands have more than 8 axes between them")

// x Wᵀ without a bias: x float [..., In...] to float [..., Out...]. In and Out are lists of axes
// without a common one: linear_without_bias<shape<Embed>, shape<Heads, HeadDim>>(s, x [..., Embed])
// is [..., Heads, HeadDim]. Parameter: weight [Out..., In...], initially uniform in ±1 /
// sqrt(product of In's extents), laid out and initialised as torch.nn.Linear(bias=False)'s. Misuse
// does not compile: see the WEFT_REJECT overloads.
template <class In, class Out, expression X>
constexpr auto linear_without_bias(scope s, const X& x) {
  return detail::contract(In{}, x, detail::linear_weight(s, In{}, Out{}));
}
template <class In, class Out, expression X>
requires(detail::rule_of_linear<X, In, Out>() != rule::none)
    WEFT_REJECT((detail::rule_of_linear<X, In, Out>()), linear_without_bias(scope, const X&),
                (list,
                 "nn::linear_without_bias: In and Out are lists of axes, as in "
                 "linear_without_bias<shape<Embed>, shape<Hidden>>(s, x)"),
                WEFT_LINEAR_RULES("nn::linear_without_bias"))
template <class In, class Out, expression X, class Third, class... More>
WEFT_REJECT(
    (rule::count), linear_without_bias(scope, const X&, const Third&, const More&...),
    (count,
     "nn::linear_without_bias: it takes a scope and an operand, and no more; a parameter that is "
     "initialised otherwise is s.param<...>(init::...) and weft::dot"))

// x Wᵀ + b, as torch.nn.Linear: x float [..., In...] to float [..., Out...]. Parameters: weight
// [Out..., In...] as above, and bias [Out...], initialised alike.
template <class In, class Out, expression X>
constexpr auto linear(scope s, const X& x) {
  const auto y = linear_without_bias<In, Out>(s, x);
  return y + detail::linear_bias(s, In{}, Out{});
}
template <class In, class Out, expression X>
requires(detail::rule_of_linear<X, In, Out>() != rule::none) WEFT_REJECT(
    (detail::rule_of_linear<X, In, Out>()), linear(scope, const X&),
    (list,
     "nn::linear: In and Out are lists of axes, as in linear<shape<Embed>, shape<Hidden>>(s, x)"),
    WEFT_LINEAR_RULES("nn::linear"))
template <class In, class Out, expression X, class Third, class... More>
WEFT_REJECT((rule::count), linear(scope, const X&, const Third&, const More&...),
            (count,
             "nn::linear: it takes a scope and an operand, and no more; without a bias it is "
             "nn::linear_without_bias, and a sum or a function of it is written around it"))
#undef WEFT_LINEAR_RULES

namespace detail {

  // nn::linear, or nn::linear_without_bias, as an option says.
  template <class In, class Out, expression X>
  constexpr auto affine(scope s, const X& x, bool bias) {
    return bias ? linear<In, Out>(s, x) : linear_without_bias<In, Out>(s, x);
  }

}  // namespace detail

template <class... Axes, class... Args>
WEFT_REJECT((rule::no_axes), linear(scope, const Args&...),
            (no_axes, "nn::linear: it is called as linear<shape<Embed>, shape<Hidden>>(s, x)"))

}  // namespace weft::nn
