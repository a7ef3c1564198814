// Sums and maxima over any loops and layouts.
#include "kernels/check.hpp"
#include "reference/elementwise.hpp"

using namespace weft;
using namespace weft::kernels;

namespace {

owning_call<> call_over(unsigned over, op kind, const extents& extent, const operand& result,
                        const operand& input, const operand& factor = {}) {
  owning_call<> c = call_of(kind, extent, result, input, factor);
  c.over = over;
  return c;
}

// Checks a reduction. A sum of n terms, in any order, has an error below n * epsilon/2 times the
// sum of their magnitudes; each product adds epsilon/2 of itself.
template <class T>
void check(op kind, const extents& extent, unsigned over, layout to, array<T>& input,
           const operand& factor = {}) {
  array<T> result(extent, to, over, true);
  const owning_call<> c =
      call_over(over, kind, extent, result.as_operand(), input.as_operand(), factor);
  const bool is_float = std::is_same_v<T, float>, has_factor = factor.data != nullptr;
  const double least = is_float ? -double{infinity} : double(std::numeric_limits<T>::lowest());
  expectation expected(result);
  for_points(without(extent, over), [&](const extents& first) {
    double sum = 0, most = least, magnitude = 0, terms = has_factor ? 1 : 0;
    for_points(without(extent, ~over), [&](extents point) {
      for (std::size_t l = 0; l < point.size(); ++l) point[l] += first[l];
      const double x = get(c.operands[1], point) * (has_factor ? get(factor, point) : 1);
      sum += x;
      most = reference::detail::functions::maximum(most, x);
      magnitude += std::abs(x);
      terms += 1;
    });
    expected.expect(result, offset(c.operands[0], first), kind == op::sum ? sum : most,
                    kind == op::sum && is_float ? terms * epsilon / 2 * magnitude : 0);
  });
  weft::kernels::check(kernel::reduce, c, result, expected,
                       words(name_of(kind), ", loops ", extent.size(), ", over ", over,
                             ", to layout ", static_cast<int>(to)));
}

template <class T>
void check_in_all_layouts(op kind) {
  unsigned seed = 0;
  for (const extents& extent : shapes)
    for (unsigned over = 0; over < 1u << extent.size(); ++over)
      for (const layout to : layouts)
        for (const layout from : layouts)
          for (const unsigned without : {0u, 1u}) {
            array<T> input(extent, from, without);
            fill(input, ++seed);
            check(kind, extent, over, to, input);
          }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reduce)

BOOST_AUTO_TEST_CASE(sums_and_maxima_are_right_over_any_loops) {
  for (const op kind : {op::sum, op::max}) {
    check_in_all_layouts<float>(kind);
    check_in_all_layouts<std::int32_t>(kind);
  }
}

BOOST_AUTO_TEST_CASE(sums_of_products_are_right_over_any_loops) {
  unsigned seed = 0;
  for (const extents& extent : shapes)
    for (unsigned over = 0; over < 1u << extent.size(); ++over)
      for (const layout x : layouts)
        for (const layout y : layouts) {
          array<float> left(extent, x), right(extent, y, seed % 3 == 0 ? 1u : 0u);
          fill(left, ++seed);
          fill(right, ++seed);
          check(op::sum, extent, over, layout::contiguous, left, right.as_operand());
        }
}

BOOST_AUTO_TEST_CASE(partitions_give_the_same_bits_as_the_whole_call) {
  for (const op kind : {op::sum, op::max})
    for (const layout how : {layout::contiguous, layout::permuted})
      for (const unsigned over : {1u, 2u, 4u, 5u, 7u}) {
        const extents extent{5, 3, 300};
        array<float> x(extent, how), result(extent, layout::contiguous, over);
        fill(x, 1);
        for (const operand& factor : {operand(), x.as_operand()})
          if (kind == op::sum || factor.data == nullptr)
            check_partitions(
                kernel::reduce,
                call_over(over, kind, extent, result.as_operand(), x.as_operand(), factor), result,
                words(name_of(kind), " over ", over));
      }
}

BOOST_AUTO_TEST_CASE(a_maximum_with_nan_is_nan) {
  for (const unsigned over : {1u, 2u, 3u})
    for (const std::size_t at : {0u, 5u, 33u}) {
      array<float> input({2, 17}, layout::contiguous);
      fill(input, 1);
      input.memory[at] = NAN;
      check(op::max, {2, 17}, over, layout::contiguous, input);
    }
}

// Strided rows are tested for NaN through their sum, in which infinities and overflow show too.
BOOST_AUTO_TEST_CASE(the_maximum_of_strided_elements_is_nan_only_if_one_of_them_is) {
  constexpr float largest = std::numeric_limits<float>::max();
  for (const std::vector<float>& some :
       std::vector<std::vector<float>>{{infinity, -infinity},
                                       {-infinity, 3},
                                       {-infinity},
                                       {largest, largest, -infinity},
                                       {NAN, infinity}}) {
    array<float> input({37}, layout::spaced);
    for (std::size_t i = 0; i < input.memory.size(); ++i)
      input.memory[i] = some[i / 2 % some.size()];
    check(op::max, {37}, 1, layout::contiguous, input);
  }
}

BOOST_AUTO_TEST_CASE(gaps_between_strided_elements_do_not_affect_the_result) {
  for (const std::ptrdiff_t apart : {2, 3, 4, 8, 16, 32})
    for (const std::ptrdiff_t length : {1, 3, 17, 100, 1500}) {
      const std::ptrdiff_t rows = 3, next = length * apart + 1;
      std::vector<float> memory(
          static_cast<std::size_t>((rows - 1) * next + (length - 1) * apart + 1), NAN);
      array<float> result({rows}, layout::contiguous, 0, true);
      expectation sums(result), maxima(result);
      for (std::ptrdiff_t r = 0; r < rows; ++r) {
        double sum = 0, most = -double{infinity};
        for (std::ptrdiff_t i = 0; i < length; ++i) {
          const auto x = static_cast<float>((7 * r + 5 * i) % 23 - 30);  // integer: exact sums
          memory[static_cast<std::size_t>(r * next + i * apart)] = x;
          sum += double{x};
          most = std::max(most, double{x});
        }
        sums.expect(result, r, sum);
        maxima.expect(result, r, most);
      }
      const operand input{.data = memory.data(), .type = dtype::float32, .stride = {next, apart}};
      for (const op kind : {op::sum, op::max}) {
        const owning_call<> c =
            call_over(2, kind, {rows, length},
                      {.data = nullptr, .type = dtype::float32, .stride = {1, 0}}, input);
        weft::kernels::check(kernel::reduce, c, result, kind == op::sum ? sums : maxima,
                             words(name_of(kind), " of ", length, ", ", apart, " apart"));
      }
    }
}

BOOST_AUTO_TEST_CASE(long_sums_keep_their_accuracy) {
  // 2^20 times 0.1: one float accumulator would be off in the third digit.
  std::vector<float> terms(1 << 20, 0.1f);
  const double expected = double{0.1f} * (1 << 20);
  struct way {
    extents extent;
    std::ptrdiff_t stride;
  };
  // A contiguous row, two interleaved columns, and strided rows.
  for (const auto& [extent, stride] :
       {way{{1 << 20}, 1}, way{{1 << 19, 2}, 2}, way{{1 << 19}, 2}, way{{1 << 18}, 4}}) {
    float result[2];
    const owning_call<> c =
        call_over(1, op::sum, extent, {.data = result, .type = dtype::float32, .stride = {0, 1}},
                  {.data = terms.data(), .type = dtype::float32, .stride = {stride, 1}});
    const double want = expected / static_cast<double>(stride);
    on_every_target([&](const table& kernels) {
      kernels.reduce(c);
      // At most 128 terms are summed in float before the sum is added to a double accumulator.
      BOOST_TEST(std::abs(double{result[0]} - want) <= 64.5 * epsilon * want);
    });
  }
}

BOOST_AUTO_TEST_CASE(repeated_sums_are_equal) {
  const extents extent{17, 3000};
  array<float> input(extent, layout::contiguous);
  fill(input, 3);
  for (const unsigned over : {1u, 2u, 3u}) {
    array<float> first(extent, layout::contiguous, over), second = first;
    on_every_target([&](const table& kernels) {
      for (array<float>* result : {&first, &second})
        kernels.reduce(call_over(over, op::sum, extent, result->as_operand(), input.as_operand()));
      BOOST_TEST(different_bits(second.memory, first.memory) == "", "over " << over);
    });
  }
}

BOOST_AUTO_TEST_SUITE_END()
