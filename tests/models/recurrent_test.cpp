// Recurrent layers against PyTorch's results (tests/golden): torch.nn.RNN and GRU of two layers,
// the GRU's in both directions.
#include <boost/test/unit_test.hpp>
#include <string>

#include "support/golden_file.hpp"
#include "support/golden_model.hpp"
#include "weft/weft.hpp"

namespace {

struct Batch : weft::axis<3> {};
struct Pos : weft::axis<6> {};
struct In : weft::axis<5> {};
struct Hidden : weft::axis<7> {};
struct Back : weft::alias<Hidden> {};
struct Both : weft::axis<14> {};

// The sum of the last state's elements, each with its weight.
template <weft::fixed_string Weights, weft::expression X>
constexpr auto weighed(weft::scope s, const X& last) {
  return weft::sum<Batch, Hidden>(last * s.input<Weights, float, Batch, Hidden>());
}

struct rnn {
  constexpr auto operator()(weft::scope s) const {
    using namespace weft;
    auto x = s.param<"x", Batch, Pos, In>();
    auto first = nn::rnn<Pos, In, Hidden, "_l0">(s, x, s.param<"h0.0", Batch, Hidden>());
    auto second =
        nn::rnn<Pos, Hidden, Hidden, "_l1">(s, first.all, s.param<"h0.1", Batch, Hidden>());
    auto of_y = s.input<"of_y", float, Batch, Pos, Hidden>();
    auto loss = sum<Batch, Pos, Hidden>(second.all * of_y) + weighed<"of_last.0">(s, first.last) +
                weighed<"of_last.1">(s, second.last);
    return results(as<"loss">(loss), as<"y">(second.all), as<"last.0">(first.last),
                   as<"last.1">(second.last));
  }
};

struct gru {
  constexpr auto operator()(weft::scope s) const {
    using namespace weft;
    const auto both = [](const auto& forth, const auto& back) {
      return concatenate<Both, shape<Hidden, Back>>(forth.all, rename<Hidden, Back>(back.all));
    };
    auto x = s.param<"x", Batch, Pos, In>();
    auto forth = nn::gru<Pos, In, Hidden, "_l0">(s, x, s.param<"h0.0", Batch, Hidden>());
    auto back =
        nn::gru<Pos, In, Hidden, "_l0_reverse", backwards>(s, x, s.param<"h0.1", Batch, Hidden>());
    auto between = both(forth, back);
    auto forth2 = nn::gru<Pos, Both, Hidden, "_l1">(s, between, s.param<"h0.2", Batch, Hidden>());
    auto back2 = nn::gru<Pos, Both, Hidden, "_l1_reverse", backwards>(
        s, between, s.param<"h0.3", Batch, Hidden>());
    auto y = both(forth2, back2);
    auto of_y = s.input<"of_y", float, Batch, Pos, Both>();
    auto loss = sum<Batch, Pos, Both>(y * of_y) + weighed<"of_last.0">(s, forth.last) +
                weighed<"of_last.1">(s, back.last) + weighed<"of_last.2">(s, forth2.last) +
                weighed<"of_last.3">(s, back2.last);
    return results(as<"loss">(loss), as<"y">(y), as<"last.0">(forth.last), as<"last.1">(back.last),
                   as<"last.2">(forth2.last), as<"last.3">(back2.last));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(recurrent_layers, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(recurrent_layers_match_pytorch) {
  const weft::tensor_file file(weft::testing::golden_file("rnn.safetensors"));
  weft::testing::golden_trial<rnn>(file, "rnn.");
  weft::testing::golden_trial<gru>(file, "gru.");
}

BOOST_AUTO_TEST_SUITE_END()
