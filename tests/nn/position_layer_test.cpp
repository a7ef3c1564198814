// Attention with each encoding: lowered programs against the reference, and gradients against
// central differences.
#include <boost/test/unit_test.hpp>
#include <tuple>

#include "nn/encodings.hpp"
#include "support/central_differences.hpp"

namespace {

using namespace weft;
using weft::testing::check_gradients, weft::testing::encodings_of_runs, weft::testing::lengths,
    weft::testing::trial;

struct Batch : axis<2> {};
struct Pos : axis<up_to<7>> {};
struct KeyPos : alias<Pos> {};
struct Embed : axis<5> {};
struct Heads : axis<3> {};
struct Group : axis<2> {};
struct HeadDim : axis<4> {};
struct axes {
  using positions = Pos;
  using keys = KeyPos;
  using embed = Embed;
  using heads = Heads;
  using head_dim = HeadDim;
};
struct grouped_axes : axes {
  using group = Group;
};

template <class Order, class Axes>
struct layer {
  constexpr auto operator()(scope s) const {
    const Order order;
    const auto embedded = s.input<"x", float, Batch, Pos, Embed>();
    const auto x = nn::add_positions<Pos, Embed>(s / "position", embedded, order);
    const auto y =
        nn::self_attention<Axes>(s, x, nn::causal<Pos, KeyPos>(), {.bias = false}, order).output;
    return results(as<"loss">(sum<Batch, Pos, Embed>(y * y)));
  }
};

// With the tolerance for whole models.
template <class Unit>
void layer_trial(int length) {
  auto s = lengths<Pos>(length);
  s.tolerance = 1e-4;
  trial<Unit>(s);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(position_layers, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE_TEMPLATE(attention_with_each_encoding_matches_the_reference, Order,
                              encodings_of_runs) {
  for (const int n : {0, 1, 7}) layer_trial<training<layer<Order, axes>, "loss">>(n);
}

// Encodings whose terms differ between heads.
using encodings_by_heads = std::tuple<nn::position::learned_alibi, nn::position::t5<>,
                                      nn::position::shaw<2>, nn::position::transformer_xl<>>;
BOOST_AUTO_TEST_CASE_TEMPLATE(encodings_per_head_match_the_reference_for_grouped_heads, Order,
                              encodings_by_heads) {
  layer_trial<training<layer<Order, grouped_axes>, "loss">>(3);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(gradients_of_encodings_match_central_differences, Order,
                              weft::testing::other_encodings) {
  check_gradients<layer<Order, axes>>(lengths<Pos>(5));
}

BOOST_AUTO_TEST_SUITE_END()
