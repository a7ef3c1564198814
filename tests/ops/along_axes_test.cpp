// Along axes: minima, masks, indices of extrema, logarithms of sums, variances.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "support/axes.hpp"
#include "support/central_differences.hpp"
#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using weft::as, weft::testing::Three, weft::testing::Five, weft::testing::Seven;

struct Pos : weft::axis<weft::up_to<40>> {};

struct along {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Three, Pos>();
    return weft::results(
        as<"min">(weft::min<Pos>(x)), as<"min_all">(weft::min<Pos, Three>(x)),
        as<"any">(weft::any<Pos>(x < -1)), as<"all">(weft::all<Pos>(x < 2)),
        as<"argmax">(weft::argmax<Pos>(x)), as<"argmin">(weft::argmin<Pos>(x)),
        as<"argmax_outer">(weft::argmax<Three>(x)), as<"logsumexp">(weft::logsumexp<Pos>(x)),
        as<"variance">(weft::variance<Pos>(x)), as<"biased">(weft::variance<Pos>(x, 0)));
  }
};

struct gradients {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.param<"x", Three, Five>();
    auto w = s.input<"w", float, Three>();
    auto total = [&](auto y) { return weft::sum<Three>(y * w); };
    return as<"loss">(total(weft::min<Five>(x)) + total(weft::logsumexp<Five>(3 * x)) +
                      total(weft::variance<Five>(x)) + weft::variance<Three, Five>(x, 0));
  }
};

// Of rows with no finite element, of equal and of large ones.
struct special {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.param<"x", Five, Three>();
    auto y = weft::logsumexp<Three>(x);
    return weft::results(as<"y">(y), as<"loss">(weft::sum<Five>(y)));
  }
};

struct classes {
  constexpr auto operator()(weft::scope s) const {
    auto i = s.input<"i", std::int32_t, Five>();
    return weft::results(as<"given">(weft::one_hot<Seven>(i)),
                         as<"computed">(weft::one_hot<Three>(i - 1)));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(along_axes)

BOOST_AUTO_TEST_CASE(reductions_match_their_formulas_at_every_length) {
  weft::module<along> net;
  for (const std::size_t n : {0u, 1u, 2u, 7u, 40u}) {
    weft::array<float, Three, Pos> x(n);
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t i = 0; i < n; ++i)
        x(r, i) = static_cast<float>((7 * i + 3 * r) % 5) - 2 + 1000 * static_cast<float>(r == 2);
    if (n > 2) x(1, n / 2) = NAN;
    const auto y = net(weft::arg<"x">(x));
    for (std::size_t r = 0; r < 3; ++r) {
      std::vector<float> row(n);
      for (std::size_t i = 0; i < n; ++i) row[i] = x(r, i);
      const bool is_nan = n > 2 && r == 1;
      double sum = 0, squares = 0, total = 0, most = -HUGE_VAL;
      for (const float v : row) sum += v, most = std::max<double>(most, v);
      for (const float v : row)
        squares += std::pow(v - sum / static_cast<double>(n), 2), total += std::exp(v - most);
      const auto least = std::min_element(row.begin(), row.end());
      const auto greatest = std::max_element(row.begin(), row.end());
      const auto near = [&](float got, double expected) {
        if (is_nan || std::isnan(expected)) return std::isnan(got);
        return got == static_cast<float>(expected) ||
               std::abs(got - expected) <= 2e-6 * (1 + expected);
      };
      BOOST_TEST(near(y.get<"min">()(r), n > 0 ? *least : HUGE_VAL));
      BOOST_TEST(near(y.get<"logsumexp">()(r), n > 0 ? most + std::log(total) : -HUGE_VAL));
      BOOST_TEST(near(y.get<"variance">()(r), squares / std::max(static_cast<double>(n) - 1, 0.0)));
      BOOST_TEST(near(y.get<"biased">()(r), squares / static_cast<double>(n)));
      BOOST_TEST(y.get<"any">()(r) ==
                 std::any_of(row.begin(), row.end(), [](float v) { return v < -1; }));
      BOOST_TEST(y.get<"all">()(r) ==
                 std::all_of(row.begin(), row.end(), [](float v) { return v < 2; }));
      const int at = is_nan ? static_cast<int>(n / 2) : -1;
      BOOST_TEST(y.get<"argmax">()(r) == (is_nan || n == 0 ? at : greatest - row.begin()));
      BOOST_TEST(y.get<"argmin">()(r) == (is_nan || n == 0 ? at : least - row.begin()));
    }
    for (std::size_t i = 0; i < n; ++i)
      BOOST_TEST(y.get<"argmax_outer">()(i) == (std::isnan(x(1, i)) ? 1 : 2));
  }
}

BOOST_AUTO_TEST_CASE(they_have_the_gradients_that_differences_give) {
  weft::testing::settings s;
  s.tolerance = 1e-5;
  weft::testing::gradient_trial<gradients>(s);
}

BOOST_AUTO_TEST_CASE(logsumexp_of_infinities_has_no_wrong_gradient) {
  weft::trainer<special> t;
  const auto x = t.parameters().find("x").values;
  constexpr float inf = HUGE_VALF;
  const float given[]{-inf, -inf, -inf, -inf, 1,      -inf,   200,  200,
                      -inf, inf,  0,    0,    -3e38f, -3e38f, 3e38f};
  std::copy(std::begin(given), std::end(given), x.begin());
  t.compute_gradients();
  weft::module<special, "y"> net(t.parameters());
  const auto y = net().get<"y">();
  const float values[]{-inf, 1, 200.6931472f, inf, 3e38f};
  for (std::size_t i = 0; i < 5; ++i) BOOST_TEST(y(i) == values[i]);
  const auto slope = t.gradients().find("x").values;
  const float slopes[]{0, 0, 0, 0, 1, 0, 0.5f, 0.5f, 0};
  for (std::size_t i = 0; i < std::size(slopes); ++i) BOOST_TEST(slope[i] == slopes[i]);
  BOOST_TEST(slope[14] == 1);
}

BOOST_AUTO_TEST_CASE(one_hot_is_1_at_the_index) {
  weft::module<classes> net;
  weft::array<std::int32_t, Five> i;
  for (std::size_t k = 0; k < 5; ++k) i(k) = static_cast<int>(k * k % 7);
  const auto y = net(weft::arg<"i">(i));
  for (std::size_t k = 0; k < 5; ++k) {
    for (int c = 0; c < 7; ++c)
      BOOST_TEST(y.get<"given">()(k, static_cast<std::size_t>(c)) == (c == i(k)));
    for (int c = 0; c < 3; ++c)
      BOOST_TEST(y.get<"computed">()(k, static_cast<std::size_t>(c)) == (c + 1 == i(k)));
  }
  i(3) = 7;
  BOOST_CHECK_THROW(net(weft::arg<"i">(i)), weft::error);
}

BOOST_AUTO_TEST_SUITE_END()
