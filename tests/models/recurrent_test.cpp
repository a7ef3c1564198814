// Recurrent layers against PyTorch's results (tests/golden): torch.nn.RNN, GRU and LSTM of two
// layers, the last two in both directions. The parameters have the names of PyTorch's state_dict.
#include <boost/test/unit_test.hpp>
#include <string>

#include "support/central_differences.hpp"
#include "support/golden_file.hpp"
#include "support/golden_model.hpp"
#include "weft/weft.hpp"

namespace {

struct Batch : weft::axis<3> {};
struct Pos : weft::axis<6> {};
struct In : weft::axis<5> {};
struct Hidden : weft::axis<7> {};
using Both = weft::nn::both_directions<Hidden>;
constexpr weft::nn::recurrence both{.layers = 2, .bidirectional = true};

// The sum of the last state's elements, each with its weight.
template <weft::fixed_string Weights, weft::expression X>
constexpr auto weighed(weft::scope s, const X& last) {
  return weft::sum<Batch, Hidden>(last * s.input<Weights, float, Batch, Hidden>());
}
template <weft::fixed_string Name>
constexpr auto state(weft::scope s) {
  return s.param<Name, Batch, Hidden>();
}
template <class Out, weft::expression Y>
constexpr auto loss_of(weft::scope s, const Y& y) {
  return weft::sum<Batch, Pos, Out>(y * s.input<"of_y", float, Batch, Pos, Out>());
}

// Two layers by two calls: with something between them they are written so.
struct rnn {
  constexpr auto operator()(weft::scope s) const {
    using namespace weft;
    auto x = s.param<"x", Batch, Pos, In>();
    auto first = nn::rnn<Pos, In, Hidden>(s, x, state<"h0.0">(s));
    auto second =
        nn::rnn<Pos, Hidden, Hidden, nn::recurrence{.first = 1}>(s, first.all, state<"h0.1">(s));
    auto loss = loss_of<Hidden>(s, second.all) + weighed<"of_last.0">(s, first.last) +
                weighed<"of_last.1">(s, second.last);
    return results(as<"loss">(loss), as<"y">(second.all), as<"last.0">(first.last),
                   as<"last.1">(second.last));
  }
};

struct gru {
  constexpr auto operator()(weft::scope s) const {
    using namespace weft;
    auto x = s.param<"x", Batch, Pos, In>();
    auto y = nn::gru<Pos, In, Hidden, both>(s, x, state<"h0.0">(s), state<"h0.1">(s),
                                            state<"h0.2">(s), state<"h0.3">(s));
    auto loss = loss_of<Both>(s, y.all) + weighed<"of_last.0">(s, y.last[0]) +
                weighed<"of_last.1">(s, y.last[1]) + weighed<"of_last.2">(s, y.last[2]) +
                weighed<"of_last.3">(s, y.last[3]);
    return results(as<"loss">(loss), as<"y">(y.all), as<"last.0">(y.last[0]),
                   as<"last.1">(y.last[1]), as<"last.2">(y.last[2]), as<"last.3">(y.last[3]));
  }
};

struct lstm {
  constexpr auto operator()(weft::scope s) const {
    using namespace weft;
    auto x = s.param<"x", Batch, Pos, In>();
    auto y = nn::lstm<Pos, In, Hidden, both>(s, x, std::tuple{state<"h0.0">(s), state<"c0.0">(s)},
                                             std::tuple{state<"h0.1">(s), state<"c0.1">(s)},
                                             std::tuple{state<"h0.2">(s), state<"c0.2">(s)},
                                             std::tuple{state<"h0.3">(s), state<"c0.3">(s)});
    auto [h0, c0] = y.last[0];
    auto [h1, c1] = y.last[1];
    auto [h2, c2] = y.last[2];
    auto [h3, c3] = y.last[3];
    auto loss = loss_of<Both>(s, y.all) + weighed<"of_last.0">(s, h0) +
                weighed<"of_last.1">(s, h1) + weighed<"of_last.2">(s, h2) +
                weighed<"of_last.3">(s, h3) + weighed<"of_memory.0">(s, c0) +
                weighed<"of_memory.1">(s, c1) + weighed<"of_memory.2">(s, c2) +
                weighed<"of_memory.3">(s, c3);
    return results(as<"loss">(loss), as<"y">(y.all), as<"last.0">(h0), as<"last.1">(h1),
                   as<"last.2">(h2), as<"last.3">(h3), as<"memory.0">(c0), as<"memory.1">(c1),
                   as<"memory.2">(c2), as<"memory.3">(c3));
  }
};

// At any length of a sequence, from a state of zeros, and a step of a cell alone.
struct Some : weft::axis<weft::up_to<4>> {};
struct lstm_of_some {
  constexpr auto operator()(weft::scope s) const {
    using namespace weft;
    auto y = nn::lstm<Some, In, Hidden>(s / "layer", s.input<"x", float, Batch, Some, In>());
    auto [h, c] = y.last;
    auto [after, memory] = nn::lstm_cell<In, Hidden>(s / "cell")(s.param<"next", In>(), h, c);
    return as<"loss">(sum<Batch, Some, Hidden>(y.all * y.all) + sum<Batch, Hidden>(after * memory));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(recurrent_layers, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(recurrent_layers_match_pytorch) {
  const weft::tensor_file file(weft::testing::golden_file("rnn.safetensors"));
  weft::testing::golden_trial<rnn>(file, "rnn.");
  weft::testing::golden_trial<gru>(file, "gru.");
  weft::testing::golden_trial<lstm>(file, "lstm.");
}

BOOST_AUTO_TEST_CASE(lstm_layers_match_central_differences_and_the_reference_at_every_length) {
  for (const int some : {0, 1, 4}) {
    auto s = weft::testing::lengths<Some>(some);
    weft::testing::check_gradients<lstm_of_some>(s);
    s.tolerance = 1e-4;
    weft::testing::trial<weft::training<lstm_of_some, "loss">>(s);
  }
}

BOOST_AUTO_TEST_SUITE_END()
