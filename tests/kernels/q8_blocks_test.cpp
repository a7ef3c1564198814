// Q8_0: blocks against their definition, and what the kernels make of every block.
#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "kernels/aligned.hpp"
#include "kernels/parts.hpp"
#include "kernels/targets.hpp"
#include "weft/weights/formats.hpp"

using namespace weft;
using namespace weft::kernels;

namespace {

using format = detail::format<stored_type::q8_0>;
constexpr std::size_t block = format::block;

// A float16 by its definition: sign, 5 bits of exponent, 10 of fraction.
double number_of(std::uint16_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  const double size = exponent == 0   ? std::ldexp(fraction, -24)
                      : exponent < 31 ? std::ldexp(1024 + fraction, exponent - 25)
                      : fraction == 0 ? std::numeric_limits<double>::infinity()
                                      : std::nan("");
  return half & 0x8000 ? -size : size;
}

// rows x [m, k] times columns of blocks [n, k].
owning_call<> product(std::size_t rows, std::size_t columns, std::size_t depth) {
  owning_call<> c;
  c.kind = op::dot;
  c.loops = 3;
  const std::size_t extent[]{rows, columns, depth};
  const std::size_t strides[3][3]{{columns, 1, 0}, {depth, 0, 1}, {0, depth, 1}};
  for (int l = 0; l < 3; ++l) {
    c.extent[l] = static_cast<std::ptrdiff_t>(extent[l]);
    for (int o = 0; o < 3; ++o)
      c.operands[o].stride[l] = static_cast<std::ptrdiff_t>(strides[o][l]);
  }
  return c;
}

// The products of each row of a unit matrix with columns of blocks, `at_once` rows at a time: the
// blocks' elements, [block, columns].
std::vector<float> elements_of(const table& kernels, std::vector<std::uint8_t>& blocks,
                               std::size_t at_once) {
  const std::size_t columns = blocks.size() / format::bytes;
  std::vector<float> result(block * columns), unit(block * block);
  for (std::size_t i = 0; i < block; ++i) unit[i * (block + 1)] = 1;
  owning_call<> c = product(at_once, columns, block);
  const aligned packed(packed_bytes(c, precision::q8_0)), scratch(dot_scratch_bytes(c));
  c.scratch = scratch.data();
  c.operands[2].data = blocks.data();
  BOOST_TEST(has_blocks_along_depth(c));
  pack_blocks(kernels.layout, c, stored_type::q8_0, packed.data());
  c.operands[2].data = packed.data();
  c.operands[2].packed = stored_type::q8_0;
  for (std::size_t i = 0; i < block; i += at_once) {
    c.operands[0].data = result.data() + i * columns;
    c.operands[1].data = unit.data() + i * block;
    kernels.dot(c);
  }
  return result;
}

void check_elements(const table& kernels, std::vector<std::uint8_t>& blocks, std::size_t at_once) {
  const auto got = elements_of(kernels, blocks, at_once);
  const std::size_t columns = blocks.size() / format::bytes;
  int wrong = 0;
  for (std::size_t c = 0; c < columns; ++c) {
    const std::uint8_t* const b = blocks.data() + c * format::bytes;
    const double scale = number_of(static_cast<std::uint16_t>(b[0] | b[1] << 8));
    float decoded[block];
    format::decode(b, decoded);
    for (std::size_t i = 0; i < block; ++i) {
      const double right = scale * static_cast<std::int8_t>(b[2 + i]);
      // Zeros times a scale that is not finite are NaN.
      const auto same = [&](double x) {
        return x == right || (std::isnan(x) && !std::isfinite(scale));
      };
      wrong += !same(static_cast<double>(decoded[i])) ||
               !same(static_cast<double>(got[i * columns + c])) ||
               (std::isfinite(scale) && std::isnan(got[i * columns + c]));
    }
  }
  BOOST_TEST(wrong == 0, at_once << " rows at once");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(q8_blocks)

BOOST_AUTO_TEST_CASE(every_scale_and_every_element_is_what_the_format_says) {
  std::vector<std::uint8_t> scales, elements;
  const auto add = [](auto& to, std::uint32_t scale, auto element) {
    to.push_back(static_cast<std::uint8_t>(scale));
    to.push_back(static_cast<std::uint8_t>(scale >> 8));
    for (std::uint32_t i = 0; i < block; ++i) to.push_back(static_cast<std::uint8_t>(element(i)));
  };
  for (std::uint32_t s = 0; s < 0x10000; ++s) add(scales, s, [](auto i) { return 125 + i; });
  for (std::uint32_t q = 0; q < 256; q += block)
    for (const std::uint32_t s : {0x3c00u, 0xb800u, 0x0001u, 0x7bffu})
      add(elements, s, [&](auto i) { return q + i; });
  on_every_target([&](const table& kernels) {
    for (const std::size_t at_once : {1u, 2u, 4u, 32u}) {
      check_elements(kernels, elements, at_once);
      if (at_once > 2) check_elements(kernels, scales, at_once);
    }
  });
}

// d = max |x| / 127 as a float16, q = x / d to the nearest, ties away from zero: as in ggml.
BOOST_AUTO_TEST_CASE(blocks_are_made_as_the_format_says) {
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  for (int trial = 0; trial < 2000; ++trial) {
    float x[block];
    const float size = std::ldexp(1.0f, trial % 40 - 30);
    for (float& v : x) v = trial == 0 ? 0 : normal(generator) * size;
    if (trial % 7 == 1)  // ties: multiples of half of a scale of 1
      for (std::size_t i = 0; i < block; ++i) x[i] = i == 5 ? -127 : static_cast<float>(i) - 15.5f;
    std::uint8_t bytes[format::bytes];
    format::encode(x, bytes);
    float most = 0;
    for (const float v : x) most = std::max(most, std::abs(v));
    const float d = most / 127, inverse = d == 0 ? 0 : 1 / d;
    const auto scale = static_cast<std::uint16_t>(bytes[0] | bytes[1] << 8);
    const double spacing = std::max(std::ldexp(1.0, std::ilogb(std::max(d, 1e-30f)) - 10), 0x1p-24);
    BOOST_TEST(std::abs(number_of(scale) - static_cast<double>(d)) <= spacing / 2);
    for (std::size_t i = 0; i < block; ++i)
      BOOST_TEST(int{static_cast<std::int8_t>(bytes[2 + i])} ==
                 static_cast<int>(std::round(x[i] * inverse)));
    // What module::freeze promises.
    float back[block];
    format::decode(bytes, back);
    for (std::size_t i = 0; i < block; ++i)
      BOOST_TEST(std::abs(static_cast<double>(back[i]) - static_cast<double>(x[i])) <=
                 0x1p-8 * 1.148 * static_cast<double>(most) + 0x1p-18);
  }
}

BOOST_AUTO_TEST_CASE(a_block_with_a_number_that_it_cannot_have_is_nan) {
  for (const float odd : {std::numeric_limits<float>::infinity(), NAN, -1e7f}) {
    float x[block]{1, 2, odd};
    std::uint8_t bytes[format::bytes];
    format::encode(x, bytes);
    format::decode(bytes, x);
    BOOST_TEST(std::ranges::all_of(x, [](float v) { return std::isnan(v); }));
  }
  float x[block]{0x1p-149f, -0x1p-140f};
  std::uint8_t bytes[format::bytes];
  format::encode(x, bytes);
  BOOST_TEST(std::ranges::all_of(bytes, [](int b) { return b == 0; }));
}

BOOST_AUTO_TEST_CASE(blocks_are_taken_as_they_are_only_along_the_depth) {
  BOOST_TEST(has_blocks_along_depth(product(1, 3, 64)));
  BOOST_TEST(!has_blocks_along_depth(product(1, 3, 48)));
  owning_call<> across = product(1, 64, 32);
  std::swap(across.operands[2].stride[1], across.operands[2].stride[2]);
  BOOST_TEST(!has_blocks_along_depth(across));
}

BOOST_AUTO_TEST_SUITE_END()
