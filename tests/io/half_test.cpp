// Conversions of float16 and bfloat16.
#include "io/half.hpp"

#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

}  // namespace

BOOST_AUTO_TEST_SUITE(half)

BOOST_AUTO_TEST_CASE(every_float16_and_bfloat16_converts_to_float_and_back) {
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const float half = weft::from_float16(bits), brain = weft::from_bfloat16(bits);
    const bool same = (std::isnan(half) ? std::isnan(weft::from_float16(weft::to_float16(half)))
                                        : weft::to_float16(half) == bits) &&
                      (std::isnan(brain) ? std::isnan(weft::from_bfloat16(weft::to_bfloat16(brain)))
                                         : weft::to_bfloat16(brain) == bits);
    BOOST_TEST_REQUIRE(same, i);
  }
}

// Checks the midpoints of neighbouring values, and the floats next to each midpoint.
BOOST_AUTO_TEST_CASE(floats_are_rounded_to_nearest_ties_to_even) {
  const auto check = [](auto to, auto from, std::uint16_t last) {
    for (std::uint16_t bits = 0; bits < last; ++bits) {
      const float low = from(bits), high = from(static_cast<std::uint16_t>(bits + 1));
      const float halfway = low + (high - low) / 2;  // exact
      const auto even = static_cast<std::uint16_t>(bits + (bits & 1));
      const bool right = to(halfway) == even && to(std::nextafter(halfway, 0.0f)) == bits &&
                         to(std::nextafter(halfway, inf)) == bits + 1 &&
                         to(-halfway) == (even | 0x8000);
      BOOST_TEST_REQUIRE(right, bits);
    }
  };
  check(weft::to_float16, weft::from_float16, 0x7bff);  // the greatest finite value
  check(weft::to_bfloat16, weft::from_bfloat16, 0x7f7f);
  BOOST_TEST(weft::to_float16(65519.99f) == 0x7bff);
  BOOST_TEST(weft::to_float16(65520.0f) == 0x7c00);
  BOOST_TEST(weft::to_float16(inf) == 0x7c00);
  BOOST_TEST(weft::to_float16(-1e30f) == 0xfc00);
  BOOST_TEST(weft::to_bfloat16(std::numeric_limits<float>::max()) == 0x7f80);
  BOOST_TEST(weft::from_float16(1) == 0x1p-24f);
  BOOST_TEST(weft::from_float16(0x3c00) == 1.0f);
  BOOST_TEST(std::isnan(weft::from_float16(weft::to_float16(std::nanf("")))));
  BOOST_TEST(std::isnan(weft::from_bfloat16(weft::to_bfloat16(std::bit_cast<float>(0x7f800001)))));
}

BOOST_AUTO_TEST_SUITE_END()
