// Sliding windows along an axis.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>

#include "weft/graph/reject.hpp"
#include "weft/graph/tensor.hpp"
#include "weft/ops/pad.hpp"

namespace weft {

// The geometry of windows, in elements of the axis. stride and dilation are at least 1.
struct window {
  std::size_t stride = 1;    // from the start of a window to the start of the next one
  std::size_t dilation = 1;  // from an element of a window to the next one
  std::size_t left = 0;      // elements of padding before the axis
  std::size_t right = 0;     // and after it
  padding_mode outside = padding_mode::zeros;  // what these are
};

namespace detail {

// Pos with the padding at its ends.
template <class Pos, window W>
struct padded {
  static constexpr std::size_t extent = W.left + Pos::extent + W.right;
  static constexpr bool bounded = Pos::bounded;
};

// The number of windows of `taps` elements in an axis.
constexpr std::size_t window_count(std::size_t extent, std::size_t taps, const window& w) {
  const std::size_t whole = w.left + extent + w.right;
  const std::size_t reach = w.dilation * (taps - 1);
  return whole > reach ? (whole - reach - 1) / w.stride + 1 : 0;
}

// The extents of the windows' axis, for the compiler's message.
template <std::size_t HasToBe, std::size_t Is>
struct windows_extent {};
template <rule Broken, class Pos, class Out, class Tap, window W>
struct extent_of_windows {
  using type = void;
};
template <class Pos, class Out, class Tap, window W>
struct extent_of_windows<rule::extent, Pos, Out, Tap, W> {
  using type = windows_extent<window_count(Pos::extent, Tap::extent, W), Out::extent>;
};

template <class X, class Pos, class Out, class Tap, window W>
constexpr rule rule_of_windows() {
  if constexpr (!has_axis<Pos, shape_t<X>>) {
    return rule::missing;
  } else if constexpr (!axis_like<Out> || !axis_like<Tap>) {
    return rule::not_an_axis;
  } else {
    using S = replaced<shape_t<X>, Pos, shape<Out, Tap>>;
    if (!distinct<S> || std::is_same_v<Tap, Pos>) return rule::taken;
    if (Tap::bounded) return rule::taps;
    if (W.stride == 0 || W.dilation == 0) return rule::steps;
    if (Out::extent != window_count(Pos::extent, Tap::extent, W)) return rule::extent;
    const bool keeps = W.stride == 1 && W.left + W.right == W.dilation * (Tap::extent - 1);
    if (Out::bounded != Pos::bounded || (Out::bounded && same_length<Out, Pos> && !keeps))
      return rule::bounded;
    if (S::rank > max_rank) return rule::rank;
    if constexpr (W.left + W.right > 0)
      if (rule_of_pad<X, Pos, padded<Pos, W>, padding{W.left, W.right, W.outside}, zero>() !=
          rule::none)
        return rule::count;
    return rule::none;
  }
}

}  // namespace detail

// The elements of each window: windows<Pos, Out, Tap, W>(x [..., Pos, ...]) is [..., Out, Tap, ...]
// of x's dtype with element [o, t] = x[stride * o + dilation * t - left], outside of x as W.outside
// says (torch.nn.Unfold in one dimension; torch.Tensor.unfold without dilation and padding). Out's
// length is the number of windows, (length + left + right - dilation (Tap - 1) - 1) / stride + 1,
// rounded down, and 0 where that is negative; Out may be Pos, or an alias of it, where that is
// Pos's length. Tap has a fixed extent. Padding copies the operand once; the windows themselves are
// a strided view. Misuse does not compile: see the WEFT_REJECT overloads.
//
//   windows<Pos, Pos, Tap, weft::window{.left = 2}>(x)     // each position and the two before it
template <class Pos, class Out, class Tap, window W = window{}, expression X>
requires(detail::rule_of_windows<X, Pos, Out, Tap, W>() ==
         rule::none) constexpr auto windows(const X& x) {
  if constexpr (W.left + W.right > 0) {
    using Whole = detail::padded<Pos, W>;
    const auto whole = pad<Pos, Whole, padding{W.left, W.right, W.outside}>(x);
    return windows<Whole, Out, Tap, window{W.stride, W.dilation}>(whole);
  } else {
    node n = make_node(op::unfold, axes_of(shape<Pos, Out, Tap>{}));
    window_stride(n) = static_cast<std::int64_t>(W.stride);
    window_dilation(n) = static_cast<std::int64_t>(W.dilation);
    return append<element_t<X>, replaced<shape_t<X>, Pos, shape<Out, Tap>>>(n, x);
  }
}
WEFT_REJECT_IF((class Pos, class Out, class Tap, window W = window{}, expression X,
                class Extent = typename detail::extent_of_windows<
                    detail::rule_of_windows<X, Pos, Out, Tap, W>(), Pos, Out, Tap, W>::type),
               (detail::rule_of_windows<X, Pos, Out, Tap, W>()), windows(const X&),
               WEFT_NO_SUCH_AXIS("windows"), WEFT_NEW_IS_NO_AXIS("windows"),
               (taken, "windows: a new axis is named twice, or the operand has it already"),
               (taps, "windows: the number of places in a window is known while compiling"),
               (steps, "windows: stride and dilation are at least 1"),
               (extent,
                "windows: the extent of the windows' axis is not (extent + left + right - "
                "dilation * (taps - 1) - 1) / stride + 1; see windows_extent<has to be, is>"),
               (bounded,
                "windows: a length known at run time only gives such a length, of an axis that is "
                "Pos or an alias of it only if there are as many windows as elements"),
               (rank, "windows: the result has more than 8 axes"),
               (count, "windows: an axis reflects fewer elements than it has, 16777216 at most"))

}  // namespace weft
#include "weft/header_end.hpp"
