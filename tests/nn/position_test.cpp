// Positional encodings against their formulas, and the properties that they are chosen for.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numbers>

#include "support/central_differences.hpp"
#include "support/trial.hpp"
#include "weft/nn/position/fourier.hpp"
#include "weft/nn/position/naive.hpp"
#include "weft/nn/position/rotary.hpp"
#include "weft/nn/position/sinusoidal.hpp"
#include "weft/ops/reduce.hpp"
#include "weft/run/module.hpp"

namespace {

using weft::testing::lengths;
using weft::testing::settings;
using weft::testing::trial;

struct Batch : weft::axis<2> {};
struct Pos : weft::axis<weft::up_to<40>> {};
struct KeyPos : weft::alias<Pos> {};
struct One : weft::axis<1> {};
struct Four : weft::axis<4> {};
struct Five : weft::axis<5> {};
struct Seven : weft::axis<7> {};
struct Six : weft::axis<6> {};
struct HeadDim : weft::axis<20> {};
struct Heads : weft::axis<3> {};
struct Freq : weft::axis<10> {};

struct absolute {
  constexpr auto operator()(weft::scope s) const {
    using weft::as;
    namespace nn = weft::nn;
    auto x = s.input<"x", float, Pos>();  // only its length is of use
    auto t = weft::positions<Pos>();
    auto coordinate = weft::broadcast<One>(weft::cast<float>(t));
    return weft::results(
        as<"four">(nn::sinusoidal<Four>(t) + x * 0), as<"odd">(nn::sinusoidal<Five>(t) + x * 0),
        as<"base">(nn::sinusoidal<Six>(t, 50) + x * 0),
        as<"index">(nn::index_positions<Four>(t) + x * 0),
        as<"share">(nn::relative_index_positions<Pos, Four>(t) + x * 0),
        as<"learned">(nn::learned_sinusoidal<Seven>(s, t) + x * 0),
        as<"fourier">(nn::fourier_features<One, Six, Seven, Five>(s / "fourier", coordinate) +
                      x * 0));
  }
};

struct rotations {
  constexpr auto operator()(weft::scope s) const {
    using weft::as;
    namespace nn = weft::nn;
    using nn::rotary_pairs;
    auto q = s.input<"q", float, Batch, Pos, Heads, HeadDim>();
    auto at = s.input<"at", std::int32_t, Batch, Pos>();
    auto t = weft::positions<Pos>();
    auto w = nn::learned_frequencies<Freq>(s / "rotary", 20);
    return weft::results(
        as<"halves">(nn::rotary<HeadDim>(q, t)),
        as<"neighbours">(nn::rotary<HeadDim, rotary_pairs::neighbours>(q, t)),
        as<"part">(nn::rotary<HeadDim, rotary_pairs::halves, 8>(q, t)),
        as<"part_of_neighbours">(nn::rotary<HeadDim, rotary_pairs::neighbours, 2>(q, t)),
        as<"at">(nn::rotary<HeadDim>(q, at)),
        as<"linear">(nn::rotary<HeadDim>(q, t, {.scaling = nn::linear_scaling(4)})),
        as<"ntk">(nn::rotary<HeadDim>(q, t, {.scaling = nn::ntk_scaling(4)})),
        as<"yarn">(nn::rotary<HeadDim>(q, t, {.base = 500, .scaling = nn::yarn_scaling(4, 64)})),
        as<"learned">(nn::rotary<HeadDim>(q, t, w)));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(position)

BOOST_AUTO_TEST_CASE(absolute_encodings_equal_the_reference_at_every_length) {
  for (int n : {0, 1, 3, 40}) trial<weft::inference<absolute>>(lengths<Pos>(n));
}

BOOST_AUTO_TEST_CASE(rotations_equal_the_reference_at_every_length) {
  for (int n : {0, 1, 3, 40}) trial<weft::inference<rotations>>(lengths<Pos>(n));
}

// float32 rounds an angle of t to t * 2^-24, and so do frequency, sine and cosine.
double angle_tolerance(std::size_t t) {
  return (8 + 8 * static_cast<double>(t)) * 0x1p-24;
}

BOOST_AUTO_TEST_CASE(sinusoids_are_those_of_the_paper) {
  weft::module<absolute, "four", "odd", "base"> net;
  auto const all = net(weft::arg<"x">(weft::array<float, Pos>(40)));
  auto const check = [](const auto& p, std::size_t size, double base) {
    for (std::size_t t = 0; t < 40; ++t)
      for (std::size_t i = 0; i < size; ++i) {
        double const pair = static_cast<double>(i / 2 * 2) / static_cast<double>(size);
        double const angle = static_cast<double>(t) * std::pow(base, -pair);
        double const expected = i % 2 == 0 ? std::sin(angle) : std::cos(angle);
        BOOST_TEST(std::abs(static_cast<double>(p(t, i)) - expected) <= angle_tolerance(t),
                   "p(" << t << ", " << i << ") is " << p(t, i) << ", not " << expected);
      }
  };
  check(all.get<"four">(), 4, 10000);  // sin t, cos t, sin t/100, cos t/100
  check(all.get<"odd">(), 5, 10000);
  check(all.get<"base">(), 6, 50);
}

BOOST_AUTO_TEST_CASE(scores_of_rotated_vectors_depend_on_the_distance_alone) {
  weft::module<rotations, "halves", "neighbours", "part", "ntk", "yarn"> net;
  weft::array<float, Batch, Pos, Heads, HeadDim> q(40);
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t t = 0; t < 40; ++t)
      for (std::size_t h = 0; h < 3; ++h)
        for (std::size_t d = 0; d < 20; ++d)  // the same at every position
          q(b, t, h, d) = static_cast<float>(std::sin(static_cast<double>(7 * d + 3 * h + b + 1)));
  auto const all = net(weft::arg<"q">(q));
  auto const check = [](const auto& x) {
    auto const score = [&](std::size_t m, std::size_t n) {
      double sum = 0;
      for (std::size_t d = 0; d < 20; ++d)
        sum += static_cast<double>(x(0, m, 0, d)) * static_cast<double>(x(1, n, 0, d));
      return sum;
    };
    for (std::size_t distance = 0; distance < 20; ++distance)
      for (std::size_t n = 1; n < 20; ++n)
        BOOST_TEST(std::abs(score(n + distance, n) - score(distance, 0)) <=
                   20 * 4 * angle_tolerance(n + distance));
    BOOST_TEST(std::abs(score(5, 0) - score(0, 0)) > 0.1);  // and it does depend on it
  };
  check(all.get<"halves">());
  check(all.get<"neighbours">());
  check(all.get<"part">());
  check(all.get<"ntk">());
  check(all.get<"yarn">());
}

BOOST_AUTO_TEST_SUITE_END()
