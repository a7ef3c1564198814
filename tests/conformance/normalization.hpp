// ONNX Softmax, LogSoftmax, LayerNormalization and RMSNormalization, along the axes from `axis` on.
#pragma once

#include "conformance/header.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/normalize.hpp"

namespace weft::conformance {

// The axes of the first input, X.
template <const header& H>
struct axes_of_rows {
  static constexpr tensor_facts x = H.inputs[0];
  static constexpr int attribute_axis(double otherwise) {
    const auto axis = static_cast<int>(H.number("axis", otherwise));
    return axis < 0 ? axis + x.rank : axis;
  }

  template <int I>
  struct Dim : axis<x.shape[I]> {};

  template <int First, int... I>
  static constexpr auto from(std::integer_sequence<int, I...>) {
    return shape<Dim<First + I>...>{};
  }
  template <int First, int End>
  using between = decltype(from<First>(std::make_integer_sequence<int, End - First>{}));
  using all = between<0, x.rank>;
};

// Along one axis; before opset 13 along that and all later ones.
template <const header& H>
struct softmax_model {
  using rows = axes_of_rows<H>;
  static constexpr bool to_the_end = H.opset < 13;
  static constexpr int first = rows::attribute_axis(to_the_end ? 1 : -1);
  static constexpr int end = to_the_end ? rows::x.rank : first + 1;

  constexpr auto operator()(scope s) const {
    using along = typename rows::template between<first, end>;
    return as<"y">(apply(input<H, "x">(s, typename rows::all{}), along{}));
  }

 private:
  template <expression X, class... Along>
  static constexpr auto apply(const X& x, shape<Along...>) {
    if constexpr (H.op_type == "LogSoftmax")
      return log_softmax<Along...>(x);
    else
      return softmax<Along...>(x);
  }
};

template <const header& H>
struct layer_normalization {
  using rows = axes_of_rows<H>;
  using along = typename rows::template between<rows::attribute_axis(-1), rows::x.rank>;

  constexpr auto operator()(scope s) const {
    return apply(s, input<H, "X">(s, typename rows::all{}), along{});
  }

 private:
  template <expression X, class... Along>
  static constexpr auto apply(scope s, const X& x, shape<Along...>) {
    constexpr double epsilon = H.number("epsilon", 1e-5);
    const auto scaled = normalize<Along...>(x, {.epsilon = epsilon}) *
                        broadcast_input<H, "W">(s, typename rows::all{});
    const auto average = mean<Along...>(x);
    const auto away = x - average;
    const auto deviation = sqrt(mean<Along...>(away * away) + epsilon);
    return results_in_file<H>(as<"Y">(shifted(s, scaled)), as<"Mean">(average),
                              as<"InvStdDev">(1 / deviation));
  }
  template <expression X>
  static constexpr auto shifted(scope s, const X& x) {
    if constexpr (H.has_input("B"))
      return x + broadcast_input<H, "B">(s, typename rows::all{});
    else
      return x;
  }
};

template <const header& H>
struct rms_normalization {
  using rows = axes_of_rows<H>;
  using along = typename rows::template between<rows::attribute_axis(-1), rows::x.rank>;

  constexpr auto operator()(scope s) const {
    const auto x = input<H, "X">(s, typename rows::all{});
    const auto weight = broadcast_input<H, "W">(s, typename rows::all{});
    return as<"Y">(apply(x, weight, along{}));
  }

 private:
  template <expression X, expression W, class... Along>
  static constexpr auto apply(const X& x, const W& weight, shape<Along...>) {
    return rms_norm<Along...>(x, weight, {.epsilon = H.number("epsilon", 1e-5)});
  }
};

constexpr bool broadcasts_to(const tensor_facts& t, const tensor_facts& whole) {
  for (int i = 0; i < t.rank; ++i)
    if (t.from_behind(i) != 1 && (i >= whole.rank || t.from_behind(i) != whole.from_behind(i)))
      return false;
  return true;
}

constexpr std::string_view refusal_of_rows(const header& h) {
  const double axis = h.number("axis", h.op_type.ends_with("Softmax") && h.opset < 13 ? 1 : -1);
  if (axis < -h.inputs[0].rank || axis >= h.inputs[0].rank) return "the axis is none of the input";
  for (const auto* name : {"W", "B"})
    if (h.has_input(name) && !broadcasts_to(h.input(name), h.inputs[0]))
      return "W or B does not broadcast to X";
  return "";
}

}  // namespace weft::conformance
