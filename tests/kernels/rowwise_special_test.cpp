// Rowwise operations of rows that are masked, have NaN, or lose accuracy easily.
#include "kernels/check.hpp"

using namespace weft;
using namespace weft::kernels;

namespace {

// Checks an operation of `rows` rows of n elements, which are contiguous or interleaved: element i
// of row r is x(r, i), and is to become y(r, i).
template <class X, class Y>
void check_rows(op kind, std::ptrdiff_t rows, std::ptrdiff_t n, bool side_by_side, X x, Y y,
                double tolerance = 0) {
  const extents extent{rows, n};
  const layout how = side_by_side ? layout::permuted : layout::contiguous;
  array<float> from(extent, how), to(extent, how, 0, true);
  owning_call<> c = call_of(kind, extent, to, from);
  c.over = 2;
  expectation expected(to);
  for_points(extent, [&](const extents& at) {
    from.memory[static_cast<std::size_t>(offset(c.operands[1], at))] = x(at[0], at[1]);
    expected.expect(to, offset(c.operands[0], at), double{y(at[0], at[1])}, tolerance);
  });
  check(kernel::rowwise, c, to, expected, words(name_of(kind), ", ", rows, " rows of ", n));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rowwise_special)

BOOST_AUTO_TEST_CASE(the_softmax_of_a_fully_masked_row_is_0) {
  for (const std::ptrdiff_t rows : {2, 5, 37})
    for (const std::ptrdiff_t n : {1, 3, 17, 100, 300})
      for (const bool side_by_side : {false, true}) {
        // All is -infinity except the last element of the last row.
        const auto last = [=](float is, float other) {
          return [=](auto r, auto i) { return r == rows - 1 && i == n - 1 ? is : other; };
        };
        check_rows(op::softmax, rows, n, side_by_side, last(1, -infinity), last(1, 0));
        check_rows(op::log_softmax, rows, n, side_by_side, last(1, -infinity), last(0, -infinity));
      }
}

BOOST_AUTO_TEST_CASE(nan_spreads_over_its_own_row_of_a_softmax) {
  for (const bool side_by_side : {false, true})
    for (const float other : {-infinity, 1.0f})
      check_rows(
          op::softmax, 9, 17, side_by_side,
          [=](auto r, auto i) { return r == 2 && i == 3 ? NAN : other; },
          [=](auto r, auto) { return r == 2       ? NAN
                                     : other == 1 ? 1.0f / 17
                                                  : 0; },
          2 * epsilon / 17);
}

BOOST_AUTO_TEST_CASE(normalize_does_not_lose_accuracy_far_from_0) {
  check_rows(
      op::normalize, 1, 128, false, [](auto, auto i) { return 10000 + static_cast<float>(i % 2); },
      [](auto, auto i) { return i % 2 ? 1.0f : -1.0f; });
}

// The elements that the first estimate of the mean is made of are far from the others, so that
// nearly all of the sum of squares about it cancels.
BOOST_AUTO_TEST_CASE(normalize_does_not_lose_accuracy_where_a_few_elements_are_far_from_the_mean) {
  constexpr std::size_t n = 16384;
  std::vector<float> x(n), y(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = i % 2 ? 1.1f : -1.3f;
  for (const std::size_t i : {std::size_t{0}, (n - 1) / 3, n - 1 - (n - 1) / 3, n - 1})
    x[i] = 1000.3f;
  owning_call<> c = call_of(op::normalize, {n}, y, x);
  c.over = 1;
  double mean = 0, variance = 0;
  for (const double v : x) mean += v / n;
  for (const double v : x) variance += (v - mean) * (v - mean) / n;
  on_every_target([&](const table& kernels) {
    y.assign(n, NAN);
    run(kernels.rowwise, c);
    // Up to 1024 elements are summed in float, in at least two accumulators: a sum of squares is
    // off by at most 256 epsilon and its root by half of that, plus a few roundings.
    BOOST_TEST(std::abs(y[0] * std::sqrt(variance) / (1000.3f - mean) - 1) <= 136 * epsilon);
  });
}

BOOST_AUTO_TEST_SUITE_END()
