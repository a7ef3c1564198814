// Affine layers.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/scope.hpp"
#include "weft/nn/detail.hpp"
#include "weft/nn/layer_rules.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/dot.hpp"

namespace weft::nn {

// Options of nn::linear and nn::convolution.
struct linear_options {
  bool bias = true;  // whether b is added
};

namespace detail {

// The axes of an operand or a result: one axis is a list of one.
template <class A>
struct list_of {
  using type = shape<A>;
};
template <class... A>
struct list_of<shape<A...>> {
  using type = shape<A...>;
};
template <class Axes>
using list_of_t = typename list_of<Axes>::type;

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
  return rule_of_lists<X>(list_of_t<In>{}, list_of_t<Out>{});
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

// x Wᵀ + b, as torch.nn.Linear: x float [..., In...] to float [..., Out...]. In and Out are each an
// axis or a list of axes, and have none in common: linear<Embed, shape<Heads, HeadDim>>(s, x [...,
// Embed]) is [..., Heads, HeadDim]. Parameters: weight [Out..., In...] and, with options.bias, bias
// [Out...], initially uniform in ±1 / sqrt(product of In's extents). Misuse does not compile: see
// the WEFT_REJECT overloads.
template <class In, class Out, expression X>
constexpr auto linear(scope s, const X& x, linear_options options = {}) {
  using From = detail::list_of_t<In>;
  using To = detail::list_of_t<Out>;
  const auto y = detail::contract(From{}, x, detail::linear_weight(s, From{}, To{}));
  return options.bias ? y + detail::linear_bias(s, From{}, To{}) : y;
}
WEFT_REJECT_IF(
    (class In, class Out, expression X), (detail::rule_of_linear<X, In, Out>()),
    linear(scope, const X&, linear_options = {}),
    (list,
     "nn::linear: In and Out are axes, or lists of axes, as in linear<Embed, Hidden>(s, x) or "
     "linear<Embed, shape<Heads, HeadDim>>(s, x)"),
    WEFT_NO_SUCH_AXIS("nn::linear"), WEFT_NOT_FLOAT("nn::linear"), WEFT_AXIS_TWICE("nn::linear"),
    WEFT_TOO_MANY_AXES("nn::linear"))
template <class In, class Out, expression X, class Third, class... More>
requires(!std::same_as<Third, linear_options> || sizeof...(More) > 0)
    WEFT_REJECT((rule::count), linear(scope, const X&, const Third&, const More&...),
                (count,
                 "nn::linear: it takes a scope, an operand and options, as in linear<Embed, "
                 "Hidden>(s, x, {.bias = false}); a parameter that is initialized otherwise is "
                 "s.param<...>(init::...) and weft::dot"))

WEFT_REJECT_OTHER_CALLS(linear, "linear<Embed, Hidden>(s, x)")

// Options of nn::lora.
struct lora_options {
  double alpha = 8;    // the update is times alpha / Rank
  bool bias = true;    // of the linear layer
  double dropout = 0;  // the rate at which elements of x are dropped for the update, in training
};

// linear<In, Out> with an update of low rank (Hu et al. 2021, section 4.1): x Wᵀ + b + alpha / Rank
// (x Aᵀ) Bᵀ, as peft's LoraConfig(r=Rank, lora_alpha=alpha). Parameters, beside those of linear, so
// that a file of the plain model has these, and a file of peft's the others: lora_A.weight [Rank,
// In...], initially as the weight of a linear layer, and lora_B.weight [Out..., Rank], zeros.
// weft::train_only<Model, "*.lora_*"> trains the update alone; weft::merged_lora adds it to W.
template <class In, class Out, class Rank, expression X>
constexpr auto lora(scope s, const X& x, lora_options options = {}) {
  const auto low =
      linear<In, Rank>(s / "lora_A", detail::dropped(x, options.dropout), {.bias = false});
  const auto b = (s / "lora_B").param<"weight", Out, Rank>(init::zeros());
  return linear<In, Out>(s, x, {.bias = options.bias}) +
         dot<Rank>(low, b) * (options.alpha / Rank::extent);
}
WEFT_REJECT_IF((class In, class Out, class Rank, expression X),
               (detail::rule_of_linear<X, In, weft::detail::joined<Out, Rank>>()),
               lora(scope, const X&, lora_options = {}),
               (list, "nn::lora: In and Out are axes or lists of axes, Rank is an axis"),
               WEFT_NO_SUCH_AXIS("nn::lora"), WEFT_NOT_FLOAT("nn::lora"),
               WEFT_AXIS_TWICE("nn::lora"), WEFT_TOO_MANY_AXES("nn::lora"))
WEFT_REJECT_OTHER_CALLS(lora, "lora<Embed, Hidden, Rank>(s, x, {.alpha = 16})")

}  // namespace weft::nn
#include "weft/header_end.hpp"
