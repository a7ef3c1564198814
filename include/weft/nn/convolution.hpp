// Convolution.
#pragma once
#include "weft/header_begin.hpp"

#include <type_traits>

#include "weft/graph/scope.hpp"
#include "weft/nn/layer_rules.hpp"
#include "weft/nn/linear.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/dot.hpp"
#include "weft/ops/reduce.hpp"
#include "weft/ops/view.hpp"
#include "weft/ops/windows.hpp"

namespace weft::nn {

// The axis of the taps of a kernel along Pos, in the weight of nn::convolution.
template <class Pos, std::size_t Taps>
struct tap : axis<Taps> {};

namespace detail {

// The axis of the windows.
template <class Pos, std::size_t Taps, window W>
struct places {
  static constexpr std::size_t extent =
      W.stride == 0 ? 0 : weft::detail::window_count(Pos::extent, Taps, W);
  static constexpr bool bounded = Pos::bounded;
};

}  // namespace detail

// What a convolution over Pos makes of it: Pos itself where its length is kept, as with {.left = 1,
// .right = 1} and three taps, or the causal {.left = 2}; else an axis of weft::windows's length. A
// name of your own for it is an alias, by weft::rename.
template <class Pos, std::size_t Taps, window W = window{}>
using convolved =
    std::conditional_t<W.stride == 1 && W.left + W.right + W.dilation == W.dilation * Taps, Pos,
                       detail::places<Pos, Taps, W>>;

// An axis that a convolution runs along, with so many taps. The geometry W has stride, dilation and
// padding: zeros, or with W.outside what weft::padding_mode says.
template <class Pos, std::size_t Taps, window W = window{}>
struct along {};
// The channels In in so many groups, each of which has weights of its own.
template <class In, std::size_t Groups>
struct in_groups {
  using channels = In;                           // all of them
  static constexpr std::size_t groups = Groups;  // that they are divided into
};

namespace detail {

// The axis that In is contracted as, so that Out may be the same axis.
template <class In>
struct contracted : alias<In> {};
// How channels are read: all of them, or groups of them.
template <class In>
struct read_of : in_groups<In, 1> {};
template <class In, std::size_t Groups>
struct read_of<in_groups<In, Groups>> : in_groups<In, Groups> {};
template <std::size_t Groups>
struct group : axis<Groups> {};
template <class Channels, std::size_t Groups>
struct of_group : axis<Channels::extent / Groups> {};

// The windows along each of the axes.
template <expression X>
constexpr X windows_over(const X& x) {
  return x;
}
template <expression X, class Pos, std::size_t Taps, window W, class... Over>
constexpr auto windows_over(const X& x, along<Pos, Taps, W>, Over... others) {
  return windows_over(windows<Pos, convolved<Pos, Taps, W>, tap<Pos, Taps>, W>(x), others...);
}

// The convolution of what windows_of makes of the channels, as windows_over does.
template <class In, class Out, std::size_t Groups, expression X, class F, class... Pos,
          std::size_t... Taps, window... W>
constexpr auto convolve_windows(scope s, const X& x, bool has_bias, const F& windows_of,
                                along<Pos, Taps, W>...) {
  using All = contracted<In>;
  using From = std::conditional_t<Groups == 1, All, of_group<All, Groups>>;
  const auto init = init::fan_in_uniform<From, tap<Pos, Taps>...>();
  const auto weight = s.param<"weight", Out, From, tap<Pos, Taps>...>(init);
  const auto bias = [&] { return s.param<"bias", Out>(init); };
  if constexpr (Groups == 1) {
    const auto y = dot<tap<Pos, Taps>..., From>(windows_of(rename<In, From>(x)), weight);
    return has_bias ? y + bias() : y;
  } else {
    using To = of_group<Out, Groups>;
    const auto grouped = split<Out, group<Groups>, To>(weight);
    const auto seen = windows_of(split<In, group<Groups>, From>(x));
    const auto y = [&] {
      if constexpr (From::extent == 1)  // vectors along the groups
        return sum<tap<Pos, Taps>..., From>(seen * grouped);
      else
        return dot<tap<Pos, Taps>..., From>(seen, grouped);
    }();
    const auto result = has_bias ? y + split<Out, group<Groups>, To>(bias()) : y;
    return merge<Out, group<Groups>, To>(result);
  }
}
template <class In, class Out, std::size_t Groups, expression X, class... Over>
constexpr auto convolve(scope s, const X& x, bool has_bias, Over... axes) {
  return convolve_windows<In, Out, Groups>(
      s, x, has_bias, [&](const auto& channels) { return windows_over(channels, axes...); },
      axes...);
}

template <expression X, class C, class Out>
constexpr rule rule_of_convolution(...) {
  return rule::list;
}
template <expression X, class C, class Out, class... Pos, std::size_t... Taps, window... W>
constexpr rule rule_of_convolution(along<Pos, Taps, W>...) {
  using In = typename C::channels;
  if constexpr (sizeof...(Pos) == 0 || ((Taps == 0) || ...)) {
    return rule::list;
  } else if constexpr (!axis_like<Out> || !has_axis<In, without<shape_t<X>, shape<Pos...>>> ||
                       !distinct<shape<Pos...>> || !(axis_like<Pos> && ...)) {
    return rule::missing;
  } else if constexpr (C::groups == 0 || In::extent % C::groups + Out::extent % C::groups > 0) {
    return rule::inner;
  } else {
    if (!weft::detail::floating<X>) return rule::elements;
    if (has_axis<Out, without<shape_t<X>, shape<In>>>) return rule::twice;
    for (const rule r :
         {weft::detail::rule_of_windows<X, Pos, convolved<Pos, Taps, W>, tap<Pos, Taps>, W>()...})
      if (r != rule::none) return r;
    if (((convolved<Pos, Taps, W>::extent == 0) || ...)) return rule::extent;
    constexpr int rank = shape_t<X>::rank + int{sizeof...(Pos)} + (C::groups > 1);
    return rank > max_rank ? rule::rank : rule::none;
  }
}

}  // namespace detail

// torch.nn.Conv1d and Conv2d, a cross-correlation, over as many axes as are named: y[o, out] =
// bias[out] + the sum over in and t of weight[out, in, t] * x[stride * o + dilation * t - left,
// in]. x is float [..., In, ..., Pos, ...] with its axes in any order. In the result each Pos is
// convolved<Pos, Taps, W>, and Out is the last axis; Out may be In.
//
//   nn::convolution<In, Out, nn::along<Row, 3, same>, nn::along<Column, 1>>(s / "conv", x)
//   nn::convolution<nn::in_groups<In, 4>, Out, nn::along<Pos, 3>>(s / "conv", x, {.bias = false})
//
// With in_groups<In, G>, the channels In and Out are G groups, one after another, and a group of
// Out reads that of In; Out takes the place of In. A depthwise convolution has G channels.
//
// Parameters, laid out and initialized as PyTorch's: weight [Out, In / G, tap<Pos, Taps>...], and
// with options.bias, bias [Out]: uniform in ±1 / sqrt(In / G × taps). Misuse does not compile: see
// the WEFT_REJECT overloads.
template <class In, class Out, class... Over, expression X>
requires(detail::rule_of_convolution<X, detail::read_of<In>, Out>(Over{}...) ==
         rule::none) constexpr auto convolution(scope s, const X& x, linear_options options = {}) {
  using C = detail::read_of<In>;
  return detail::convolve<typename C::channels, Out, C::groups>(s, x, options.bias, Over{}...);
}

#define WEFT_CONVOLUTION_RULES(name, call)                                                   \
  (list, name ": name channels and axes to run along with their taps, as in " call),         \
      (missing,                                                                              \
       name ": In and what it runs over are different axes of the operand, and Out is one"), \
      (steps, name ": stride and dilation are at least 1"),                                  \
      (extent, name ": the taps reach further than the padded axis"),                        \
      (inner, name ": the number of groups does not divide In and Out"),                     \
      (rank, name ": the windows have more than 8 axes"), WEFT_NOT_FLOAT(name),              \
      WEFT_AXIS_TWICE(name)
WEFT_REJECT_IF((class In, class Out, class... Over, expression X),
               (detail::rule_of_convolution<X, detail::read_of<In>, Out>(Over{}...)),
               convolution(scope, const X&, linear_options = {}),
               (count, "nn::convolution: fewer elements are reflected than the axis has"),
               WEFT_CONVOLUTION_RULES("nn::convolution",
                                      "convolution<In, Out, nn::along<Pos, 3>>(s, x)"))

WEFT_REJECT_OTHER_CALLS(convolution, "convolution<In, Out, nn::along<Pos, 3>>(s, x)")

}  // namespace weft::nn
#include "weft/header_end.hpp"
