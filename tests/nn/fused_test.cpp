// Attention of each kind becomes one operation, for inference and for training.
#include <boost/test/unit_test.hpp>

#include "passes/graphs.hpp"
#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using namespace weft;
using weft::testing::count, weft::testing::kept, weft::testing::output_node;

struct Batch : axis<2> {};
struct Pos : axis<up_to<9>> {};
struct KeyPos : alias<Pos> {};
struct Memory : axis<up_to<5>> {};
struct Embed : axis<6> {};
struct Heads : axis<2> {};
struct Group : axis<3> {};
struct HeadDim : axis<2> {};
struct ValueDim : axis<1> {};
struct Hidden : axis<4> {};

template <class... Axes, class X>
constexpr auto total(shape<Axes...>, const X& y) {
  return sum<Axes...>(y);
}

// The number of fused attentions; checks that no other softmax is left.
template <class Layer>
int attentions() {
  struct model {
    constexpr auto operator()(scope s) const {
      const auto y = Layer()(s, s.input<"x", float, Batch, Pos, Embed>());
      return results(as<"loss">(total(shape_t<std::remove_cv_t<decltype(y)>>{}, y)));
    }
  };
  const auto written = kept([] { return keep_outputs(traced_graph<model>.unpack(), "loss"); });
  const auto simple = kept([&] { return simplify(*written); });
  const auto g = kept([&] { return fuse_attention(*simple); });
  BOOST_TEST(count(*g, op::softmax) == 0);
  return count(*g, op::attention);
}

struct axes {
  using positions = Pos;
  using keys = KeyPos;
  using memory = Memory;
  using embed = Embed;
  using heads = Heads;
  using head_dim = HeadDim;
  using hidden = Hidden;
};
struct grouped : axes {
  using group = Group;
  using value_dim = ValueDim;
};
struct multi_query : axes {
  using key_heads = shape<>;
};

template <class Axes>
struct heads {
  constexpr auto operator()(scope s, auto x) const {
    const auto mask =
        nn::masks(nn::sliding_window<Pos, KeyPos>({.left = 2, .right = 1}),
                  s.input<"lengths", std::int32_t, Batch>(), s.input<"bias", float, Pos, KeyPos>());
    return nn::self_attention<Axes>(s, x, mask, {.scale = 0.3, .soft_cap = 5, .dropout = 0.1})
        .output;
  }
};

struct bilinear {
  constexpr auto operator()(scope s, auto x) const {
    const auto key = rename<Pos, KeyPos>(rename<Embed, HeadDimOf>(x));
    return nn::attention<KeyPos>(nn::bilinear_score<Embed, HeadDimOf>(s, x, key), key).output;
  }
  struct HeadDimOf : alias<Embed> {};
};

struct gaussian {
  constexpr auto operator()(scope, auto x) const {
    const auto key = rename<Pos, KeyPos>(x);
    return nn::attention<KeyPos>(nn::gaussian_score<Embed>(x, key), key).output;
  }
};

struct encoding {
  constexpr auto operator()(scope s, auto x) const { return nn::encoder<axes>(s, x, 3).output; }
};

struct decoding {
  constexpr auto operator()(scope s, auto x) const {
    const auto memory = s.input<"memory", float, Batch, Memory, Embed>();
    return nn::decoder<axes>(s, x, memory, 2, nn::causal<Pos, KeyPos>(),
                             s.input<"lengths", std::int32_t, Batch>(),
                             {.norm_first = true, .dropout = 0.1})
        .output;
  }
};

BOOST_AUTO_TEST_SUITE(fused_layers)

BOOST_AUTO_TEST_CASE(attention_of_every_layer_is_one_operation) {
  BOOST_TEST(attentions<heads<axes>>() == 1);
  BOOST_TEST(attentions<heads<grouped>>() == 1);
  BOOST_TEST(attentions<heads<multi_query>>() == 1);
  BOOST_TEST(attentions<bilinear>() == 1);
  BOOST_TEST(attentions<gaussian>() == 1);
  BOOST_TEST(attentions<encoding>() == 3);
  BOOST_TEST(attentions<decoding>() == 4);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
