// Blocks that share scales: against their definition, and what the kernels make of every block.
#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "kernels/aligned.hpp"
#include "kernels/families.hpp"
#include "kernels/parts.hpp"
#include "kernels/targets.hpp"
#include "weft/weights/formats.hpp"

using namespace weft;
using namespace weft::kernels;

namespace {

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
std::vector<float> elements_of(const table& kernels, stored_type type,
                               std::vector<std::uint8_t>& blocks, std::size_t at_once) {
  const auto& info = detail::entry_of(type);
  const std::size_t block = info.block, columns = blocks.size() / (info.bits / 8);
  std::vector<float> result(block * columns), unit(block * block);
  for (std::size_t i = 0; i < block; ++i) unit[i * (block + 1)] = 1;
  owning_call<> c = product(at_once, columns, block);
  const aligned packed(detail::packed_size(packed_extent_of(c), type)),
      scratch(dot_scratch_bytes(c));
  c.scratch = scratch.data();
  c.operands[2].data = blocks.data();
  BOOST_TEST(has_blocks_along_depth(c, block));
  pack_blocks(kernels.layout, c, type, type, packed.data());
  c.operands[2].data = packed.data();
  c.operands[2].packed = type;
  for (std::size_t i = 0; i < block; i += at_once) {
    c.operands[0].data = result.data() + i * columns;
    c.operands[1].data = unit.data() + i * block;
    kernels.dot(c);
  }
  return result;
}

// Against the format's elements, which tests/files/gguf_test.cpp compares with ggml's.
template <class Format>
void check_elements(const table& kernels, stored_type type, std::vector<std::uint8_t>& blocks,
                    std::size_t at_once) {
  const auto got = elements_of(kernels, type, blocks, at_once);
  const std::size_t columns = blocks.size() / Format::bytes;
  int wrong = 0;
  for (std::size_t c = 0; c < columns; ++c) {
    const std::uint8_t* const b = blocks.data() + c * Format::bytes;
    float decoded[Format::block];
    Format::decode(b, decoded);
    // Zeros times an element that is not finite are NaN.
    const bool finite = std::ranges::all_of(decoded, [](float x) { return std::isfinite(x); });
    for (std::size_t i = 0; i < Format::block; ++i) {
      const float x = got[i * columns + c];
      wrong += finite ? x != decoded[i] : x != decoded[i] && !std::isnan(x);
    }
  }
  BOOST_TEST(wrong == 0, detail::entry_of(type).name << ", " << at_once << " rows at once");
}

// Sets a scale of a block: its bits from the lowest on.
template <class Format>
void set_scale(std::uint8_t* block, std::size_t at, std::uint32_t bits) {
  std::memcpy(block + Format::scales.begin + at, &bits, Format::scales.size);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(packed_blocks)

BOOST_AUTO_TEST_CASE(every_scale_and_every_byte_is_what_the_format_says) {
  const auto check = []<stored_type Type>(std::integral_constant<stored_type, Type>) {
    using format = detail::format<Type>;
    if constexpr (detail::shares_scales<format>) {
      // Each byte of a block has each value; each of 65 scales of all sizes and signs, all scales
      // of Q8_0, and those that are not finite.
      constexpr std::size_t extent = format::scales.end - format::scales.begin;
      std::vector<std::uint8_t> bytes(256 * format::bytes), scales;
      for (std::size_t b = 0; b < 256; ++b) {
        std::uint8_t* const block = bytes.data() + b * format::bytes;
        for (std::size_t i = 0; i < format::bytes; ++i)
          block[i] = static_cast<std::uint8_t>(b + 37 * i);
        constexpr std::uint32_t some[]{0x3c00, 0xb800, 0x0001, 0x7bff};
        // One byte has each value already.
        for (std::size_t at = 0; at + 1 < extent; at += 2)
          set_scale<format>(block, at, some[(b + at) % 4]);
      }
      const std::uint32_t step = Type == stored_type::q8_0 ? 1 : 1009;
      for (std::uint32_t s = 0; s < 0x10000; s += step) {
        scales.insert(scales.end(), bytes.begin() + 3 * format::bytes,
                      bytes.begin() + 4 * format::bytes);
        std::uint8_t* const block = &*scales.end() - format::bytes;
        set_scale<format>(block, 0, s);
      }
      on_every_target([&](const table& kernels) {
        for (const std::size_t at_once :
             {std::size_t{1}, std::size_t{2}, std::size_t{4}, format::block})
          check_elements<format>(kernels, Type, bytes, at_once);
        for (const std::size_t at_once : {std::size_t{4}, format::block})
          check_elements<format>(kernels, Type, scales, at_once);
      });
    }
  };
  [&]<int... Type>(std::integer_sequence<int, Type...>) {
    (check(std::integral_constant<stored_type, static_cast<stored_type>(Type)>()), ...);
  }
  (detail::stored_types());
}

// Rows of each size that floats have, of zeros, and with numbers that are not finite. An element of
// 32 is rounded by at most 2^-22 of the largest one; then a few sums of each block are rounded.
BOOST_AUTO_TEST_CASE(a_few_rows_of_any_size_have_errors_of_rounding_alone_and_the_same_bits) {
  constexpr std::size_t columns = 19, depth = 768, blocks = depth / 32;
  std::mt19937 generator(5);
  std::normal_distribution<double> normal;
  std::vector<std::vector<float>> rows(1, std::vector<float>(depth));
  for (const int size : {-149, -140, -126, -104, -60, 0, 60, 100}) {
    rows.emplace_back(depth);
    for (float& x : rows.back()) x = static_cast<float>(std::ldexp(normal(generator), size));
  }
  const std::size_t finite = rows.size();
  for (const float odd : {NAN, std::numeric_limits<float>::infinity()})
    rows.push_back(rows[6]), rows.back()[depth / 2] = odd;
  const auto check = [&]<stored_type Type>(std::integral_constant<stored_type, Type>) {
    using format = detail::format<Type>;
    std::vector<std::uint8_t> bytes(columns * depth / format::block * format::bytes);
    std::vector<float> weights(columns * depth);
    for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(generator());
    for (std::size_t b = 0; b * format::block < weights.size(); ++b) {
      std::uint8_t* const block = bytes.data() + b * format::bytes;
      for (std::size_t at = 0; at < format::scales.end - format::scales.begin; at += 2)
        set_scale<format>(block, at, static_cast<std::uint32_t>(0x2c00 + b * 37 % 1024));
      format::decode(block, weights.data() + b * format::block);
    }
    double largest = 0;
    for (const float w : weights) largest = std::max(largest, std::abs(static_cast<double>(w)));
    results_of_families same;
    on_every_target([&](const table& kernels) {
      const aligned packed(detail::packed_size(packed_extent_of(product(4, columns, depth)), Type)),
          scratch(dot_scratch_bytes(product(4, columns, depth)));
      const auto products = [&](std::size_t first, std::size_t count) {
        std::vector<float> x, result(count * columns);
        for (std::size_t i = 0; i < count; ++i) {
          const std::vector<float>& row = rows[(first + i) % rows.size()];
          x.insert(x.end(), row.begin(), row.end());
        }
        owning_call<> c = product(count, columns, depth);
        c.scratch = scratch.data();
        c.operands[0].data = result.data();
        c.operands[1].data = x.data();
        c.operands[2].data = bytes.data();
        pack_blocks(kernels.layout, c, Type, Type, packed.data());
        c.operands[2].data = packed.data();
        c.operands[2].packed = Type;
        kernels.dot(c);
        return result;
      };
      std::vector<float> all;
      for (std::size_t r = 0; r < rows.size(); ++r)
        for (const float x : products(r, 1)) all.push_back(x);
      BOOST_TEST(same.differences(all) == "");
      for (std::size_t r = 0; r < rows.size(); ++r)
        for (const std::size_t count : {std::size_t{2}, std::size_t{3}, std::size_t{4}}) {
          const std::vector<float> result = products(r, count);
          for (std::size_t i = 0; i < result.size(); ++i) {
            const float alone = all[(r * columns + i) % all.size()];
            BOOST_TEST((result[i] == alone || (std::isnan(result[i]) && std::isnan(alone))));
          }
        }
      for (std::size_t i = 0; i < all.size(); ++i) {
        const std::size_t row = i / columns, column = i % columns;
        double sum = 0, magnitude = 0;  // as if all elements of a block were the largest
        for (std::size_t b = 0; b < blocks; ++b) {
          double most = 0;
          for (std::size_t k = b * 32; k < b * 32 + 32; ++k) {
            const auto x = static_cast<double>(rows[row][k]);
            sum += x * static_cast<double>(weights[column * depth + k]);
            most = std::max(most, std::abs(x));
          }
          magnitude += 32 * largest * most;
        }
        const double subnormal = static_cast<double>(blocks) * 64 * largest * 0x1p-149;
        const double error = 0x1p-22 + static_cast<double>(blocks + 6) * 0x1p-24;
        if (row < finite)
          BOOST_TEST(std::abs(static_cast<double>(all[i]) - sum) <= error * magnitude + subnormal);
        else
          BOOST_TEST(!std::isfinite(all[i]));
      }
    });
  };
  check(std::integral_constant<stored_type, stored_type::q4_0>());
  check(std::integral_constant<stored_type, stored_type::q5_1>());
  check(std::integral_constant<stored_type, stored_type::q5_k>());
  check(std::integral_constant<stored_type, stored_type::q6_k>());
  check(std::integral_constant<stored_type, stored_type::iq4_nl>());
}

BOOST_AUTO_TEST_CASE(a_float16_is_what_its_definition_says) {
  for (std::uint32_t s = 0; s < 0x10000; ++s) {
    const auto half = static_cast<std::uint16_t>(s);
    const double got = static_cast<double>(from_float16(half)), right = number_of(half);
    BOOST_TEST((got == right || (std::isnan(got) && std::isnan(right))));
  }
}

// Q8_0: d = max |x| / 127 as a float16, q = x / d to the nearest, ties away from zero. Q4_0: d is
// the x of the largest magnitude by -8, q = x / d + 8.5 rounded down, at most 15. As in ggml.
BOOST_AUTO_TEST_CASE(blocks_are_made_as_the_format_says) {
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  constexpr std::size_t block = 32;
  const auto check = [&]<class Format>(Format, double largest_error, auto scale_of, auto number) {
    for (int trial = 0; trial < 2000; ++trial) {
      float x[block];
      const float size = std::ldexp(1.0f, trial % 40 - 30);
      for (float& v : x) v = trial == 0 ? 0 : normal(generator) * size;
      if (trial % 7 == 1)  // ties: multiples of half of a scale of 1
        for (std::size_t i = 0; i < block; ++i)
          x[i] = i == 5 ? -127 : static_cast<float>(i) - 15.5f;
      std::uint8_t bytes[Format::bytes];
      Format::encode(x, bytes);
      float most = 0;
      for (const float v : x) most = std::abs(v) > std::abs(most) ? v : most;
      const float d = scale_of(most), inverse = d == 0 ? 0 : 1 / d;
      const auto scale = static_cast<std::uint16_t>(bytes[0] | bytes[1] << 8);
      const double spacing =
          std::max(std::ldexp(1.0, std::ilogb(std::max(std::abs(d), 1e-30f)) - 10), 0x1p-24);
      BOOST_TEST(std::abs(number_of(scale) - static_cast<double>(d)) <= spacing / 2);
      float back[block];
      Format::decode(bytes, back);
      for (std::size_t i = 0; i < block; ++i) {
        BOOST_TEST(static_cast<double>(back[i]) == number_of(scale) * number(x[i] * inverse));
        // What module::freeze promises.
        BOOST_TEST(std::abs(static_cast<double>(back[i]) - static_cast<double>(x[i])) <=
                   largest_error * static_cast<double>(std::abs(most)) + 0x1p-18);
      }
    }
  };
  check(
      detail::format<stored_type::q8_0>(), 0x1p-8 * 1.148,
      [](float most) { return std::abs(most) / 127; },
      [](float x) { return static_cast<double>(std::round(x)); });
  check(
      detail::format<stored_type::q4_0>(), 0x1p-3 + 0x1p-11, [](float most) { return most / -8; },
      [](float x) { return std::min(15.0, std::floor(static_cast<double>(x + 8.5f))) - 8; });
}

BOOST_AUTO_TEST_CASE(a_block_with_a_number_that_it_cannot_have_is_nan) {
  const auto check = []<class Format>(Format) {
    for (const float odd : {std::numeric_limits<float>::infinity(), NAN, -1e7f}) {
      float x[Format::block]{1, 2, odd};
      std::uint8_t bytes[Format::bytes];
      Format::encode(x, bytes);
      Format::decode(bytes, x);
      BOOST_TEST(std::ranges::all_of(x, [](float v) { return std::isnan(v); }));
    }
    float x[Format::block]{0x1p-149f, -0x1p-140f};
    std::uint8_t bytes[Format::bytes];
    Format::encode(x, bytes);
    Format::decode(bytes, x);
    BOOST_TEST(std::ranges::all_of(x, [](float v) { return v == 0; }));
  };
  check(detail::format<stored_type::q8_0>());
  check(detail::format<stored_type::q4_0>());
}

BOOST_AUTO_TEST_CASE(blocks_are_taken_as_they_are_only_along_the_depth) {
  BOOST_TEST(has_blocks_along_depth(product(1, 3, 64), 32));
  BOOST_TEST(!has_blocks_along_depth(product(1, 3, 64), 256));
  BOOST_TEST(!has_blocks_along_depth(product(1, 3, 48), 32));
  owning_call<> across = product(1, 64, 32);
  std::swap(across.operands[2].stride[1], across.operands[2].stride[2]);
  BOOST_TEST(!has_blocks_along_depth(across, 32));
}

BOOST_AUTO_TEST_SUITE_END()
