// Layers of more recent models against plain PyTorch: tests/golden/modern.py.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "support/golden_file.hpp"
#include "support/golden_model.hpp"
#include "weft/weft.hpp"

namespace {

using namespace weft;

struct Batch : axis<2> {};

struct gated {
  struct Pos : axis<3> {};
  struct Embed : axis<5> {};
  struct Hidden : axis<7> {};

  constexpr auto operator()(scope s) const {
    const auto x = s.param<"x", Batch, Pos, Embed>();
    const auto y = nn::feed_forward<Embed, Hidden>(s, x, {.activation = nn::activation::swiglu});
    const auto cotangent = s.input<"cotangent", float, Batch, Pos, Embed>();
    return results(as<"loss">(sum<Batch, Pos, Embed>(y * cotangent)), as<"y">(y));
  }
};

struct tied_words {
  struct Pos : axis<4> {};
  struct Vocab : axis<11> {};
  struct Embed : axis<4> {};

  constexpr auto operator()(scope s) const {
    const auto words = nn::tied_embedding<Vocab, Embed>(s);
    const auto y = words.logits(tanh(words.embed(s.input<"tokens", std::int32_t, Batch, Pos>())));
    const auto cotangent = s.input<"cotangent", float, Batch, Pos, Vocab>();
    return results(as<"loss">(sum<Batch, Pos, Vocab>(y * cotangent)), as<"y">(y));
  }
};

struct grouped_window {
  struct Heads : axis<2> {};
  struct Group : axis<3> {};
  struct Pos : axis<6> {};
  struct KeyPos : alias<Pos> {};
  struct HeadDim : axis<4> {};
  struct ValueDim : axis<5> {};

  constexpr auto operator()(scope s) const {
    const auto query = s.param<"query", Batch, Heads, Group, Pos, HeadDim>();
    const auto key = s.param<"key", Batch, Heads, KeyPos, HeadDim>();
    const auto value = s.param<"value", Batch, Heads, KeyPos, ValueDim>();
    const auto seen =
        nn::attention<KeyPos>(nn::dot_product_score<HeadDim>(query, key), value,
                              nn::sliding_window<Pos, KeyPos>({.left = 2, .right = 1}));
    const auto cotangent = s.input<"cotangent", float, Batch, Heads, Group, Pos, ValueDim>();
    return results(as<"loss">(sum<Batch, Heads, Group, Pos, ValueDim>(seen.output * cotangent)),
                   as<"y">(seen.output), as<"weights">(seen.weights));
  }
};

// A feed-forward network by its option, and as its formula.
template <nn::activation Activation, bool Written>
struct network {
  struct Embed : axis<5> {};
  struct Hidden : axis<7> {};

  constexpr auto operator()(scope s) const {
    const auto x = s.input<"x", float, Batch, Embed>();
    if constexpr (!Written) {
      return results(as<"y">(nn::feed_forward<Embed, Hidden>(s, x, {.activation = Activation})));
    } else {
      const auto up = nn::linear<Embed, Hidden>(s / "linear1", x);
      const auto hidden = [&] {
        if constexpr (Activation == nn::activation::squared_relu)
          return where(up > 0, up * up, 0.0f);
        else {
          const auto gate = nn::linear<Embed, Hidden>(s / "gate", x);
          return (Activation == nn::activation::geglu ? gelu(gate) : gelu_tanh(gate)) * up;
        }
      }();
      return results(as<"y">(nn::linear<Hidden, Embed>(s / "linear2", hidden)));
    }
  }
};

template <nn::activation Activation>
void check_network() {
  module<network<Activation, false>> by_option({.seed = 3});
  module<network<Activation, true>> written({.seed = 3});
  const std::vector<float> x{1, -2, 0.5f, 3, -1, 0, 2, -0.25f, 1, -3};
  const auto y = by_option(arg<"x">(x)).template get<"y">();
  const auto expected = written(arg<"x">(x)).template get<"y">();
  for (std::size_t i = 0; i < 10; ++i)
    // A sum of 7 products of about 1.
    BOOST_TEST(std::abs(y.data()[i] - expected.data()[i]) < 7 * 0x1p-22f);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(modern, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(feed_forward_networks_are_their_formulas) {
  check_network<nn::activation::squared_relu>();
  check_network<nn::activation::geglu>();
  check_network<nn::activation::geglu_tanh>();
}

BOOST_AUTO_TEST_CASE(gated_tied_and_grouped_window_layers_match_plain_pytorch) {
  const tensor_file file(weft::testing::golden_file("modern.safetensors"));
  testing::golden_trial<gated>(file, "swiglu.");
  testing::golden_trial<tied_words>(file, "tied.");
  testing::golden_trial<grouped_window>(file, "window.");
}

BOOST_AUTO_TEST_SUITE_END()
