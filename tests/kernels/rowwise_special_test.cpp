// Rowwise operations of rows that are masked, have NaN, or lose accuracy easily.
#include "aligned.hpp"
#include "arrays.hpp"
#include "targets.hpp"
#include "weft/kernels/row_scratch.hpp"

using namespace weft;
using namespace weft::kernels;

namespace {

// Rows of n elements, all -infinity except the last element of the last row, which is 1.
void check_masked_rows(const table& kernels, std::ptrdiff_t rows, std::ptrdiff_t n,
                       bool side_by_side) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  std::vector<float> x(static_cast<std::size_t>(rows * n), -inf), y(x.size());
  x.back() = 1;
  call c = make_call(op::softmax, {rows, n});
  c.over = 2;
  for (int o = 0; o < 2; ++o) {
    c.operands[o] = {(o == 0 ? y : x).data(), dtype::float32, {n, 1}};
    if (side_by_side) c.operands[o].stride[0] = 1, c.operands[o].stride[1] = rows;
  }
  const aligned scratch = scratch_for(c, row_scratch_bytes(c));
  kernels.rowwise(c);
  for (std::size_t i = 0; i < y.size(); ++i) BOOST_TEST(y[i] == (i + 1 == y.size() ? 1 : 0));
  c.kind = op::log_softmax;
  kernels.rowwise(c);
  for (std::size_t i = 0; i < y.size(); ++i) BOOST_TEST(y[i] == (i + 1 == y.size() ? 0 : -inf));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rowwise_special)

BOOST_AUTO_TEST_CASE(the_softmax_of_a_fully_masked_row_is_0) {
  on_every_target([](const table& kernels) {
    for (const std::ptrdiff_t rows : {2, 5, 37})
      for (const std::ptrdiff_t n : {1, 3, 17, 100, 300})
        for (const bool side_by_side : {false, true})
          check_masked_rows(kernels, rows, n, side_by_side);
  });
}

BOOST_AUTO_TEST_CASE(nan_spreads_over_its_own_row_of_a_softmax) {
  constexpr std::ptrdiff_t rows = 9, n = 17;
  on_every_target([](const table& kernels) {
    for (const bool side_by_side : {false, true})
      for (const float other : {-std::numeric_limits<float>::infinity(), 1.0f}) {
        const std::ptrdiff_t row = side_by_side ? 1 : n, next = side_by_side ? rows : 1;
        std::vector<float> x(rows * n, other), y(rows * n);
        x[static_cast<std::size_t>(2 * row + 3 * next)] = std::numeric_limits<float>::quiet_NaN();
        call c = make_call(op::softmax, {rows, n});
        c.over = 2;
        c.operands[0] = {y.data(), dtype::float32, {row, next}};
        c.operands[1] = {x.data(), dtype::float32, {row, next}};
        const aligned scratch = scratch_for(c, row_scratch_bytes(c));
        kernels.rowwise(c);
        for (std::ptrdiff_t r = 0; r < rows; ++r)
          for (std::ptrdiff_t i = 0; i < n; ++i)
            BOOST_TEST(std::isnan(y[static_cast<std::size_t>(r * row + i * next)]) == (r == 2));
      }
  });
}

BOOST_AUTO_TEST_CASE(normalize_does_not_lose_accuracy_far_from_0) {
  on_every_target([](const table& kernels) {
    std::vector<float> x(128), y(128);
    for (std::size_t i = 0; i < 128; ++i) x[i] = 10000 + static_cast<float>(i % 2);
    call c = make_call(op::normalize, {128});
    c.over = 1;
    c.operands[0] = {y.data(), dtype::float32, {1}};
    c.operands[1] = {x.data(), dtype::float32, {1}};
    kernels.rowwise(c);
    for (std::size_t i = 0; i < 128; ++i) BOOST_TEST(y[i] == (i % 2 ? 1 : -1));
  });
}

// The elements that the first estimate of the mean is made of are far from the others, so that
// nearly all of the sum of squares about it cancels.
BOOST_AUTO_TEST_CASE(normalize_does_not_lose_accuracy_where_a_few_elements_are_far_from_the_mean) {
  on_every_target([](const table& kernels) {
    constexpr std::size_t n = 16384;
    std::vector<float> x(n), y(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = i % 2 ? 1.1f : -1.3f;
    for (const std::size_t i : {std::size_t{0}, (n - 1) / 3, n - 1 - (n - 1) / 3, n - 1})
      x[i] = 1000.3f;
    call c = make_call(op::normalize, {n});
    c.over = 1;
    c.operands[0] = {y.data(), dtype::float32, {1}};
    c.operands[1] = {x.data(), dtype::float32, {1}};
    kernels.rowwise(c);
    double mean = 0, variance = 0;
    for (const double v : x) mean += v / n;
    for (const double v : x) variance += (v - mean) * (v - mean) / n;
    // Up to 1024 elements are summed in float, in at least two accumulators: a sum of squares is
    // off by at most 256 epsilon and its root by half of that, plus a few roundings.
    BOOST_TEST(std::abs(y[0] * std::sqrt(variance) / (1000.3f - mean) - 1) <= 136 * epsilon);
  });
}

BOOST_AUTO_TEST_SUITE_END()
