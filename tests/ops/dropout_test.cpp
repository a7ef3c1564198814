// Dropout: which elements are dropped, and that forward and backward passes agree on them.
#include "weft/ops/dropout.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "passes/graphs.hpp"
#include "support/central_differences.hpp"
#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using weft::as, weft::dropout, weft::op, weft::testing::count, weft::testing::lengths,
    weft::testing::settings, weft::testing::trial;

struct Batch : weft::axis<weft::up_to<3>> {};
struct Pos : weft::axis<weft::up_to<20>> {};
struct KeyPos : weft::alias<Pos> {};
struct Heads : weft::axis<5> {};
struct HeadDim : weft::axis<20> {};
struct Embed : weft::axis<100> {};
struct Few : weft::axis<3> {};

// Dropout of weights, on a residual branch and inside of a fusion group; some operands are read in
// another axis order than they were written in.
struct block {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.param<"x", Pos, Heads, HeadDim>();
    auto w = s.param<"w", Few, Heads, HeadDim>();
    auto keys = weft::rename<Pos, KeyPos>(x);
    auto weights = dropout(weft::softmax<KeyPos>(weft::dot<HeadDim>(x, keys)), 0.1);
    auto seen = weft::dot<KeyPos>(weights, keys);
    auto y = x + dropout(weft::tanh(dropout(seen, 0.25)), 0.5);
    auto z = dropout(weft::dot<Heads, HeadDim>(y, w), 0.75);  // [Pos, Few]
    auto u = weft::dot<Heads, HeadDim>(w, y) + z;             // [Few, Pos]
    return as<"loss">(weft::sum<Pos, Few>(u * s.input<"scale", float, Pos>()));
  }
};

struct ends {
  constexpr auto operator()(weft::scope s) const {
    auto p = s.param<"p", Few, HeadDim>();
    auto all = dropout(p, 0), none = dropout(p, 1);
    return weft::results(as<"loss">(weft::sum<Few, HeadDim>(all * all + none)), as<"all">(all),
                         as<"none">(none));
  }
};
static_assert(count(weft::training<ends, "loss">::make(), op::dropout) == 0);

// Three dropouts of the same input; the first two have the same rate.
struct thrice {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    return weft::results(as<"first">(dropout(x, 0.3)), as<"second">(dropout(x, 0.3)),
                         as<"third">(dropout(x, 0.9)));
  }
};
using weft::inference, weft::sampling;
static_assert(count(sampling<thrice>::make(), op::dropout) == 3);
// Inference removes them.
static_assert(count(inference<thrice>::after("simplify"), op::dropout) == 0);
static_assert(inference<thrice>::after("simplify").count == 1);

// A mask for each step of a scan, and the sum of what it keeps of its state.
struct stepwise {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, Few>() * s.param<"gain", Few>();
    auto h = weft::scan<Pos>(weft::broadcast<Batch, Few>(weft::constant(1.0f)),
                             std::tuple{x, weft::dropout_mask<Batch, Pos, Few>(x, 0.5)},
                             [](auto h, auto x, auto mask) { return tanh(h * mask + x); });
    return as<"loss">(weft::sum<Batch, Pos, Few>(h.all));
  }
};

// The second dropout of `thrice`, in a model with other layers.
struct amid_others {
  constexpr auto operator()(weft::scope s) const {
    auto other = dropout(s.param<"other", Few>() * 2.0f, 0.5);
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    auto y = weft::tanh(x) + other;
    return weft::results(as<"second">(dropout(x, 0.3)), as<"y">(dropout(y, 0.3)));
  }
};

// A dropout whose operand is read in another axis order.
struct turned {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos, Embed>();
    auto y = s.input<"y", float, Embed, Pos>();
    return weft::results(as<"x">(dropout(x, 0.3)), as<"sum">(y + dropout(x, 0.3)));
  }
};

// A result of the reference; tests below check that kernels drop the same elements.
template <class Model>
std::vector<double> sampled(std::string_view name, const settings& s) {
  const auto g = weft::testing::plain_graph<sampling<Model>>();
  const weft::testing::expectation e(*g, s);
  return weft::reference::result(*g, e.values(), name).data;
}
settings ones(settings s, std::uint64_t seed = 0, std::uint64_t step = 0) {
  s.ranges["x"] = {1, 1};
  s.random = {seed, step};
  return s;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(dropouts, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(gradients_of_dropout_match_central_differences_and_the_reference) {
  settings s = lengths<Pos>(7);
  s.random = {11, 3};
  s.ranges["x"] = s.ranges["w"] = {0.1, 0.3};
  s.ranges["scale"] = {0.5, 1};
  weft::testing::check_gradients<block>(s);
  for (const int pos : {0, 1, 7, 20}) {
    s.lengths = lengths<Pos>(pos).lengths;
    trial<weft::training<block, "loss">>(s);
  }
  weft::testing::gradient_trial<ends>();
}

BOOST_AUTO_TEST_CASE(sampling_matches_the_reference_on_every_target_and_in_every_layout) {
  for (const int pos : {0, 1, 3, 20}) {
    settings s = lengths<Batch, Pos>(2, pos);
    s.random = {0xfedcba9876543210, 0x123456789abc};
    trial<sampling<thrice>>(s);
    trial<sampling<turned>>(lengths<Pos>(pos));
  }
  trial<sampling<ends>>();
}

BOOST_AUTO_TEST_CASE(a_scan_drops_others_at_each_step_by_a_mask) {
  for (const int pos : {0, 1, 7}) {
    settings s = lengths<Batch, Pos>(2, pos);
    trial<inference<stepwise>>(s);
    s.random = {0xfedcba9876543210, 0x123456789abc};
    trial<sampling<stepwise>>(s);
    s.tolerance = 1e-4;
    trial<weft::training<stepwise, "loss">>(s);
  }
}

BOOST_AUTO_TEST_CASE(dropout_is_the_identity_in_inference) {
  trial<inference<thrice>>(lengths<Batch, Pos>(2, 5));
}

// The kept fraction of n independent draws is off by more than 5 deviations (of a normal
// distribution) once in 1.7 million.
BOOST_AUTO_TEST_CASE(the_fraction_of_dropped_elements_equals_the_rate) {
  const settings s = ones(lengths<Batch, Pos>(3, 20));
  for (const auto& [name, rate] : {std::pair{"first", 0.3}, {"second", 0.3}, {"third", 0.9}}) {
    const auto y = sampled<thrice>(name, s);
    double kept = 0;
    for (const double v : y) {
      BOOST_TEST_REQUIRE((v == 0 || std::abs(v * (1 - rate) - 1) < 1e-6));
      kept += v != 0;
    }
    const auto n = static_cast<double>(y.size());
    BOOST_TEST(std::abs(kept - n * (1 - rate)) <= 5 * std::sqrt(n * rate * (1 - rate)));
  }
}

// Both elements of a pair of independent draws are dropped with probability rate^2.
BOOST_AUTO_TEST_CASE(masks_of_neighbours_steps_seeds_and_dropouts_are_independent) {
  const settings s = ones(lengths<Batch, Pos>(3, 20));
  const auto y = sampled<thrice>("first", s);
  const auto check = [&](const std::vector<double>& a, std::size_t from, const std::string& what) {
    double both = 0;
    for (std::size_t i = 0; i + from < y.size(); ++i) both += y[i] == 0 && a[i + from] == 0;
    const auto n = static_cast<double>(y.size() - from);
    const double p = 0.09;
    // A pair shares a draw with two other pairs, with covariance rate^3 - rate^4 each.
    const double variance = n * (p * (1 - p) + 2 * (0.027 - p * p));
    BOOST_TEST(std::abs(both - n * p) <= 5 * std::sqrt(variance), what);
  };
  for (const std::size_t apart : {1u, 2u, 3u, 4u, 8u, 100u, 2000u})
    check(y, apart, "neighbours " + std::to_string(apart) + " apart");
  check(sampled<thrice>("second", s), 0, "another dropout");
  check(sampled<thrice>("first", ones(s, 0, 1)), 0, "the next step");
  check(sampled<thrice>("first", ones(s, 0, std::uint64_t{1} << 32)), 0, "a step far away");
  check(sampled<thrice>("first", ones(s, 1, 0)), 0, "another seed");
  check(sampled<thrice>("first", ones(s, std::uint64_t{1} << 32, 0)), 0, "the seed's upper half");
}

BOOST_AUTO_TEST_CASE(a_mask_does_not_depend_on_other_layers_or_on_lengths) {
  const settings s = ones(lengths<Batch, Pos>(3, 20), 5, 6);
  const auto y = sampled<thrice>("second", s);
  BOOST_TEST((y == sampled<thrice>("second", s)));
  BOOST_TEST((y != sampled<thrice>("first", s)));
  BOOST_TEST((y == sampled<amid_others>("second", s)), "what else the model has");
  const auto shorter = sampled<thrice>("second", ones(lengths<Batch, Pos>(2, 4), 5, 6));
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t i = 0; i < 4 * 100; ++i)
      BOOST_TEST_REQUIRE(shorter[b * 400 + i] == y[b * 2000 + i], "the axes' lengths");
}

BOOST_AUTO_TEST_SUITE_END()
