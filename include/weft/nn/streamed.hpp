// Layers of signals that arrive in frames: what they need of earlier frames is a state, so that
// frames of any sizes give what one run over the whole signal gives. module::reset begins a new
// signal, reset<Batch>(i) one of a batch.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/reject.hpp"
#include "weft/nn/convolution.hpp"
#include "weft/nn/recurrent.hpp"
#include "weft/ops/compare.hpp"
#include "weft/ops/concatenate.hpp"
#include "weft/ops/gather.hpp"
#include "weft/ops/mask.hpp"
#include "weft/ops/pad.hpp"
#include "weft/ops/sources.hpp"

namespace weft::nn {

// The geometry of windows that end with a stride of new elements, and are padded before the first:
// W with .left = dilation * (taps - 1) + 1 - stride. No window waits for a later frame.
constexpr window causal_window(std::size_t taps, window w = {}) {
  w.left = w.dilation * (taps - 1) + 1 - w.stride;
  return w;
}

namespace detail {

// The elements that are kept from frame to frame.
template <class Pos, std::size_t Kept>
struct tail : axis<Kept> {};
// A frame after them; a weft::error about what it has to be names it.
template <class Pos, window W>
struct frame_of_whole_strides_beyond_its_reflection : weft::detail::padded<Pos, W> {};

// x after the last W.left elements of earlier frames, or before the first the padding: [..., Pos,
// ...] to [..., frame_of_whole_strides_beyond_its_reflection<Pos, W>, ...].
template <class Pos, window W, expression X, class... Kept, class... Rest>
constexpr auto after_tail(scope s, const X& x, shape<Kept...>, shape<Rest...>) {
  using Tail = tail<Pos, W.left>;
  using Whole = frame_of_whole_strides_beyond_its_reflection<Pos, W>;
  constexpr auto kept = static_cast<std::int32_t>(W.left);
  constexpr auto stride = static_cast<std::int32_t>(W.stride);
  const auto now =
      weft::append<std::int32_t, shape<>>(make_node(op::length, axes_of(shape<Pos>{})));
  const auto past = s.template state<"tail", element_t<X>, Kept...>();
  const auto update = [&](const auto& before, const auto& wrong) {
    const auto whole = concatenate<Whole, shape<Tail, Pos>>(before, x);
    const auto last = where(wrong, -1, positions<Tail>() + now);
    s.update(past, weft::detail::at_indices<Whole, shape<Kept...>>(whole, last));
    return whole;
  };
  const auto parts = cast<float>(now) / static_cast<float>(stride);
  const auto cut = parts > round(parts) || parts < round(parts);
  if constexpr (W.outside == padding_mode::zeros) {
    return update(past, cut);
  } else {
    const auto begun = s.template state<"begun", bool, Rest...>();
    s.update(begun, begun || now > 0);
    const auto at =
        W.outside == padding_mode::replicated ? positions<Tail>() * 0 : kept - positions<Tail>();
    const auto padding = weft::detail::gather_with<0, Pos>(x, at);
    const auto before = broadcast<Kept...>(where(begun, past, padding));
    if constexpr (W.outside == padding_mode::replicated)
      return update(before, cut);
    else
      return update(before, cut || (!begun && now > 0 && now <= kept));
  }
}
// Whether windows end with a frame, which is whole strides, or its tail's index shows it.
template <class Pos, std::size_t Taps, window W>
inline constexpr bool is_causal = W.stride > 0 && W.right == 0 &&
                                  W.left + W.stride == W.dilation*(Taps - 1) + 1 &&
                                  (Pos::bounded ? W.left > 0 || W.stride == 1
                                                : Pos::extent % W.stride == 0);

}  // namespace detail

// weft::windows of a signal that arrives in frames along Pos, of any lengths that are multiples of
// the stride: windows<Pos, Out, Tap, W> with a causal_window. Another length is a weft::error, and
// so is a first frame that is not longer than a padding that is reflected. States: tail, the last
// W.left elements, and with a padding that is not zeros begun. For a pooling, take the maximum or
// the mean over Tap; beside zeros, the maximum has no padding where it is replicated.
template <class Pos, class Out, class Tap, window W, expression X>
constexpr auto streamed_windows(scope s, const X& x) {
  static_assert(detail::is_causal<Pos, Tap::extent, W>,
                "nn::streamed_windows: frames are whole strides, whose windows are an "
                "nn::causal_window(taps)");
  if constexpr (W.left == 0)
    return windows<Pos, Out, Tap, W>(x);
  else
    return windows<detail::frame_of_whole_strides_beyond_its_reflection<Pos, W>, Out, Tap,
                   window{W.stride, W.dilation}>(detail::after_tail<Pos, W>(
        s, x, replaced<shape_t<X>, Pos, shape<detail::tail<Pos, W.left>>>{},
        without<shape_t<X>, shape<Pos>>{}));
}

namespace detail {

template <class In, class Out, std::size_t Groups, expression X, class Pos, std::size_t Taps,
          window W, class... Over>
constexpr auto convolve_frames(scope s, const X& x, bool has_bias, along<Pos, Taps, W>,
                               Over... others) {
  return convolve_windows<In, Out, Groups>(
      s, x, has_bias,
      [&](const auto& channels) {
        return windows_over(
            streamed_windows<Pos, convolved<Pos, Taps, W>, tap<Pos, Taps>, W>(s, channels),
            others...);
      },
      along<Pos, Taps, W>{}, others...);
}
template <class Pos, std::size_t Taps, window W>
constexpr bool is_streamed(along<Pos, Taps, W>, ...) {
  return is_causal<Pos, Taps, W>;
}
template <expression X, class C, class Out, class... Over>
constexpr rule rule_of_streamed_convolution() {
  if constexpr (sizeof...(Over) == 0) {
    return rule::list;
  } else {
    constexpr rule of_whole = rule_of_convolution<X, C, Out>(Over{}...);
    if constexpr (of_whole == rule::none || of_whole == rule::count)
      return is_streamed(Over{}...) ? rule::none : rule::bounded;
    else
      return of_whole;
  }
}

}  // namespace detail

// nn::convolution of a signal that arrives in frames along the first of the axes, which has a
// causal_window; the others are as there. Parameters and results are those of the convolution;
// states and frames as with streamed_windows.
//
//   nn::streamed_convolution<In, Out, nn::along<Pos, 3, nn::causal_window(3)>>(s / "conv", x)
template <class In, class Out, class... Over, expression X>
requires(detail::rule_of_streamed_convolution<X, detail::read_of<In>, Out, Over...>() ==
         rule::none) constexpr auto streamed_convolution(scope s, const X& x,
                                                         linear_options options = {}) {
  using C = detail::read_of<In>;
  return detail::convolve_frames<typename C::channels, Out, C::groups>(s, x, options.bias,
                                                                       Over{}...);
}
WEFT_REJECT_IF(
    (class In, class Out, class... Over, expression X),
    (detail::rule_of_streamed_convolution<X, detail::read_of<In>, Out, Over...>()),
    streamed_convolution(scope, const X&, linear_options = {}),
    (bounded,
     "nn::streamed_convolution: frames are whole strides along the first axis, whose windows are "
     "an nn::causal_window(taps)"),
    WEFT_CONVOLUTION_RULES(
        "nn::streamed_convolution",
        "streamed_convolution<In, Out, nn::along<Pos, 3, nn::causal_window(3)>>(s, x)"))
#undef WEFT_CONVOLUTION_RULES

namespace detail {

template <class... Axes>
constexpr auto kept_state(scope s, tensor<float, shape<Axes...>>*) {
  return s.state<"h", float, Axes...>();
}
template <class T, class... Axes>
constexpr auto kept_state(scope s, std::tuple<T, tensor<float, shape<Axes...>>>*) {
  return std::tuple{s.state<"h", float, Axes...>(), s.state<"c", float, Axes...>()};
}
constexpr void keep(scope s, const auto& before, const auto& after) {
  if constexpr (requires { std::get<1>(before); }) {
    s.update(std::get<0>(before), std::get<0>(after));
    s.update(std::get<1>(before), std::get<1>(after));
  } else {
    s.update(before, after);
  }
}

template <template <class, class> class Cell, class Pos, class In, class Hidden, recurrence R,
          expression X>
constexpr rule rule_of_streamed_layers() {
  constexpr rule of_layers = rule_of_layers<Cell, Pos, In, Hidden, R, X>();
  if (of_layers != rule::none) return of_layers;
  return R.bidirectional || R.direction == backwards ? rule::steps : rule::none;
}

template <template <class, class> class Cell, class Pos, class In, class Hidden, recurrence R,
          expression X>
constexpr auto streamed_layers(scope s, const X& x) {
  using kept = state_of<Cell<In, Hidden>, state_shape<Pos, In, Hidden, X>>;
  return [&]<std::size_t... L>(std::index_sequence<L...>) {
    const std::array before{kept_state(s / L, static_cast<kept*>(nullptr))...};
    const auto y = recurrent_layers<Cell, Pos, In, Hidden, R>(s, x, before[L]...);
    if constexpr (sizeof...(L) == 1)
      keep(s / 0, before[0], y.last);
    else
      (keep(s / L, before[L], y.last[L]), ...);
    return y;
  }
  (std::make_index_sequence<R.layers>{});
}

}  // namespace detail

#define WEFT_REJECT_STREAMED(layer)                                                            \
  WEFT_REJECT_IF(                                                                              \
      (class Pos, class In, class Hidden, recurrence R = recurrence{}, expression X),          \
      (detail::rule_of_streamed_layers<layer##_cell, Pos, In, Hidden, R, X>()),                \
      streamed_##layer(scope, const X&),                                                       \
      (no_axes, "nn::streamed_" #layer                                                         \
                ": name three axes, of fixed extents but the first, as in streamed_" #layer    \
                "<Pos, In, Hidden>(s, x)"),                                                    \
      (count,                                                                                  \
       "nn::streamed_" #layer ": layers have the numbers 0 to 99, and there is at least one"), \
      (steps, "nn::streamed_" #layer ": a stream has no end to run backwards from"),           \
      WEFT_NO_SUCH_AXIS("nn::streamed_" #layer), WEFT_NOT_FLOAT("nn::streamed_" #layer))

// nn::gru of a signal that arrives in frames along Pos, forwards. States: LAYER.h [..., Hidden],
// zeros at first.
template <class Pos, class In, class Hidden, recurrence R = recurrence{}, expression X>
requires(detail::rule_of_streamed_layers<gru_cell, Pos, In, Hidden, R, X>() ==
         rule::none) constexpr auto streamed_gru(scope s, const X& x) {
  return detail::streamed_layers<gru_cell, Pos, In, Hidden, R>(s, x);
}
WEFT_REJECT_STREAMED(gru)

// nn::lstm likewise. States: LAYER.h and LAYER.c.
template <class Pos, class In, class Hidden, recurrence R = recurrence{}, expression X>
requires(detail::rule_of_streamed_layers<lstm_cell, Pos, In, Hidden, R, X>() ==
         rule::none) constexpr auto streamed_lstm(scope s, const X& x) {
  return detail::streamed_layers<lstm_cell, Pos, In, Hidden, R>(s, x);
}
WEFT_REJECT_STREAMED(lstm)

#undef WEFT_REJECT_STREAMED

}  // namespace weft::nn
#include "weft/header_end.hpp"
