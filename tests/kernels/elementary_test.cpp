#include "weft/kernels/elementary.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "support/golden_init.hpp"

using namespace weft::kernels;

namespace {

constexpr int count = 20000;
constexpr double infinity = std::numeric_limits<double>::infinity();

// A number in [-1, 1).
double number(int i) {
  return static_cast<double>(weft::golden::hash("x", static_cast<std::size_t>(i))) * 0x1p-31 - 1;
}
double error_of(double got, double expected) {
  return got == expected ? 0 : std::abs(got - expected) / std::abs(expected);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(elementary)

BOOST_AUTO_TEST_CASE(logarithms_and_exponentials_are_those_of_the_c_library_to_the_last_bits) {
  double of_logarithms = 0, of_exponentials = 0;
  for (int i = 0; i < count; ++i) {
    const double x = std::ldexp(1 + number(i) / 2, i % 2000 - 1000);
    of_logarithms = std::max(of_logarithms, error_of(logarithm(x), std::log(x)));
    const double y = 708 * number(i);
    of_exponentials = std::max(of_exponentials, error_of(exponential(y), std::exp(y)));
  }
  BOOST_TEST(of_logarithms <= 6e-16);
  BOOST_TEST(of_exponentials <= 6e-16);
  BOOST_TEST(logarithm(0) == -infinity);
  BOOST_TEST(logarithm(infinity) == infinity);
  BOOST_TEST(std::isnan(logarithm(-1)));
  BOOST_TEST(std::isnan(logarithm(std::nan(""))));
  BOOST_TEST(error_of(logarithm(0x1p-1074), -1074 * std::numbers::ln2) <= 6e-16);
  BOOST_TEST(exponential(-infinity) == 0);
  BOOST_TEST(exponential(infinity) == infinity);
  BOOST_TEST(std::isnan(exponential(std::nan(""))));
}

BOOST_AUTO_TEST_CASE(powers_are_those_of_the_c_library_to_a_rounding_for_each_factor) {
  for (int i = 0; i < count; ++i) {
    const double base = 1 + number(i) / 100;
    const int n = i % 3000;
    BOOST_TEST_REQUIRE(error_of(power(base, n), std::pow(base, n)) <= (n + 2) * 1.2e-16);
  }
}

BOOST_AUTO_TEST_CASE(cosines_of_turns_and_sines_of_large_angles_are_those_of_the_c_library) {
  for (int i = 0; i < count; ++i) {
    const double x = number(i);
    BOOST_TEST_REQUIRE(std::abs(cosine_of_turns(x) - std::cos(2 * std::numbers::pi * x)) <= 1e-15);
    BOOST_TEST_REQUIRE(cosine_of_turns(x + 8) == cosine_of_turns(x));
    const auto angle = static_cast<float>(std::ldexp(1.5 * x, i % 127));
    if (std::abs(angle) < 1) continue;
    const auto wide = static_cast<double>(angle);
    BOOST_TEST_REQUIRE(error_of(sine(angle, 0), std::sin(wide)) <= 0x1p-30, angle);
    BOOST_TEST_REQUIRE(error_of(sine(angle, 1), std::cos(wide)) <= 0x1p-30, angle);
  }
  BOOST_TEST(cosine_of_turns(0.25) == 0);
  BOOST_TEST(cosine_of_turns(0.5) == -1);
  BOOST_TEST(std::isnan(sine(std::numeric_limits<float>::infinity(), 0)));
}

BOOST_AUTO_TEST_SUITE_END()
