// Attention with a position encoding is one operation, forward and backward: nothing is stored per
// pair of query and key.
#include <boost/test/unit_test.hpp>

#include "nn/encodings.hpp"
#include "passes/graphs.hpp"
#include "support/run_time.hpp"

namespace {

using namespace weft;
using weft::testing::compiled_graph, weft::testing::count;
namespace position = nn::position;

struct Batch : axis<2> {};
struct Pos : axis<up_to<50>> {};
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

template <class Order, class Axes, bool Causal>
struct layer {
  constexpr auto operator()(scope s) const {
    const auto x = s.input<"x", float, Batch, Pos, Embed>();
    const auto attend = [&](const auto& mask) {
      return nn::self_attention<Axes>(s, x, mask, {}, Order{}).output;
    };
    const auto y = [&] {
      if constexpr (Causal)
        return attend(nn::causal<Pos, KeyPos>());
      else
        return attend(nn::mask_list<>{});
    }();
    return results(as<"loss">(sum<Batch, Pos, Embed>(y * y)));
  }
};

template <class Keys>
bool has_pairs(const graph& g) {
  for (int i = 0; i < g.count; ++i)
    if (!g.nodes[i].fused && g.nodes[i].axes.contains(&info_of<Pos>) &&
        g.nodes[i].axes.contains(&info_of<Keys>))
      return true;
  return false;
}
template <class Model>
bool is_fused() {
  const auto forward = compiled_graph<inference<Model, "loss">>();
  const auto backward = compiled_graph<training<Model, "loss">>();
  return count(*forward, op::attention) == 1 && !has_pairs<KeyPos>(*forward) &&
         count(*backward, op::attention) == 1 && count(*backward, op::attention_adjoint) == 1 &&
         !has_pairs<KeyPos>(*backward);
}
template <class Order>
bool all_fused() {
  return is_fused<layer<Order, axes, false>>() && is_fused<layer<Order, axes, true>>() &&
         is_fused<layer<Order, grouped_axes, true>>();
}

// A sequence in parts, with a cache.
struct Cache : axis<up_to<90>> {};
template <class Order>
struct part {
  constexpr auto operator()(scope s) const {
    const Order order;
    const auto q = s.input<"q", float, Batch, Pos, Heads, HeadDim>();
    const auto k = s.input<"k", float, Batch, Pos, Heads, HeadDim>();
    const auto at = nn::decode_state<Pos, Batch>(s / "decoding");
    const auto where = nn::positions_in_attention<Pos, Cache>(nn::position_ids(at));
    const auto past = nn::kv_cache<Cache>(s / "cache", at, k, k);
    const auto scores = nn::dot_product_score<HeadDim>(q, past.keys) +
                        order.template scores<shape<Heads>, HeadDim>(s, q, where);
    return nn::attention<Cache>(scores, past.values, nn::causal_cache_mask<Cache>(at)).output;
  }
};
template <class Order>
bool part_is_fused() {
  const auto g = compiled_graph<inference<part<Order>>>();
  return count(*g, op::attention) == 1 && !has_pairs<Cache>(*g);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fused_positions, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(attention_with_a_position_encoding_is_one_operation) {
  BOOST_TEST((all_fused<position::alibi>()));
  BOOST_TEST((all_fused<position::learned_alibi>()));
  BOOST_TEST((all_fused<position::t5<>>()));
  BOOST_TEST((all_fused<weft::testing::causal_t5>()));
  BOOST_TEST((all_fused<position::shaw_keys<4>>()));
  BOOST_TEST((all_fused<position::transformer_xl<>>()));
  BOOST_TEST((all_fused<position::rotary<>>()));
  BOOST_TEST((all_fused<position::learned_rotary<>>()));
  BOOST_TEST((all_fused<position::xpos<>>()));
  BOOST_TEST((all_fused<position::long_rotary<>>()));
}

BOOST_AUTO_TEST_CASE(cached_attention_with_a_position_encoding_is_one_operation) {
  BOOST_TEST((part_is_fused<position::alibi>()));
  BOOST_TEST((part_is_fused<position::t5<>>()));
  BOOST_TEST((part_is_fused<position::shaw_keys<4>>()));
  BOOST_TEST((part_is_fused<position::transformer_xl<>>()));
}

BOOST_AUTO_TEST_SUITE_END()
