// Recurrent layers and their cells. Parameters have PyTorch's names, shapes and initialization: all
// uniform in ±1 / sqrt(Hidden).
#pragma once

#include "weft/graph/reject.hpp"
#include "weft/graph/scope.hpp"
#include "weft/nn/detail.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/convert.hpp"
#include "weft/ops/dot.hpp"
#include "weft/ops/functions.hpp"
#include "weft/ops/scan.hpp"
#include "weft/ops/view.hpp"

namespace weft::nn {

// Hidden as the axis of the previous state, which is contracted: In and Hidden may be the same
// axis.
template <class Hidden>
struct previous_state : alias<Hidden> {};
// In as the axis of the input, which is contracted.
template <class In>
struct cell_input : alias<In> {};
// The rows of a GRU's weights, of the gates reset, update and new in this order.
template <class Hidden>
struct gates : axis<3 * Hidden::extent> {};

namespace detail {

// The axes of the hidden state for an operand x.
template <class Pos, class In, class Hidden, class X>
using state_shape = united<without<shape_t<X>, shape<Pos, In>>, shape<Hidden>>;

template <class H, class S>
concept state_of = expression<H> && subset<shape_t<H>, S> &&
                   shape_t<H>::rank == S::rank&& std::same_as<element_t<H>, float>;

template <class Pos, class In, class Hidden, expression X, class... H>
constexpr rule rule_of_layer() {
  if constexpr (!axis_like<In> || !axis_like<Hidden>) {
    return rule::no_axes;
  } else {
    if (In::bounded || Hidden::bounded) return rule::no_axes;
    if (!has_axis<In, shape_t<X>>) return rule::missing;
    if (!std::same_as<element_t<X>, float>) return rule::elements;
    if (!axis_like<Pos>) return rule::no_axes;
    if (!has_axis<Pos, shape_t<X>>) return rule::missing;
    if (sizeof...(H) > 1 || !(state_of<H, state_shape<Pos, In, Hidden, X>> && ...))
      return rule::initial;
    return rule::none;
  }
}

template <class Pos, class In, class Hidden, class X, class H>
constexpr const H& initial_state_or_zeros(const H& h0) {
  return h0;
}
template <class Pos, class In, class Hidden, class X>
constexpr auto initial_state_or_zeros() {
  return zeros(state_shape<Pos, In, Hidden, X>{});
}

}  // namespace detail

// h' = tanh(W_ih x + b_ih + W_hh h + b_hh), Elman 1990, in the form of torch.nn.RNNCell: x float
// [..., In] and h float [..., Hidden] to h' float [..., Hidden]. Parameters, with Suffix appended
// to each name: weight_ih [Hidden, In], weight_hh [Hidden, Hidden], bias_ih and bias_hh [Hidden].
//
//   nn::rnn_cell<In, Hidden> cell(s / "decoder");
//   auto after = cell(x, h);
//
// A cell may be used in the body of a scan, or once.
template <class In, class Hidden, fixed_string Suffix = "">
class rnn_cell {
 public:
  // Declares the parameters.
  explicit constexpr rnn_cell(scope s)
      : w_ih_(s.param<"weight_ih" + Suffix, Hidden, cell_input<In>>(initial_weights())),
        w_hh_(s.param<"weight_hh" + Suffix, Hidden, previous_state<Hidden>>(initial_weights())),
        b_ih_(s.param<"bias_ih" + Suffix, Hidden>(initial_weights())),
        b_hh_(s.param<"bias_hh" + Suffix, Hidden>(initial_weights())) {}

  // h' of one step.
  template <expression X, expression H>
  constexpr auto operator()(const X& x, const H& h) const {
    return step(input(x), h);
  }

  // W_ih x + b_ih, x [..., In] to [..., Hidden]: for all steps at once, where x is known before the
  // first.
  template <expression X>
  constexpr auto input(const X& x) const {
    return dot<cell_input<In>>(rename<In, cell_input<In>>(x), w_ih_) + b_ih_;
  }
  // h' from input(x) of the step and the state h.
  template <expression X, expression H>
  constexpr auto step(const X& input_of_step, const H& h) const {
    const auto from_h =
        dot<previous_state<Hidden>>(rename<Hidden, previous_state<Hidden>>(h), w_hh_);
    return tanh(from_h + b_hh_ + input_of_step);
  }

 private:
  static constexpr initializer initial_weights() { return init::fan_in_uniform<Hidden>(); }

  tensor<float, shape<Hidden, cell_input<In>>> w_ih_;
  tensor<float, shape<Hidden, previous_state<Hidden>>> w_hh_;
  tensor<float, shape<Hidden>> b_ih_, b_hh_;
};

// The gated recurrent unit of Cho et al. 2014, equations 5 to 8, in the form of torch.nn.GRUCell,
// which resets after the product:
//
//   r = sigmoid(W_ir x + b_ir + W_hr h + b_hr)
//   z = sigmoid(W_iz x + b_iz + W_hz h + b_hz)
//   n = tanh(W_in x + b_in + r (W_hn h + b_hn))
//   h' = (1 - z) n + z h
//
// x float [..., In] and h float [..., Hidden] to h' float [..., Hidden]. Parameters, with Suffix
// appended to each name: weight_ih [3 Hidden, In], weight_hh [3 Hidden, Hidden], bias_ih and
// bias_hh [3 Hidden], the rows in the order r, z, n.
template <class In, class Hidden, fixed_string Suffix = "">
class gru_cell {
 public:
  // Declares the parameters.
  explicit constexpr gru_cell(scope s)
      : w_ih_(s.param<"weight_ih" + Suffix, gates<Hidden>, cell_input<In>>(initial_weights())),
        w_hh_(s.param<"weight_hh" + Suffix, gates<Hidden>, previous_state<Hidden>>(
            initial_weights())),
        b_ih_(s.param<"bias_ih" + Suffix, gates<Hidden>>(initial_weights())),
        b_hh_(s.param<"bias_hh" + Suffix, gates<Hidden>>(initial_weights())) {}

  // h' of one step.
  template <expression X, expression H>
  constexpr auto operator()(const X& x, const H& h) const {
    const auto [r, z, n] = input(x);
    return step(r, z, n, h);
  }

  // W_i x + b_i of r, z and n, a std::tuple of [..., Hidden]: for all steps at once, where x is
  // known before the first.
  template <expression X>
  constexpr auto input(const X& x) const {
    const auto read = rename<In, cell_input<In>>(x);
    const auto gate = [&](auto of) {
      return dot<cell_input<In>>(read, rows<of()>(w_ih_)) + rows<of()>(b_ih_);
    };
    return std::tuple{gate(reset), gate(update), gate(fresh)};
  }
  // h' from input(x) of the step and the state h.
  template <expression R, expression Z, expression N, expression H>
  constexpr auto step(const R& input_r, const Z& input_z, const N& input_n, const H& h) const {
    const auto from_h = rename<Hidden, previous_state<Hidden>>(h);
    const auto gate = [&](auto of) {
      return dot<previous_state<Hidden>>(from_h, rows<of()>(w_hh_)) + rows<of()>(b_hh_);
    };
    const auto r = sigmoid(gate(reset) + input_r);
    const auto z = sigmoid(gate(update) + input_z);
    const auto n = tanh(input_n + r * gate(fresh));
    return (1 - z) * n + z * h;
  }

 private:
  static constexpr std::integral_constant<std::size_t, 0> reset{};
  static constexpr std::integral_constant<std::size_t, 1> update{};
  static constexpr std::integral_constant<std::size_t, 2> fresh{};

  static constexpr initializer initial_weights() { return init::fan_in_uniform<Hidden>(); }
  template <std::size_t Gate, expression P>
  static constexpr auto rows(const P& parameter) {
    return slice<gates<Hidden>, Hidden, Gate * Hidden::extent>(parameter);
  }

  tensor<float, shape<gates<Hidden>, cell_input<In>>> w_ih_;
  tensor<float, shape<gates<Hidden>, previous_state<Hidden>>> w_hh_;
  tensor<float, shape<gates<Hidden>>> b_ih_, b_hh_;
};

// One layer of torch.nn.RNN (tanh) along Pos: x float [..., Pos, In] and h0 float [..., Hidden],
// zeros if omitted. The result is a weft::scanned: last is the state after the last step [...,
// Hidden], all the states after each step [..., Pos, Hidden]. Parameters are rnn_cell's; PyTorch's
// suffixes are "_l0" for the first layer, "_l1" for the second, and "_l0_reverse" for the backward
// direction. In and Hidden have fixed extents. Misuse does not compile: see the WEFT_REJECT
// overloads.
template <class Pos, class In, class Hidden, fixed_string Suffix = "_l0", direction D = forwards,
          expression X, class... H>
constexpr auto rnn(scope s, const X& x, const H&... h0) {
  const rnn_cell<In, Hidden, Suffix> cell(s);
  return scan<Pos, D>(detail::initial_state_or_zeros<Pos, In, Hidden, X>(h0...), cell.input(x),
                      [&](auto h, auto input) { return cell.step(input, h); });
}
WEFT_REJECT_IF((class Pos, class In, class Hidden, fixed_string Suffix = "_l0",
                direction D = forwards, expression X, class... H),
               (detail::rule_of_layer<Pos, In, Hidden, X, H...>()),
               rnn(scope, const X&, const H&...),
               (no_axes,
                "nn::rnn: name three axes, of fixed extents but the first, as in "
                "rnn<Pos, In, Hidden>(s, x)"),
               WEFT_INITIAL_STATE("nn::rnn"), WEFT_NO_SUCH_AXIS("nn::rnn"),
               WEFT_NOT_FLOAT("nn::rnn"))

// One layer of torch.nn.GRU along Pos, with the parameters of gru_cell, otherwise as nn::rnn.
template <class Pos, class In, class Hidden, fixed_string Suffix = "_l0", direction D = forwards,
          expression X, class... H>
constexpr auto gru(scope s, const X& x, const H&... h0) {
  const gru_cell<In, Hidden, Suffix> cell(s);
  return scan<Pos, D>(detail::initial_state_or_zeros<Pos, In, Hidden, X>(h0...), cell.input(x),
                      [&](auto h, auto r, auto z, auto n) { return cell.step(r, z, n, h); });
}
WEFT_REJECT_IF((class Pos, class In, class Hidden, fixed_string Suffix = "_l0",
                direction D = forwards, expression X, class... H),
               (detail::rule_of_layer<Pos, In, Hidden, X, H...>()),
               gru(scope, const X&, const H&...),
               (no_axes,
                "nn::gru: name three axes, of fixed extents but the first, as in "
                "gru<Pos, In, Hidden>(s, x)"),
               WEFT_INITIAL_STATE("nn::gru"), WEFT_NO_SUCH_AXIS("nn::gru"),
               WEFT_NOT_FLOAT("nn::gru"))

}  // namespace weft::nn
