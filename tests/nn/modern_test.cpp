// Layers of more recent models against plain PyTorch: tests/golden/modern.py.
#include <boost/test/unit_test.hpp>
#include <string>

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
    auto const x = s.param<"x", Batch, Pos, Embed>();
    auto const y = nn::feed_forward<Embed, Hidden>(s, x, {.activation = nn::activation::swiglu});
    auto const cotangent = s.input<"cotangent", float, Batch, Pos, Embed>();
    return results(as<"loss">(sum<Batch, Pos, Embed>(y * cotangent)), as<"y">(y));
  }
};

struct tied_words {
  struct Pos : axis<4> {};
  struct Vocab : axis<11> {};
  struct Embed : axis<4> {};

  constexpr auto operator()(scope s) const {
    auto const words = nn::tied_embedding<Vocab, Embed>(s);
    auto const y = words.logits(tanh(words.embed(s.input<"tokens", std::int32_t, Batch, Pos>())));
    auto const cotangent = s.input<"cotangent", float, Batch, Pos, Vocab>();
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
    auto const query = s.param<"query", Batch, Heads, Group, Pos, HeadDim>();
    auto const key = s.param<"key", Batch, Heads, KeyPos, HeadDim>();
    auto const value = s.param<"value", Batch, Heads, KeyPos, ValueDim>();
    auto const seen = nn::attention<KeyPos>(nn::dot_product_score<HeadDim>(query, key), value,
                                            nn::sliding_window<Pos, KeyPos>(2, 1));
    auto const cotangent = s.input<"cotangent", float, Batch, Heads, Group, Pos, ValueDim>();
    return results(as<"loss">(sum<Batch, Heads, Group, Pos, ValueDim>(seen.output * cotangent)),
                   as<"y">(seen.output), as<"weights">(seen.weights));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(modern)

BOOST_AUTO_TEST_CASE(gated_tied_and_grouped_window_layers_match_plain_pytorch) {
  tensor_file const file(weft::testing::golden_file("modern.safetensors"));
  testing::golden_trial<gated>(file, "swiglu.");
  testing::golden_trial<tied_words>(file, "tied.");
  testing::golden_trial<grouped_window>(file, "window.");
}

BOOST_AUTO_TEST_SUITE_END()
