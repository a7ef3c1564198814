// Convolution over positions.
#pragma once

#include "weft/graph/reject.hpp"
#include "weft/graph/scope.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/dot.hpp"
#include "weft/ops/elementwise.hpp"
#include "weft/ops/windows.hpp"

namespace weft::nn {

namespace detail {

enum class convolution_fault { none, windows, missing, elements, twice };

template <class X, class Pos, class OutPos, class Tap, class In, class Out, window W>
constexpr convolution_fault fault_of_convolution() {
  if constexpr (weft::detail::fault_of_windows<X, Pos, OutPos, Tap, W>() !=
                weft::detail::windows_fault::none) {
    return convolution_fault::windows;
  } else if constexpr (!has_axis<In, shape_t<X>> || std::is_same_v<In, Pos> || !an_axis<Out>) {
    return convolution_fault::missing;
  } else {
    if (!weft::detail::floating<X>) return convolution_fault::elements;
    if (!distinct<shape<Out, In, Tap>> || has_axis<Out, shape_t<X>> || std::is_same_v<Out, OutPos>)
      return convolution_fault::twice;
    return convolution_fault::none;
  }
}

}  // namespace detail

// A 1-D convolution as torch.nn.Conv1d has it, a cross-correlation: y[o, out] = bias[out] + the sum
// over in and t of weight[out, in, t] * x[stride * o + dilation * t - left, in]. x is [..., Pos,
// ..., In], the result [..., OutPos, ..., Out]; OutPos may be Pos where the length stays, as with
// {.left = 1, .right = 1} and three taps, or the causal {.left = 2}. Parameters: weight [Out, In,
// Tap] and bias [Out], in the order and with the beginning of torch.nn.Conv1d.
template <class Pos, class OutPos, class Tap, class In, class Out, window W = window{},
          expression X>
constexpr auto convolution(scope s, const X& x) {
  auto const weight = s.param<"weight", Out, In, Tap>(init::fan_in_uniform<In, Tap>());
  auto const bias = s.param<"bias", Out>(init::fan_in_uniform<In, Tap>());
  return dot<Tap, In>(windows<Pos, OutPos, Tap, W>(x), weight) + bias;
}
template <class Pos, class OutPos, class Tap, class In, class Out, window W = window{},
          expression X>
requires(detail::fault_of_convolution<X, Pos, OutPos, Tap, In, Out, W>() ==
         detail::convolution_fault::windows)
    WEFT_REJECT(
        "nn::convolution: windows<Pos, OutPos, Tap, W>(x) would be refused; it says the reason",
        convolution(scope, const X&))
template <class Pos, class OutPos, class Tap, class In, class Out, window W = window{},
          expression X>
requires(detail::fault_of_convolution<X, Pos, OutPos, Tap, In, Out, W>() ==
         detail::convolution_fault::missing)
    WEFT_REJECT("nn::convolution: In is an axis of the operand beside Pos, and Out an axis",
                convolution(scope, const X&))
template <class Pos, class OutPos, class Tap, class In, class Out, window W = window{},
          expression X>
requires(detail::fault_of_convolution<X, Pos, OutPos, Tap, In, Out, W>() ==
         detail::convolution_fault::elements)
    WEFT_REJECT("nn::convolution: the elements are not float; convert with weft::cast<float>",
                convolution(scope, const X&))
template <class Pos, class OutPos, class Tap, class In, class Out, window W = window{},
          expression X>
requires(detail::fault_of_convolution<X, Pos, OutPos, Tap, In, Out, W>() ==
         detail::convolution_fault::twice)
    WEFT_REJECT(
        "nn::convolution: an axis is named twice; give the second role a name of its own with "
        "weft::alias",
        convolution(scope, const X&))

}  // namespace weft::nn
