// Recurrent layers and their cells. Parameters have PyTorch's names, shapes and initialization: all
// uniform in ±1 / sqrt(Hidden).
#pragma once
#include "weft/header_begin.hpp"

#include <array>
#include <string_view>

#include "weft/graph/reject.hpp"
#include "weft/graph/scope.hpp"
#include "weft/nn/detail.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/concatenate.hpp"
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
// The rows of the weights of a cell with several gates, such as reset, update and new in a GRU.
template <class Hidden, std::size_t Gates>
struct gates : axis<Gates * Hidden::extent> {};
// The states of a bidirectional layer: those of the forward direction, then the backward one's.
template <class Hidden>
struct both_directions : axis<2 * Hidden::extent> {};

// The layers of nn::rnn, nn::gru and nn::lstm, and their directions.
struct recurrence {
  unsigned layers = 1;                   // each after the first reads the states of the one before
  bool bidirectional = false;            // forwards and backwards in each layer
  weft::direction direction = forwards;  // of layers that are not bidirectional
  unsigned first = 0;                    // the number of the first layer in parameters' names
};

namespace detail {

// The parameters of a cell, and what it computes of each of its gates; the rest is Cell's step.
template <class Cell, class In, class Hidden, std::size_t Gates>
class cell_of {
 public:
  static constexpr std::size_t gate_count = Gates;  // of a step
  // Declares the parameters.
  explicit constexpr cell_of(scope s, std::string_view suffix = {})
      : w_ih_(s.param<"weight_ih", rows, cell_input<In>>(initial_weights(), suffix)),
        w_hh_(s.param<"weight_hh", rows, previous_state<Hidden>>(initial_weights(), suffix)),
        b_ih_(s.param<"bias_ih", rows>(initial_weights(), suffix)),
        b_hh_(s.param<"bias_hh", rows>(initial_weights(), suffix)) {}

  // The state after one step with the input x: cell(x, h), of an LSTM cell(x, h, c).
  template <expression X, expression... H>
  constexpr auto operator()(const X& x, const H&... h) const {
    const auto& cell = static_cast<const Cell&>(*this);
    const auto after = std::apply([&](auto... in) { return cell.step(h..., in...); }, input(x));
    if constexpr (sizeof...(H) == 1)
      return after;
    else
      return after.carries;
  }

  // W_i x + b_i of each gate, a std::tuple of [..., Hidden]: for all steps at once, where x is
  // known before the first. What the body of a scan returns is step(h, in...).
  template <expression X>
  constexpr auto input(const X& x) const {
    const auto read = rename<In, cell_input<In>>(x);
    return [&]<std::size_t... G>(std::index_sequence<G...>) {
      return std::tuple{(dot<cell_input<In>>(read, gate<G>(w_ih_)) + gate<G>(b_ih_))...};
    }
    (std::make_index_sequence<Gates>{});
  }

 protected:
  // W_h h + b_h of a gate.
  template <std::size_t Gate, expression H>
  constexpr auto from_state(const H& h) const {
    return dot<previous_state<Hidden>>(rename<Hidden, previous_state<Hidden>>(h),
                                       gate<Gate>(w_hh_)) +
           gate<Gate>(b_hh_);
  }

 private:
  using rows = std::conditional_t<Gates == 1, Hidden, gates<Hidden, Gates>>;
  static constexpr initializer initial_weights() { return init::fan_in_uniform<Hidden>(); }
  template <std::size_t Gate, expression P>
  static constexpr auto gate(const P& parameter) {
    if constexpr (Gates == 1)
      return parameter;
    else
      return slice<rows, Hidden, Gate * Hidden::extent>(parameter);
  }

  tensor<float, shape<rows, cell_input<In>>> w_ih_;
  tensor<float, shape<rows, previous_state<Hidden>>> w_hh_;
  tensor<float, shape<rows>> b_ih_, b_hh_;
};

}  // namespace detail

// h' = tanh(W_ih x + b_ih + W_hh h + b_hh), Elman 1990, in the form of torch.nn.RNNCell: x float
// [..., In] and h float [..., Hidden] to h' float [..., Hidden]. Parameters, with the suffix
// appended to each name: weight_ih [Hidden, In], weight_hh [Hidden, Hidden], bias_ih and bias_hh
// [Hidden].
//
//   nn::rnn_cell<In, Hidden> cell(s / "decoder");         // or cell(s / "encoder", "_l0_reverse")
//   auto after = cell(x, h);                              // in the body of a scan, or once
template <class In, class Hidden>
class rnn_cell : public detail::cell_of<rnn_cell<In, Hidden>, In, Hidden, 1> {
 public:
  using detail::cell_of<rnn_cell, In, Hidden, 1>::cell_of;  // (scope s, std::string_view suffix)

  // h' from the state h and the step's input(x).
  template <expression H, expression X>
  constexpr auto step(const H& h, const X& in) const {
    return tanh(this->template from_state<0>(h) + in);
  }
};

// The gated recurrent unit of Cho et al. 2014, equations 5 to 8, in the form of torch.nn.GRUCell,
// which resets after the product:
//
//   r = sigmoid(W_ir x + b_ir + W_hr h + b_hr)
//   z = sigmoid(W_iz x + b_iz + W_hz h + b_hz)
//   n = tanh(W_in x + b_in + r (W_hn h + b_hn))
//   h' = (1 - z) n + z h
//
// x float [..., In] and h float [..., Hidden] to h' float [..., Hidden]. Parameters as rnn_cell's,
// with 3 Hidden rows in the order r, z, n.
template <class In, class Hidden>
class gru_cell : public detail::cell_of<gru_cell<In, Hidden>, In, Hidden, 3> {
 public:
  using detail::cell_of<gru_cell, In, Hidden, 3>::cell_of;  // (scope s, std::string_view suffix)

  // h' from the state h and the step's input(x).
  template <expression H, expression R, expression Z, expression N>
  constexpr auto step(const H& h, const R& in_r, const Z& in_z, const N& in_n) const {
    const auto r = sigmoid(this->template from_state<0>(h) + in_r);
    const auto z = sigmoid(this->template from_state<1>(h) + in_z);
    const auto n = tanh(in_n + r * this->template from_state<2>(h));
    return (1 - z) * n + z * h;
  }
};

// Long short-term memory (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al.
// 2000), in the form of torch.nn.LSTMCell:
//
//   i = sigmoid(W_ii x + b_ii + W_hi h + b_hi), f and o likewise
//   g = tanh(W_ig x + b_ig + W_hg h + b_hg)
//   c' = f c + i g
//   h' = o tanh(c')
//
// x float [..., In], h and c float [..., Hidden] to a std::tuple of h' and c', both float [...,
// Hidden]: auto [h, c] = cell(x, h0, c0). Parameters as rnn_cell's, with 4 Hidden rows in the order
// i, f, g, o.
template <class In, class Hidden>
class lstm_cell : public detail::cell_of<lstm_cell<In, Hidden>, In, Hidden, 4> {
 public:
  using detail::cell_of<lstm_cell, In, Hidden, 4>::cell_of;  // (scope s, std::string_view suffix)

  // h' and c' as the carries, and h' as the output, from the states and the step's input(x).
  template <expression H, expression C, expression I, expression F, expression G, expression O>
  constexpr auto step(const H& h, const C& c, const I& in_i, const F& in_f, const G& in_g,
                      const O& in_o) const {
    const auto i = sigmoid(this->template from_state<0>(h) + in_i);
    const auto f = sigmoid(this->template from_state<1>(h) + in_f);
    const auto g = tanh(this->template from_state<2>(h) + in_g);
    const auto o = sigmoid(this->template from_state<3>(h) + in_o);
    const auto memory = f * c + i * g;
    const auto after = o * tanh(memory);
    return next(after, memory).with(after);
  }
};

namespace detail {

// The axes of the hidden state for an operand x.
template <class Pos, class In, class Hidden, class X>
using state_shape = united<without<shape_t<X>, shape<Pos, In>>, shape<Hidden>>;

// A cell's state with the axes S: h, and of an LSTM, which has four gates, c.
template <class Cell, class S>
using state_of =
    std::conditional_t<Cell::gate_count == 4, std::tuple<tensor<float, S>, tensor<float, S>>,
                       tensor<float, S>>;
template <expression X>
tensor<element_t<X>, shape_t<X>> as_tensor(const X&);
template <expression... X>
std::tuple<tensor<element_t<X>, shape_t<X>>...> as_tensor(const std::tuple<X...>&);
template <class H, class State>
concept starts = std::same_as<decltype(as_tensor(std::declval<H>())), State>;

template <recurrence R>
inline constexpr std::size_t states_of = R.layers*(R.bidirectional ? 2 : 1);

template <template <class, class> class Cell, class Pos, class In, class Hidden, recurrence R,
          expression X, class... H>
constexpr rule rule_of_layers() {
  if constexpr (!axis_like<In> || !axis_like<Hidden>) {
    return rule::no_axes;
  } else {
    if (In::bounded || Hidden::bounded) return rule::no_axes;
    if (!has_axis<In, shape_t<X>>) return rule::missing;
    if (!std::same_as<element_t<X>, float>) return rule::elements;
    if (!axis_like<Pos>) return rule::no_axes;
    if (!has_axis<Pos, shape_t<X>>) return rule::missing;
    if (R.layers < 1 || R.layers > 100 - R.first || R.first > 99) return rule::count;
    using state = state_of<Cell<In, Hidden>, state_shape<Pos, In, Hidden, X>>;
    const bool fit = ((starts<H, state> && std::same_as<H, first_of<H..., int>>)&&...);
    return fit && (sizeof...(H) == 0 || sizeof...(H) == states_of<R>) ? rule::none : rule::initial;
  }
}

// "_l0" or "_l0_reverse".
constexpr weft::detail::message layer_suffix(std::size_t layer, direction d) {
  const std::string_view digits = "0123456789";
  weft::detail::message m;
  m << "_l" << digits.substr(layer / 10, layer > 9) << digits.substr(layer % 10, 1);
  return m << (d == backwards ? "_reverse" : "");
}

template <template <class, class> class Cell, class Pos, class In, class Hidden, recurrence R,
          expression X, class... H>
constexpr auto recurrent_layers(scope s, const X& x, const H&... h0) {
  using S = state_shape<Pos, In, Hidden, X>;
  using state = state_of<Cell<In, Hidden>, S>;
  std::array<state, states_of<R>> last{};
  const auto initial = [&](std::size_t i) {
    if constexpr (sizeof...(H) > 0)
      return std::array{h0...}[i];
    else if constexpr (expression<state>)
      return zeros(S{});
    else
      return std::tuple{zeros(S{}), zeros(S{})};
  };
  const auto run = [&]<class Read, direction D>(const auto& read, std::size_t layer,
                                                std::size_t i) {
    const auto suffix = layer_suffix(R.first + layer, D);
    const Cell<Read, Hidden> cell(s, {suffix.characters, suffix.size});
    const auto y = scan<Pos, D>(initial(i), cell.input(read),
                                [&](const auto&... of_step) { return cell.step(of_step...); });
    last[i] = y.last;
    return y.all;
  };
  const auto layer = [&]<class Read>(const auto& read, std::size_t l) {
    if constexpr (R.bidirectional) {
      const auto forth = run.template operator()<Read, forwards>(read, l, 2 * l);
      const auto back = run.template operator()<Read, backwards>(read, l, 2 * l + 1);
      return concatenate<both_directions<Hidden>, shape<Hidden, Hidden>>(forth, back);
    } else {
      return run.template operator()<Read, R.direction>(read, l, l);
    }
  };
  auto y = layer.template operator()<In>(x, 0);
  using below = std::conditional_t<R.bidirectional, both_directions<Hidden>, Hidden>;
  if constexpr (R.layers > 1)
    for (std::size_t l = 1; l < R.layers; ++l) y = layer.template operator()<below>(y, l);
  if constexpr (states_of<R> == 1)
    return scanned<state, decltype(y)>{last[0], y};
  else
    return scanned<decltype(last), decltype(y)>{last, y};
}

}  // namespace detail

#define WEFT_REJECT_RECURRENT(layer, initial_state)                                               \
  WEFT_REJECT_IF(                                                                                 \
      (class Pos, class In, class Hidden, recurrence R = recurrence{}, expression X, class... H), \
      (detail::rule_of_layers<layer##_cell, Pos, In, Hidden, R, X, H...>()),                      \
      layer(scope, const X&, const H&...),                                                        \
      (no_axes, "nn::" #layer ": name three axes, of fixed extents but the first, as in " #layer  \
                "<Pos, In, Hidden>(s, x)"),                                                       \
      (count, "nn::" #layer ": layers have the numbers 0 to 99, and there is at least one"),      \
      (initial, "nn::" #layer ": the initial state is " initial_state                             \
                ", with the axes of x that are neither read nor run along, then the hidden one; " \
                "of several layers or directions, there is one of each"),                         \
      WEFT_NO_SUCH_AXIS("nn::" #layer), WEFT_NOT_FLOAT("nn::" #layer))

// torch.nn.RNN (tanh) along Pos: x float [..., Pos, In] and h0 float [..., Hidden], zeros if
// omitted. The result is a weft::scanned: `last` is the state after the last step [..., Hidden],
// and `all` the states after each step [..., Pos, Hidden].
//
//   nn::rnn<Pos, In, Hidden, nn::recurrence{.layers = 2, .bidirectional = true}>(s / "rnn", x)
//
// Several layers or two directions have as many states h0, of one type, in PyTorch's order: the
// first layer's, forwards before backwards, then the second's; `last` is then a std::array of the
// same. In two directions `all` is [..., Pos, both_directions<Hidden>]. Parameters are rnn_cell's
// of each, with PyTorch's suffixes: "_l0", "_l0_reverse". In and Hidden have fixed extents. Misuse
// does not compile: see the WEFT_REJECT overloads.
template <class Pos, class In, class Hidden, recurrence R = recurrence{}, expression X, class... H>
constexpr auto rnn(scope s, const X& x, const H&... h0) {
  return detail::recurrent_layers<rnn_cell, Pos, In, Hidden, R>(s, x, h0...);
}
WEFT_REJECT_RECURRENT(rnn, "float")

// torch.nn.GRU along Pos, with the parameters of gru_cell, otherwise as nn::rnn.
template <class Pos, class In, class Hidden, recurrence R = recurrence{}, expression X, class... H>
constexpr auto gru(scope s, const X& x, const H&... h0) {
  return detail::recurrent_layers<gru_cell, Pos, In, Hidden, R>(s, x, h0...);
}
WEFT_REJECT_RECURRENT(gru, "float")

// torch.nn.LSTM along Pos, with the parameters of lstm_cell, otherwise as nn::rnn. A state is a
// std::tuple of h and c, initially and in `last`: nn::lstm<Pos, In, Hidden>(s, x, std::tuple{h0,
// c0}). `all` are the states h.
template <class Pos, class In, class Hidden, recurrence R = recurrence{}, expression X, class... H>
constexpr auto lstm(scope s, const X& x, const H&... h0) {
  return detail::recurrent_layers<lstm_cell, Pos, In, Hidden, R>(s, x, h0...);
}
WEFT_REJECT_RECURRENT(lstm, "std::tuple{h0, c0}, both float")

#undef WEFT_REJECT_RECURRENT

}  // namespace weft::nn
#include "weft/header_end.hpp"
