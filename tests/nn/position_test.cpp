// Positional encodings against their formulas, and the properties that they are chosen for.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numbers>
#include <vector>

#include "passes/graphs.hpp"
#include "support/axes.hpp"
#include "support/greater_error.hpp"
#include "support/thrown_by.hpp"
#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using weft::testing::lengths, weft::testing::settings, weft::testing::trial, weft::testing::One,
    weft::testing::Four, weft::testing::Five, weft::testing::Six, weft::testing::Seven;

struct Batch : weft::axis<2> {};
struct Pos : weft::axis<weft::up_to<40>> {};
struct KeyPos : weft::alias<Pos> {};
struct HeadDim : weft::axis<20> {};
struct Heads : weft::axis<3> {};
struct Freq : weft::axis<10> {};

struct absolute {
  constexpr auto operator()(weft::scope s) const {
    using weft::as;
    namespace nn = weft::nn;
    auto x = s.input<"x", float, Pos>();  // gives only the length
    auto t = weft::positions<Pos>();
    auto coordinate = weft::broadcast<One>(weft::cast<float>(t));
    return weft::results(
        as<"four">(nn::sinusoidal<Four>(t) + x * 0), as<"odd">(nn::sinusoidal<Five>(t) + x * 0),
        as<"base">(nn::sinusoidal<Six>(t, {.base = 50}) + x * 0),
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
        as<"neighbours">(nn::rotary<HeadDim, rotary_pairs::interleaved>(q, t)),
        as<"part">(nn::rotary<HeadDim, rotary_pairs::half_split, 8>(q, t)),
        as<"part_of_neighbours">(nn::rotary<HeadDim, rotary_pairs::interleaved, 2>(q, t)),
        as<"at">(nn::rotary<HeadDim>(q, at)),
        as<"linear">(nn::rotary<HeadDim>(q, t, {.scaling = nn::linear_scaling(4)})),
        as<"ntk">(nn::rotary<HeadDim>(q, t, {.scaling = nn::ntk_scaling(4)})),
        as<"yarn">(nn::rotary<HeadDim>(
            q, t, {.base = 500, .scaling = nn::yarn_scaling({.factor = 4, .trained = 64})})),
        as<"learned">(nn::rotary<HeadDim>(q, t, w)));
  }
};

// The term that an encoding adds to embeddings of zeros.
template <class Order>
struct added {
  constexpr auto operator()(weft::scope s) const {
    const auto zeros = s.input<"zeros", float, Pos, Five>();
    return weft::nn::add_positions<Pos, Five>(s, zeros, Order{});
  }
};
struct Table : weft::axis<6> {};

template <class... H>
struct slopes {
  constexpr auto operator()(weft::scope) const {
    return weft::nn::alibi_slopes<weft::shape<H...>>();
  }
};
template <std::size_t Size>
struct Many : weft::axis<Size> {};

struct dropped {
  constexpr auto operator()(weft::scope s) const {
    const auto x = s.input<"x", float, Pos, Five>();
    const auto y = weft::nn::add_positions<Pos, Five>(s, x, weft::nn::position::sinusoidal(),
                                                      {.dropout = 0.1});
    return weft::as<"loss">(weft::sum<Pos, Five>(y));
  }
};
static_assert(weft::testing::count(weft::sampling<dropped>::make(), weft::op::dropout) == 1);
static_assert(weft::testing::count(weft::inference<dropped>::make(), weft::op::dropout) == 0);

}  // namespace

BOOST_AUTO_TEST_SUITE(position)

BOOST_AUTO_TEST_CASE(absolute_encodings_equal_the_reference_at_every_length) {
  for (int n : {0, 1, 3, 40}) trial<weft::inference<absolute>>(lengths<Pos>(n));
}

BOOST_AUTO_TEST_CASE(rotations_equal_the_reference_at_every_length) {
  for (int n : {0, 1, 3, 40}) trial<weft::inference<rotations>>(lengths<Pos>(n));
}

// float32 rounds an angle of up to t by up to t * 2^-24; frequency, sine and cosine round as well.
double angle_tolerance(std::size_t t) {
  return (8 + 8 * static_cast<double>(t)) * 0x1p-24;
}

BOOST_AUTO_TEST_CASE(sinusoids_match_the_formula_of_the_paper) {
  weft::module<absolute, "four", "odd", "base", "learned"> net;
  const auto all = net(weft::arg<"x">(weft::array<float, Pos>(40)));
  const auto check = [](const auto& p, std::size_t size, double base) {
    for (std::size_t t = 0; t < 40; ++t)
      for (std::size_t i = 0; i < size; ++i) {
        const double pair = static_cast<double>(i / 2 * 2) / static_cast<double>(size);
        const double angle = static_cast<double>(t) * std::pow(base, -pair);
        const double expected = i % 2 == 0 ? std::sin(angle) : std::cos(angle);
        BOOST_TEST(std::abs(static_cast<double>(p(t, i)) - expected) <= angle_tolerance(t),
                   "p(" << t << ", " << i << ") is " << p(t, i) << ", not " << expected);
      }
  };
  check(all.get<"learned">(), 7, 10000);  // the initial frequencies
  check(all.get<"four">(), 4, 10000);     // sin t, cos t, sin t/100, cos t/100
  check(all.get<"odd">(), 5, 10000);
  check(all.get<"base">(), 6, 50);
}

// Su et al. 2021, equation 34, with the frequencies of Chen et al. 2023 and Peng et al. 2023.
BOOST_AUTO_TEST_CASE(rotations_match_the_formulas_of_the_papers) {
  weft::module<rotations, "halves", "neighbours", "part", "part_of_neighbours", "at", "linear",
               "ntk", "yarn", "learned">
      net;
  weft::array<float, Batch, Pos, Heads, HeadDim> q(40);
  for (std::size_t i = 0; i < q.size(); ++i)
    q.data()[i] = std::sin(static_cast<float>(i * i % 1009));
  weft::array<std::int32_t, Batch, Pos> at(40);
  for (std::size_t i = 0; i < at.size(); ++i) at.data()[i] = static_cast<int>(7 * i % 53);
  const auto all = net(weft::arg<"q">(q), weft::arg<"at">(at));

  struct rotation {
    std::size_t size;
    bool neighbours = false, given = false;
    double base = 10000, slower = 1, ntk = 1;
    bool yarn = false;  // a length of 64, scaled by 4
  };
  const auto check = [&](const auto& got, const rotation& r) {
    const auto frequency = [&](std::size_t j) {
      const double size = static_cast<double>(r.size), pair = static_cast<double>(2 * j) / size;
      const double base = r.base * std::pow(r.ntk, size / (size - 2));
      const double w = std::pow(base, -pair);
      if (!r.yarn) return w / r.slower;
      const auto turning = [&](double turns) {  // the index of the pair that turns so often
        return size * std::log(64 / (2 * std::numbers::pi * turns)) / (2 * std::log(r.base));
      };
      const double low = std::max(std::floor(turning(32)), 0.), high = std::ceil(turning(1));
      const double ramp = std::clamp((static_cast<double>(j) - low) / (high - low), 0., 1.);
      return ramp * w / 4 + (1 - ramp) * w;
    };
    const double stretch = r.yarn ? 0.1 * std::log(4.) + 1 : 1;
    double worst = 0;
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t t = 0; t < 40; ++t)
        for (std::size_t h = 0; h < 3; ++h) {
          const auto x = [&](std::size_t d) { return static_cast<double>(q(b, t, h, d)); };
          const auto off = [&](std::size_t d, double expected) {
            worst = weft::testing::greater_error(
                worst, std::abs(static_cast<double>(got(b, t, h, d)) - expected));
          };
          for (std::size_t j = 0; j < r.size / 2; ++j) {
            const std::size_t a = r.neighbours ? 2 * j : j,
                              c = r.neighbours ? a + 1 : a + r.size / 2;
            const double angle = (r.given ? at(b, t) : static_cast<double>(t)) * frequency(j);
            off(a, stretch * (x(a) * std::cos(angle) - x(c) * std::sin(angle)));
            off(c, stretch * (x(c) * std::cos(angle) + x(a) * std::sin(angle)));
          }
          for (std::size_t d = r.size; d < 20; ++d) off(d, x(d));
        }
    BOOST_TEST(worst <= 2 * stretch * angle_tolerance(53));
  };
  check(all.get<"halves">(), {.size = 20});
  check(all.get<"neighbours">(), {.size = 20, .neighbours = true});
  check(all.get<"part">(), {.size = 8});
  check(all.get<"part_of_neighbours">(), {.size = 2, .neighbours = true});
  check(all.get<"at">(), {.size = 20, .given = true});
  check(all.get<"linear">(), {.size = 20, .slower = 4});
  check(all.get<"ntk">(), {.size = 20, .ntk = 4});
  check(all.get<"yarn">(), {.size = 20, .base = 500, .yarn = true});
  check(all.get<"learned">(), {.size = 20});  // the initial frequencies
}

BOOST_AUTO_TEST_CASE(scores_of_rotated_vectors_depend_on_the_distance_alone) {
  weft::module<rotations, "halves", "neighbours", "part", "ntk", "yarn"> net;
  weft::array<float, Batch, Pos, Heads, HeadDim> q(40);
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t t = 0; t < 40; ++t)
      for (std::size_t h = 0; h < 3; ++h)
        for (std::size_t d = 0; d < 20; ++d)  // the same at every position
          q(b, t, h, d) = static_cast<float>(std::sin(static_cast<double>(7 * d + 3 * h + b + 1)));
  const auto all = net(weft::arg<"q">(q));
  const auto check = [](const auto& x) {
    const auto score = [&](std::size_t m, std::size_t n) {
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

BOOST_AUTO_TEST_CASE(naive_encodings_are_the_index_and_the_relative_index) {
  const weft::array<float, Pos, Five> zeros(10);
  weft::module<added<weft::nn::position::index>> index;
  weft::module<added<weft::nn::position::relative_index<>>> share;
  const auto of_index = index(weft::arg<"zeros">(zeros));
  const auto of_share = share(weft::arg<"zeros">(zeros));
  for (std::size_t t = 0; t < 10; ++t)
    for (std::size_t i = 0; i < 5; ++i) {
      BOOST_TEST(of_index(t, i) == static_cast<float>(t));
      BOOST_TEST(of_share(t, i) == static_cast<float>(t) / 10);
    }
}

BOOST_AUTO_TEST_CASE(learned_encodings_are_rows_of_the_table_and_nothing_lies_beyond_it) {
  const weft::array<float, Pos, Five> zeros(10), some(6);
  weft::module<added<weft::nn::position::learned<>>> all;
  weft::module<added<weft::nn::position::learned<Table>>> six;
  const auto of_all = all(weft::arg<"zeros">(zeros));
  const auto of_six = six(weft::arg<"zeros">(some));
  for (std::size_t t = 0; t < 10; ++t)
    for (std::size_t i = 0; i < 5; ++i) {
      BOOST_TEST(of_all(t, i) == all.parameters()[0].values[5 * t + i]);
      if (t < 6) BOOST_TEST(of_six(t, i) == six.parameters()[0].values[5 * t + i]);
    }
  weft::testing::refuses([&] { six(weft::arg<"zeros">(zeros)); },
                         "and an index into axis Table is less than 6");
}

// Press et al. 2022, section 3: 2^(-8/n), 2^(-16/n), …; the rule of their code for other n is
// written out here for 3, 6 and 12.
BOOST_AUTO_TEST_CASE(slopes_match_alibi) {
  const auto check = [](auto model, const std::vector<double>& exponents) {
    weft::module<decltype(model)> net;
    const auto got = net();
    BOOST_TEST_REQUIRE(got.size() == exponents.size());
    for (std::size_t h = 0; h < exponents.size(); ++h) {
      const double expected = std::exp2(-exponents[h]);
      BOOST_TEST(std::abs(static_cast<double>(got.data()[h]) - expected) <=
                 8 * (1 + exponents[h]) * 0x1p-24 * expected);
    }
  };
  check(slopes<Many<1>>(), {8});
  check(slopes<Many<2>>(), {4, 8});
  check(slopes<Many<8>>(), {1, 2, 3, 4, 5, 6, 7, 8});
  check(slopes<Many<3>>(), {4, 8, 2});
  check(slopes<Many<6>>(), {2, 4, 6, 8, 1, 3});
  check(slopes<Many<12>>(), {1, 2, 3, 4, 5, 6, 7, 8, .5, 1.5, 2.5, 3.5});
  check(slopes<Many<2>, Many<3>>(), {2, 4, 6, 8, 1, 3});  // the slopes of 6 heads, by groups
}

BOOST_AUTO_TEST_SUITE_END()
