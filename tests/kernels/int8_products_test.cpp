// Products of int8 against their definition, on every target.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <span>

#include "kernels/aligned.hpp"
#include "kernels/arrays.hpp"
#include "kernels/int8_reference.hpp"
#include "kernels/targets.hpp"
#include "weft/kernels/dot_blocking.hpp"
#include "weft/kernels/family.hpp"
#include "weft/weights/stored.hpp"

using namespace weft;
using namespace weft::kernels;

namespace {

// x [m, k] times the rows of w [n, k].
struct product {
  std::size_t rows, columns, depth;
  std::vector<float> x = std::vector<float>(rows * depth), w = std::vector<float>(columns * depth);

  std::span<float> row(std::size_t i) { return std::span(x).subspan(i * depth, depth); }
  std::span<float> column(std::size_t j) { return std::span(w).subspan(j * depth, depth); }
};

product random_product(std::size_t rows, std::size_t columns, std::size_t depth) {
  product p{rows, columns, depth};
  std::mt19937 generator(static_cast<unsigned>(rows + 100 * columns + 10000 * depth));
  std::normal_distribution<float> normal;
  for (std::size_t i = 0; i < rows; ++i)
    for (float& v : p.row(i)) v = normal(generator) * std::ldexp(1.0f, static_cast<int>(i % 20));
  for (float& v : p.w) v = normal(generator);
  return p;
}

// The sums of the products of blocks, which are exact, are added to float32 ones: of a depth above
// 4096 those of equal parts, of whole blocks.
std::vector<float> by_definition(product p, bool fused) {
  const std::size_t parts = (p.depth + 4095) / 4096, blocks = (p.depth + 31) / 32;
  const std::size_t part = ((p.depth + parts - 1) / parts + 31) / 32;
  const auto blocks_of = [&](std::span<const float> line) {
    std::vector<int8_line> all;
    for (std::size_t k = 0; k < p.depth; k += 32)
      all.emplace_back(line.subspan(k, std::min<std::size_t>(32, p.depth - k)));
    return all;
  };
  std::vector<std::vector<int8_line>> columns;
  for (std::size_t j = 0; j < p.columns; ++j) columns.push_back(blocks_of(p.column(j)));
  std::vector<float> result;
  for (std::size_t i = 0; i < p.rows; ++i) {
    const std::vector<int8_line> row = blocks_of(p.row(i));
    for (const auto& column : columns) {
      float of_parts = 0, of_blocks = 0;
      for (std::size_t b = 0; b < blocks; ++b) {
        const int8_line &x = row[b], &w = column[b];
        std::int32_t sum = 0;
        for (std::size_t k = 0; k < x.element.size(); ++k) sum += x.element[k] * w.element[k];
        const auto exact = static_cast<float>(sum);
        const float scale = x.scale * w.scale, product = exact * scale;
        of_blocks = fused ? std::fma(exact, scale, of_blocks) : product + of_blocks;
        if ((b + 1) % part != 0 && b + 1 != blocks) continue;
        of_parts = b < part ? of_blocks : of_blocks + of_parts;
        of_blocks = 0;
      }
      result.push_back(of_parts);
    }
  }
  return result;
}

std::vector<float> by_kernel(const table& kernels, product& p) {
  owning_call<> c;
  c.kind = op::dot;
  c.loops = 3;
  const std::size_t extent[]{p.rows, p.columns, p.depth};
  const std::size_t strides[3][3]{{p.columns, 1, 0}, {p.depth, 0, 1}, {0, p.depth, 1}};
  for (int l = 0; l < 3; ++l) {
    c.extent[l] = static_cast<std::ptrdiff_t>(extent[l]);
    for (int o = 0; o < 3; ++o)
      c.operands[o].stride[l] = static_cast<std::ptrdiff_t>(strides[o][l]);
  }
  std::vector<float> result(p.rows * p.columns, 7.0f);
  const aligned scratch = scratch_for(c, dot_scratch_bytes(c)),
                packed(packed_bytes(c, precision::int8_products));
  c.operands[0].data = result.data();
  c.operands[1].data = p.x.data();
  c.operands[2].data = p.w.data();
  kernels.pack_dot(c, stored_type::int8_block, packed.data());
  c.operands[2].data = packed.data();
  c.operands[2].packed = stored_type::int8_block;
  kernels.dot(c);
  return result;
}

void check(product p) {
  const std::vector<float> right[]{by_definition(p, true), by_definition(p, false)};
  BOOST_TEST_CONTEXT(p.rows << " x " << p.columns << " of " << p.depth)
  on_every_target([&](const table& kernels) {
    const std::string differ =
        different_bits(by_kernel(kernels, p), right[static_cast<int>(family())]);
    BOOST_TEST(differ == "", differ);
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(int8_products)

BOOST_AUTO_TEST_CASE(products_are_those_of_the_rounded_operands_bit_for_bit) {
  for (const std::size_t depth : {1u, 2u, 3u, 4u, 5u, 15u, 31u, 64u, 100u, 384u, 1025u})
    for (const std::size_t columns : {1u, 3u, 16u, 49u, 100u})
      for (const std::size_t rows : {1u, 2u, 3u, 4u, 5u, 8u, 19u, 140u})
        // Of a single column, the rows are what is packed.
        if (rows * columns * depth < 500'000 && (rows == 1 || columns > 1))
          check(random_product(rows, columns, depth));
  check(random_product(9, 17, 4096));
  check(random_product(3, 5, 4097));
  check(random_product(2, 3, 13'000));
}

BOOST_AUTO_TEST_CASE(no_sum_of_the_largest_numbers_overflows) {
  for (const float sign : {1.0f, -1.0f}) {
    product p{9, 50, 4096};
    for (std::size_t k = 0; k < p.depth; ++k) {
      for (std::size_t i = 0; i < p.rows; ++i) p.row(i)[k] = i % 2 != 0 && k % 3 != 0 ? -127 : 127;
      for (std::size_t j = 0; j < p.columns; ++j)
        p.column(j)[k] = j % 2 != 0 && k % 2 != 0 ? -sign : sign;
    }
    check(p);
  }
}

// Every integer times every other one.
BOOST_AUTO_TEST_CASE(every_product_of_two_integers_is_exact) {
  product p{255, 255, 5};
  for (std::size_t i = 0; i < 255; ++i)
    for (std::size_t at : {i % 4, std::size_t{4}}) {
      const float n = at == 4 ? 127 : static_cast<float>(i) - 127;
      p.row(i)[at] = n;
      for (std::size_t k = 0; k < 4; ++k) p.column(i)[k] = static_cast<float>(i) - 127;
      p.column(i)[4] = 127;
    }
  on_every_target([&](const table& kernels) {
    const auto got = by_kernel(kernels, p);
    int wrong = 0;
    for (int i = 0; i < 255; ++i)
      for (int j = 0; j < 255; ++j)
        wrong += got[static_cast<std::size_t>(i * 255 + j)] !=
                 static_cast<float>((i - 127) * (j - 127) + 127 * 127);
    BOOST_TEST(wrong == 0);
  });
}

BOOST_AUTO_TEST_CASE(a_row_with_a_number_that_is_not_finite_is_nan_and_no_other) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  const product p = random_product(11, 20, 37);
  on_every_target([&](const table& kernels) {
    product same = p, odd = p;
    odd.row(2)[36] = nan;
    odd.row(5)[0] = -infinity;
    odd.column(7)[20] = nan;
    const auto got = by_kernel(kernels, odd), right = by_kernel(kernels, same);
    int wrong = 0;
    for (std::size_t i = 0; i < p.rows; ++i)
      for (std::size_t j = 0; j < p.columns; ++j) {
        const std::size_t at = i * p.columns + j;
        wrong += i == 2 || i == 5 || j == 7 ? !std::isnan(got[at]) : got[at] != right[at];
      }
    BOOST_TEST(wrong == 0);
  });
}

BOOST_AUTO_TEST_CASE(rows_of_zeros_and_of_the_smallest_numbers_are_zeros) {
  product p = random_product(6, 20, 37);
  std::ranges::fill(p.row(1), 0.0f);
  std::ranges::fill(p.row(2), -0.0f);
  std::ranges::fill(p.row(3), 0x1p-120f);
  std::ranges::fill(p.column(4), 0x1p-149f);
  check(p);
  on_every_target([&](const table& kernels) {
    const auto got = by_kernel(kernels, p);
    int wrong = 0;
    for (std::size_t j = 0; j < p.columns; ++j)
      for (const std::size_t i : {1u, 2u, 3u}) wrong += got[i * p.columns + j] != 0;
    BOOST_TEST(wrong == 0);
  });
}

// Alone, among others, and beside rows of any size.
BOOST_AUTO_TEST_CASE(the_results_of_a_row_do_not_depend_on_others) {
  product p = random_product(40, 65, 100);
  on_every_target([&](const table& kernels) {
    const auto together = by_kernel(kernels, p);
    for (const std::size_t count : {1u, 2u, 3u, 5u, 8u, 13u})
      for (std::size_t i = 0; i + count <= p.rows; i += count) {
        product some{count, p.columns, p.depth};
        std::copy_n(p.row(i).data(), count * p.depth, some.x.data());
        some.w = p.w;
        const auto got = by_kernel(kernels, some);
        BOOST_TEST(std::equal(got.begin(), got.end(), together.data() + i * p.columns));
      }
  });
}

BOOST_AUTO_TEST_SUITE_END()
