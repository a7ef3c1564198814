// Dropout of attention weights is fused into attention: the same elements are dropped, and nothing
// is stored per pair of query and key.
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>

#include "passes/attended.hpp"
#include "support/central_differences.hpp"
#include "weft/weft.hpp"

namespace {

using weft::op, weft::positions, weft::dropout, weft::testing::count;
using namespace weft::testing::attention;

template <class S, class V>
constexpr auto dropped(const S& scores, const V& values, double rate = 0.3) {
  return weft::dot<KeyPos>(dropout(weft::softmax<KeyPos>(scores), rate), values);
}

// With a dropout of the query, which must not be mistaken for that of the weights.
struct plain {
  constexpr auto operator()(weft::scope s) const {
    auto [q, k, v] = operands_in(s);
    return dropped(weft::dot<HeadDim>(dropout(q, 0.1), k), v);
  }
};
// In the weights, the key axis precedes the query axis.
struct keys_first {
  constexpr auto operator()(weft::scope s) const {
    auto [q, k, v] = operands_in(s);
    return dropped(weft::dot<HeadDim>(k, q), v);
  }
};
struct causal {
  constexpr auto operator()(weft::scope s) const {
    auto [q, k, v] = operands_in(s);
    const auto scores = weft::dot<HeadDim>(q, k);
    return dropped(where(weft::nn::causal<Pos, KeyPos>(), scores, -weft::infinity), v, 0.1);
  }
};
// The sliding window of a cache, lengths and a mask.
struct hidden {
  constexpr auto operator()(weft::scope s) const {
    auto [q, k, v] = operands_in(s);
    const auto query = positions<Pos>() + s.input<"offset", std::int32_t, Batch>();
    const auto seen = positions<KeyPos>() <= query && positions<KeyPos>() >= query - 4 &&
                      positions<KeyPos>() < s.input<"lengths", std::int32_t, Batch>() &&
                      s.input<"mask", bool, Heads, KeyPos>();
    return dropped(where(seen, weft::dot<HeadDim>(q, k), -weft::infinity), v, 0.2);
  }
};
// A soft cap, a dense bias and a relative one, both learned.
struct biased {
  struct Distance : weft::axis<5> {};
  constexpr auto operator()(weft::scope s) const {
    auto [q, k, v] = operands_in(s);
    const auto index = minimum(maximum(positions<KeyPos>() - positions<Pos>() + 2, 0), 4);
    const auto bias = s.param<"bias", Heads, KeyPos>() +
                      weft::gather<Distance>(s.param<"table", Heads, Distance>(), index);
    return dropped(2 * tanh(weft::dot<HeadDim>(q, k) / 2) + bias, v);
  }
};
// Groups of heads share keys (GQA).
struct grouped {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, Heads, Group, HeadDim>() * s.param<"gain", HeadDim>();
    auto k = s.input<"k", float, Batch, KeyPos, Heads, HeadDim>() * s.param<"key", HeadDim>();
    auto v = s.input<"v", float, Batch, KeyPos, Heads, Width>() * s.param<"value", Width>();
    return dropped(weft::dot<HeadDim>(x, k), v, 0.5);
  }
};
// Not fused: weights that are dropped twice, or that are a result too.
struct dropped_twice {
  constexpr auto operator()(weft::scope s) const {
    auto [q, k, v] = operands_in(s);
    const auto weights = weft::nn::attention_weights<HeadDim, KeyPos>(q, k);
    return weft::dot<KeyPos>(dropout(dropout(weights, 0.1), 0.1), v);
  }
};
struct dropped_weights_too {
  constexpr auto operator()(weft::scope s) const {
    auto [q, k, v] = operands_in(s);
    const auto weights = dropout(weft::nn::attention_weights<HeadDim, KeyPos>(q, k), 0.1);
    return weft::results(weft::as<"output">(weft::dot<KeyPos>(weights, v)),
                         weft::as<"weights">(weights));
  }
};

// Checks that scores, softmax and dropout of the weights are one operation; `others` is the number
// of other dropouts.
template <class Unit>
void is_one_operation(int others = 0) {
  const auto g = weft::testing::compiled_graph<Unit>();
  BOOST_TEST(count(*g, op::attention) == 1);
  BOOST_TEST(count(*g, op::softmax) + count(*g, op::softmax_adjoint) == 0);
  BOOST_TEST(count(*g, op::dropout) == others);
}

BOOST_AUTO_TEST_SUITE(dropped_attention, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(a_single_dropout_of_unshared_weights_is_fused_into_attention) {
  is_one_operation<weft::inference<plain>>();
  is_one_operation<weft::sampling<plain>>(1);
  is_one_operation<weft::training<trainable<plain>, "loss">>(2);  // forward, backward
  is_one_operation<weft::training<trainable<keys_first>, "loss">>();
  is_one_operation<weft::training<trainable<hidden>, "loss">>();
  is_one_operation<weft::training<trainable<biased>, "loss">>();
  is_one_operation<weft::training<trainable<grouped>, "loss">>();
  BOOST_TEST(count(attended<dropped_twice>(), op::attention) == 0);
  BOOST_TEST(count(attended<dropped_weights_too>(), op::attention) == 0);
}

BOOST_AUTO_TEST_CASE(fusing_attention_dropout_preserves_the_loss_and_its_gradients) {
  fuses<plain>("dropout");
  fuses<keys_first>("dropout");
  fuses<causal>("[, 0] dropout");
  fuses<hidden>("[-4, 0] mask offset lengths dropout");
  fuses<biased>("bias relative dropout cap 2 origin 2");
  fuses<grouped>("dropout");
}

BOOST_AUTO_TEST_CASE(attention_dropout_matches_the_reference_on_every_target) {
  runs<plain>();
  runs<keys_first>();
  runs<hidden>();
  runs<biased>();
  runs<grouped>();
}

BOOST_AUTO_TEST_CASE(gradients_with_attention_dropout_match_central_differences) {
  weft::testing::gradient_trial<trainable<plain>>(offsets(3));
  weft::testing::gradient_trial<trainable<biased>>(offsets(3));
}

BOOST_AUTO_TEST_SUITE_END()

// N positions.
template <std::size_t N>
struct sequence {
  struct Pos : weft::axis<N> {};
  struct KeyPos : weft::alias<Pos> {};
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos, Heads, HeadDim>() * s.param<"gain", HeadDim>();
    const auto keys = weft::rename<Pos, KeyPos>(x);
    const auto weights = dropout(weft::softmax<KeyPos>(weft::dot<HeadDim>(x, keys)), 0.1);
    const auto y = weft::dot<KeyPos>(weights, keys);
    return weft::results(weft::as<"loss">(weft::mean<Pos, Heads, HeadDim>(y * y)));
  }
};
// The workspace grows linearly with the number of positions: nothing is stored per pair of them.
template <std::size_t N>
constexpr std::size_t growth = weft::training_cost<sequence<2 * N>>.workspace_bytes -
                               weft::training_cost<sequence<N>>.workspace_bytes;
static_assert(growth<1024> == 2 * growth<512>);

}  // namespace
