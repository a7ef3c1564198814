// Conversions of float16 and bfloat16, and what an entry of a stored type has to say.
#include "weft/weights/float16.hpp"

#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

#include "weft/bfloat16.hpp"
#include "weft/weights/formats.hpp"

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

// What they lack is said by static_asserts of formats.hpp.
struct without_decode : weft::detail::in_files<"X">, weft::detail::block_format<float, 18, 32> {};
struct without_block : weft::detail::in_files<"X"> {
  using value = float;
};
static_assert(weft::detail::says_block<without_decode>);
static_assert(!weft::detail::says_decode<without_decode>);
static_assert(!weft::detail::says_block<without_block>);

constexpr auto to_bfloat16 = [](float x) { return weft::bfloat16(x).bits; };
constexpr float from_bfloat16(std::uint16_t bits) {
  return std::bit_cast<weft::bfloat16>(bits);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(half)

BOOST_AUTO_TEST_CASE(every_float16_and_bfloat16_converts_to_float_and_back) {
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const float half = weft::from_float16(bits), brain = from_bfloat16(bits);
    const bool same = (std::isnan(half) ? std::isnan(weft::from_float16(weft::to_float16(half)))
                                        : weft::to_float16(half) == bits) &&
                      (std::isnan(brain) ? std::isnan(from_bfloat16(to_bfloat16(brain)))
                                         : to_bfloat16(brain) == bits);
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
  check(to_bfloat16, from_bfloat16, 0x7f7f);
  BOOST_TEST(weft::to_float16(65519.99f) == 0x7bff);
  BOOST_TEST(weft::to_float16(65520.0f) == 0x7c00);
  BOOST_TEST(weft::to_float16(inf) == 0x7c00);
  BOOST_TEST(weft::to_float16(-1e30f) == 0xfc00);
  BOOST_TEST(to_bfloat16(std::numeric_limits<float>::max()) == 0x7f80);
  BOOST_TEST(weft::from_float16(1) == 0x1p-24f);
  BOOST_TEST(weft::from_float16(0x3c00) == 1.0f);
  BOOST_TEST(std::isnan(weft::from_float16(weft::to_float16(std::nanf("")))));
  BOOST_TEST(std::isnan(from_bfloat16(to_bfloat16(std::bit_cast<float>(0x7f800001)))));
}

BOOST_AUTO_TEST_SUITE_END()
