// Every operand of attention at once: each is found in what a user wrote, and its values and
// gradients are the reference's. A new operand has to be in this model.
#include <boost/test/unit_test.hpp>
#include <cstdint>

#include "passes/attended.hpp"

namespace {

using weft::node, weft::op, weft::positions, weft::slot;
using namespace weft::testing::attention;

struct every_operand {
  struct Distance : weft::axis<5> {};
  constexpr auto operator()(weft::scope s) const {
    auto [q, k, v] = operands_in(s);
    const auto query = positions<Pos>() + s.input<"offset", std::int32_t, Batch>();
    const auto index = minimum(maximum(positions<KeyPos>() - query + 2, 0), 4);
    const auto bias = s.param<"bias", Heads, KeyPos>() +
                      weft::gather<Distance>(s.param<"table", Heads, Distance>(), index);
    const auto seen = positions<KeyPos>() <= query &&
                      positions<KeyPos>() >= s.input<"other", std::int32_t, Batch>() &&
                      positions<KeyPos>() < s.input<"lengths", std::int32_t, Batch>() &&
                      s.input<"mask", bool, Heads, KeyPos>();
    const auto scores = where(seen, weft::dot<HeadDim>(q, k) + bias, -weft::infinity);
    const auto weights = weft::nn::softmax_with_sink<KeyPos>(scores, s.param<"sink", Heads>());
    return weft::dot<KeyPos>(weft::dropout(weights, 0.2), v);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(attention_operands)

BOOST_AUTO_TEST_CASE(every_operand_and_every_gradient_is_of_what_a_user_wrote) {
  const auto check = [](const weft::graph& g, op kind) {
    for (int i = 0; i < g.count; ++i)
      if (const node& n = g.nodes[i]; n.kind == kind)
        for (int s = 0; s < weft::info(kind).slot_count; ++s)
          BOOST_TEST(weft::has_slot(n, s), name_of(weft::info(kind).slots[s].what));
  };
  check(*weft::testing::compiled_graph<weft::sampling<every_operand>>(), op::attention);
  check(*weft::testing::compiled_graph<weft::training<trainable<every_operand>, "loss">>(),
        op::attention_adjoint);
}

BOOST_AUTO_TEST_CASE(all_operands_together_match_the_reference_with_gradients) {
  for (const std::size_t length : {1u, 3u, 6u}) {
    auto s = offsets(length, {3, 9});  // so that most queries see keys
    s.ranges["offset"] = {0, 3};
    s.ranges["other"] = {-4, 1};
    s.tolerance = 1e-4;
    weft::testing::trial<weft::sampling<every_operand>>(s);
    weft::testing::trial<weft::training<trainable<every_operand>, "loss">>(s);
  }
}

BOOST_AUTO_TEST_SUITE_END()
