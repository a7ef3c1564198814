// Each encoding gives the same results for a sequence in parts, with a cache, as for the whole.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include "nn/encodings.hpp"
#include "support/error_bound.hpp"
#include "support/trial.hpp"

namespace {

using namespace weft;
using weft::testing::encodings_of_caches;

struct Batch : axis<2> {};
struct Pos : axis<up_to<9>> {};
struct KeyPos : alias<Pos> {};
struct Cache : axis<up_to<11>> {};
struct Embed : axis<5> {};
struct Heads : axis<3> {};
struct HeadDim : axis<4> {};

// Queries have positions `at`; keys_of gives the keys and values that they attend to.
template <class Keys, class Order, class At, class Mask, class KeysOf>
constexpr auto layer(scope s, const Order& order, const At& at, const Mask& mask,
                     const KeysOf& keys_of) {
  using Out = shape<Heads, HeadDim>;
  const auto embedded = s.input<"x", float, Batch, Pos, Embed>();
  const auto x = nn::add_positions<Pos, Embed>(s / "embedding", embedded, order, at);
  const auto q = nn::linear<Embed, Out>(s / "q", x);
  const auto k = nn::linear<Embed, Out>(s / "k", x);
  const auto v = nn::linear<Embed, Out>(s / "v", x);
  const scope own = s / "position";
  const auto turned = order.template key<shape<Heads>, HeadDim>(own, k, at);
  const auto [keys, values] = keys_of(turned, v);
  const auto where = nn::positions_in_attention<Pos, Keys>(at);
  const auto products =
      nn::dot_product_score<HeadDim>(order.template query<shape<Heads>, HeadDim>(own, q, at), keys);
  const auto scores = products + order.template scores<shape<Heads>, HeadDim>(own, q, where);
  const auto seen = nn::attention<Keys>(scores, values, mask);
  const auto y =
      seen.output + order.template values<shape<Heads>, HeadDim>(own, seen.weights, where);
  return broadcast<Batch, Pos, Heads, HeadDim>(y);  // the axes in the same order
}

template <class Order>
struct whole {
  constexpr auto operator()(scope s) const {
    return layer<KeyPos>(s, Order{}, positions<Pos>(), nn::causal<Pos, KeyPos>(),
                         [](const auto& k, const auto& v) {
                           return nn::cached_rows{rename<Pos, KeyPos>(k), rename<Pos, KeyPos>(v)};
                         });
  }
};
template <class Order>
struct in_parts {
  constexpr auto operator()(scope s) const {
    const auto at = nn::decode_state<Pos, Batch>(s / "decoding");
    return layer<Cache>(
        s, Order{}, nn::position_ids(at), nn::causal_cache_mask<Cache>(at),
        [&](const auto& k, const auto& v) { return nn::kv_cache<Cache>(s / "cache", at, k, v); });
  }
};

constexpr std::size_t batch = Batch::extent, whole_length = Pos::extent;

}  // namespace

BOOST_AUTO_TEST_SUITE(position_cache, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE_TEMPLATE(a_sequence_in_parts_with_a_cache_matches_the_whole_sequence, Order,
                              encodings_of_caches) {
  parameters<in_parts<Order>> small({.seed = 7});  // keeps the error bound tight enough to fail
  for (float& w : small.floats()) w /= 4;
  module<in_parts<Order>> net(small);
  array<float, Batch, Pos, Embed> x(whole_length);
  for (std::size_t i = 0; i < x.size(); ++i)
    x.data()[i] = std::sin(static_cast<float>(i * i % 1009));

  const auto g = weft::testing::plain_graph<inference<whole<Order>>>();
  reference::lengths of;
  of.set<Pos>(whole_length);
  reference::bindings given;
  given.inputs["x"].assign(x.begin(), x.end());
  for (std::size_t i = 0; i < net.parameters().count(); ++i) {
    const auto p = net.parameters()[i];
    given.parameters[std::string(p.name)].assign(p.values.begin(), p.values.end());
  }
  const auto [all, bounds] = weft::testing::evaluate_with_bounds(*g, of, given);
  const auto expected = reference::result(*g, all).data;
  const double bound = bounds[static_cast<std::size_t>(g->outputs[0].node)];
  const auto [least, most] = std::minmax_element(expected.begin(), expected.end());
  BOOST_TEST_REQUIRE(bound < 0.01 * std::max(-*least, *most));

  std::size_t done = 0;
  for (const std::size_t rows : {4u, 1u, 1u, 3u}) {
    array<float, Batch, Pos, Embed> part(rows);
    for (std::size_t b = 0; b < batch; ++b)
      for (std::size_t p = 0; p < rows; ++p)
        for (std::size_t e = 0; e < Embed::extent; ++e) part(b, p, e) = x(b, done + p, e);
    const auto y = net(arg<"x">(part));
    for (std::size_t b = 0; b < batch; ++b)
      for (std::size_t p = 0; p < rows; ++p)
        for (std::size_t h = 0; h < Heads::extent; ++h)
          for (std::size_t d = 0; d < HeadDim::extent; ++d) {
            const std::size_t i =
                ((b * whole_length + done + p) * Heads::extent + h) * HeadDim::extent + d;
            BOOST_TEST(
                std::abs(static_cast<double>(y(b, p, h, d)) - expected[i]) <= bound,
                "position " << done + p << " is " << y(b, p, h, d) << ", not " << expected[i]);
          }
    done += rows;
  }
}

BOOST_AUTO_TEST_SUITE_END()
