// Layers with position encodings against plain PyTorch: tests/golden/position.py.
#include <boost/test/unit_test.hpp>
#include <string>

#include "support/golden_file.hpp"
#include "support/golden_model.hpp"
#include "weft/weft.hpp"

namespace {

using namespace weft;
using weft::testing::golden_trial;
namespace position = nn::position;
using nn::rotary_pairs;

struct Batch : axis<2> {};
struct Pos : axis<6> {};
struct KeyPos : alias<Pos> {};
struct Embed : axis<5> {};
struct Heads : axis<3> {};
struct HeadDim : axis<4> {};
struct Hidden : axis<3> {};
struct axes {
  using positions = Pos;
  using keys = KeyPos;
  using embed = Embed;
  using heads = Heads;
  using head_dim = HeadDim;
  using hidden = Hidden;
};

template <class Order>
struct layer {
  constexpr auto operator()(scope s) const {
    const auto x = s.param<"x", Batch, Pos, Embed>();
    const auto y =
        nn::encoder_block<axes>(s, x, {}, {.activation = nn::activation::relu}, Order{}).output;
    const auto cotangent = s.input<"cotangent", float, Batch, Pos, Embed>();
    return results(as<"loss">(sum<Batch, Pos, Embed>(y * cotangent)), as<"y">(y));
  }
};

struct causal_t5 : position::t5<8, 5> {
  constexpr causal_t5() : position::t5<8, 5>({.causal = true}) {}
};

struct small_fire : position::fire<7> {
  constexpr small_fire() : position::fire<7>({.threshold = 3}) {}
};

struct Distance : axis<401> {};
struct buckets {
  constexpr auto operator()(scope s) const {
    // A tensor of the graph, not a fragment.
    const auto distance = positions<Distance>() + s.input<"from", std::int32_t>();
    return results(as<"buckets">(nn::t5_bucket<32, 128>(distance)),
                   as<"causal_buckets">(nn::t5_bucket<32, 128>(distance, {.causal = true})));
  }
};

tensor_file stored() {
  return tensor_file(weft::testing::golden_file("position.safetensors"));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(position_pytorch, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(encoder_layers_with_position_encodings_match_pytorch) {
  const auto file = stored();
  golden_trial<layer<position::rotary<>>>(file, "rotary_halves.");
  golden_trial<layer<position::rotary<rotary_pairs::interleaved>>>(file, "rotary_neighbours.");
  golden_trial<layer<position::learned_rotary<>>>(file, "learned_rotary.");
  golden_trial<layer<position::shaw_keys<2>>>(file, "shaw_keys.");
  golden_trial<layer<position::shaw<2>>>(file, "shaw.");
  golden_trial<layer<position::transformer_xl<>>>(file, "transformer_xl.");
  golden_trial<layer<position::t5<8, 5>>>(file, "t5.");
  golden_trial<layer<causal_t5>>(file, "t5_causal.");
  golden_trial<layer<position::alibi>>(file, "alibi.");
  golden_trial<layer<position::learned_alibi>>(file, "learned_alibi.");
  golden_trial<layer<position::xpos<>>>(file, "xpos.");
  golden_trial<layer<small_fire>>(file, "fire.");
  golden_trial<layer<position::cope<3>>>(file, "cope.");
  golden_trial<layer<position::forgetting>>(file, "forgetting.");
}

BOOST_AUTO_TEST_CASE(buckets_of_distances_match_t5) {
  const auto file = stored();
  module<buckets> net;
  const auto all = net(arg<"from">(-200));
  const auto check = [&](const auto& got, const char* name) {
    const auto expected = file[name].values<double>();
    for (std::size_t d = 0; d < Distance::extent; ++d)
      BOOST_TEST(got(d) == static_cast<int>(expected[d]),
                 name << " of " << static_cast<int>(d) - 200);
  };
  check(all.get<"buckets">(), "buckets");
  check(all.get<"causal_buckets">(), "causal_buckets");
}

BOOST_AUTO_TEST_SUITE_END()
