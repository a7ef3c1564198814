// Affine layers.
#pragma once

#include "weft/graph/reject.hpp"
#include "weft/graph/scope.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/dot.hpp"

namespace weft::nn {

namespace detail {

// A layer checks its own arguments, so that the compiler reports the error at the user's line.
enum class linear_fault { none, lists, missing, elements, twice, rank };

template <class X, class... In, class... Out>
constexpr linear_fault linear_fault_of(shape<In...>, shape<Out...>) {
  if (sizeof...(In) == 0 || !(axis_like<In> && ...) || !(axis_like<Out> && ...))
    return linear_fault::lists;
  if (!(has_axis<In, shape_t<X>> && ...)) return linear_fault::missing;
  if (!weft::detail::floating<X>) return linear_fault::elements;
  if (!distinct<shape<Out..., In...>>) return linear_fault::twice;
  constexpr int rank = united_rank<shape_t<X>, shape<Out...>>;
  if (rank > max_rank) return linear_fault::rank;
  return linear_fault::none;
}
template <class X, class In, class Out>
constexpr linear_fault fault_of_linear() {
  if constexpr (requires { linear_fault_of<X>(In{}, Out{}); })
    return linear_fault_of<X>(In{}, Out{});
  else
    return linear_fault::lists;
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
requires(detail::fault_of_linear<X, In, Out>() == detail::linear_fault::lists) WEFT_REJECT(
    "nn::linear_without_bias: In and Out are lists of axes, as in "
    "linear_without_bias<shape<Embed>, shape<Hidden>>(s, x)",
    linear_without_bias(scope, const X&))
template <class In, class Out, expression X>
requires(detail::fault_of_linear<X, In, Out>() == detail::linear_fault::missing)
    WEFT_REJECT("nn::linear_without_bias: the operand has no such axis",
                linear_without_bias(scope, const X&))
template <class In, class Out, expression X>
requires(detail::fault_of_linear<X, In, Out>() == detail::linear_fault::elements) WEFT_REJECT(
    "nn::linear_without_bias: the elements are not float; convert with weft::cast<float>",
    linear_without_bias(scope, const X&))
template <class In, class Out, expression X>
requires(detail::fault_of_linear<X, In, Out>() == detail::linear_fault::twice) WEFT_REJECT(
    "nn::linear_without_bias: an axis is named twice; give the second role a name of its own with "
    "weft::alias",
    linear_without_bias(scope, const X&))
template <class In, class Out, expression X>
requires(detail::fault_of_linear<X, In, Out>() == detail::linear_fault::rank)
    WEFT_REJECT("nn::linear_without_bias: the operands have more than 8 axes between them",
                linear_without_bias(scope, const X&))

template <class In, class Out, expression X, class Third, class... More>
WEFT_REJECT(
    "nn::linear_without_bias: it takes a scope and an operand, and no more; a parameter that is "
    "initialised otherwise is s.param<...>(init::...) and weft::dot",
    linear_without_bias(scope, const X&, const Third&, const More&...))

// x Wᵀ + b, as torch.nn.Linear: x float [..., In...] to float [..., Out...]. Parameters: weight
// [Out..., In...] as above, and bias [Out...], initialised alike.
template <class In, class Out, expression X>
constexpr auto linear(scope s, const X& x) {
  auto const y = linear_without_bias<In, Out>(s, x);
  return y + detail::linear_bias(s, In{}, Out{});
}
template <class In, class Out, expression X>
requires(detail::fault_of_linear<X, In, Out>() == detail::linear_fault::lists) WEFT_REJECT(
    "nn::linear: In and Out are lists of axes, as in linear<shape<Embed>, shape<Hidden>>(s, x)",
    linear(scope, const X&))
template <class In, class Out, expression X>
requires(detail::fault_of_linear<X, In, Out>() == detail::linear_fault::missing)
    WEFT_REJECT("nn::linear: the operand has no such axis", linear(scope, const X&))
template <class In, class Out, expression X>
requires(detail::fault_of_linear<X, In, Out>() == detail::linear_fault::elements)
    WEFT_REJECT("nn::linear: the elements are not float; convert with weft::cast<float>",
                linear(scope, const X&))
template <class In, class Out, expression X>
requires(detail::fault_of_linear<X, In, Out>() == detail::linear_fault::twice) WEFT_REJECT(
    "nn::linear: an axis is named twice; give the second role a name of its own with weft::alias",
    linear(scope, const X&))
template <class In, class Out, expression X>
requires(detail::fault_of_linear<X, In, Out>() == detail::linear_fault::rank)
    WEFT_REJECT("nn::linear: the operands have more than 8 axes between them",
                linear(scope, const X&))
template <class In, class Out, expression X, class Third, class... More>
WEFT_REJECT(
    "nn::linear: it takes a scope and an operand, and no more; without a bias it is "
    "nn::linear_without_bias, and a sum or a function of it is written around it",
    linear(scope, const X&, const Third&, const More&...))

}  // namespace weft::nn
