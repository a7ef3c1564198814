// 1-D convolution.
#pragma once

#include <type_traits>

#include "weft/graph/scope.hpp"
#include "weft/nn/layer_rules.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/dot.hpp"
#include "weft/ops/elementwise.hpp"
#include "weft/ops/view.hpp"
#include "weft/ops/windows.hpp"

namespace weft::nn {

namespace detail {

// The axis that In is contracted as: an alias where Out is the same axis.
template <class In>
struct contracted : alias<In> {};
template <class In, class Out>
using contracted_axis = std::conditional_t<std::is_same_v<In, Out>, contracted<In>, In>;

template <expression X, class Pos, class OutPos, class Tap, class In, class Out, window W,
          class... Groups>
constexpr rule rule_of_convolution() {
  constexpr rule of_windows = weft::detail::rule_of_windows<X, Pos, OutPos, Tap, W>();
  if constexpr (of_windows != rule::none) {
    return of_windows;
  } else if constexpr (!has_axis<In, shape_t<X>> || std::is_same_v<In, Pos> || !axis_like<Out> ||
                       !(has_axis<Groups, without<shape_t<X>, shape<Pos>>> && ...)) {
    return rule::missing;
  } else {
    if (!weft::detail::floating<X>) return rule::elements;
    if (!distinct<shape<Groups..., Out, contracted_axis<In, Out>, Tap>> ||
        has_axis<In, shape<Groups...>> || has_axis<Out, without<shape_t<X>, shape<In>>> ||
        std::is_same_v<Out, OutPos>)
      return rule::twice;
    return rule::none;
  }
}

}  // namespace detail

// torch.nn.Conv1d, a cross-correlation: y[o, out] = bias[out] + the sum over in and t of
// weight[out, in, t] * x[stride * o + dilation * t - left, in], x being 0 outside of its range. x
// is float [..., Pos, ..., In], the result float [..., OutPos, ..., Out]; OutPos may be Pos if the
// length is kept, as with {.left = 1, .right = 1} and three taps, or the causal {.left = 2}, and
// Out may be In. The length of OutPos is weft::windows'.
//
// With Groups, x [..., Pos, Groups..., In] becomes [..., OutPos, Groups..., Out], each group with
// weights of its own. PyTorch's channels are Groups and In as one axis: split them before, and
// merge Groups and Out afterwards. A depthwise convolution is dot<Tap>(windows<Pos, OutPos, Tap,
// W>(x), weight [Channel, Tap]).
//
// Parameters: weight [Groups..., Out, In, Tap] and bias [Groups..., Out], laid out and initialized
// as torch.nn.Conv1d's: uniform in ±1 / sqrt(In × Tap). Misuse does not compile: see the
// WEFT_REJECT overloads.
template <class Pos, class OutPos, class Tap, class In, class Out, window W = window{},
          class... Groups, expression X>
requires(detail::rule_of_convolution<X, Pos, OutPos, Tap, In, Out, W, Groups...>() ==
         rule::none) constexpr auto convolution(scope s, const X& x) {
  using From = detail::contracted_axis<In, Out>;
  const auto weight =
      s.param<"weight", Groups..., Out, From, Tap>(init::fan_in_uniform<From, Tap>());
  const auto bias = s.param<"bias", Groups..., Out>(init::fan_in_uniform<From, Tap>());
  return dot<Tap, From>(windows<Pos, OutPos, Tap, W>(rename<In, From>(x)), weight) + bias;
}
WEFT_REJECT_IF(
    (class Pos, class OutPos, class Tap, class In, class Out, window W = window{}, class... Groups,
     expression X,
     class Extent = typename weft::detail::extent_of_windows<
         detail::rule_of_convolution<X, Pos, OutPos, Tap, In, Out, W, Groups...>(), Pos, OutPos,
         Tap, W>::type),
    (detail::rule_of_convolution<X, Pos, OutPos, Tap, In, Out, W, Groups...>()),
    convolution(scope, const X&),
    (missing, "nn::convolution: Pos, In and Groups are axes of the operand, and Out is an axis"),
    (not_an_axis, "nn::convolution: OutPos and Tap are axes"),
    (taken, "nn::convolution: OutPos or Tap is named twice, or the operand has it already"),
    (taps, "nn::convolution: the number of taps is known while compiling"),
    (steps, "nn::convolution: stride and dilation are at least 1"),
    (extent,
     "nn::convolution: the extent of OutPos is not (extent + left + right - dilation * (taps - "
     "1) - 1) / stride + 1; see windows_extent<has to be, is>"),
    (bounded,
     "nn::convolution: a length known at run time only gives such a length, of an axis that is "
     "Pos or an alias of it only if there are as many outputs as elements"),
    (rank, "nn::convolution: the windows have more than 8 axes"), WEFT_NOT_FLOAT("nn::convolution"),
    WEFT_AXIS_TWICE("nn::convolution"))

WEFT_REJECT_OTHER_CALLS(convolution, "convolution<Pos, OutPos, Tap, In, Out>(s, x)")

}  // namespace weft::nn
