#include <map>

#include "arrays.hpp"
#include "targets.hpp"

using namespace weft;
using namespace weft::kernels;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Runs the reduction and returns the number of wrong elements. A sum of n terms, in any order, has
// an error below n * epsilon/2 times the sum of their magnitudes; each product adds epsilon/2 of
// itself.
template <class T>
int wrong(const table& kernels, op kind, const extents& extent, unsigned over, layout to,
          array<T>& input, array<T>* factor = nullptr) {
  array<T> result(extent, to, over, true);
  call c = make_call(kind, extent);
  c.over = over;
  c.operands[0] = result.as_operand();
  c.operands[1] = input.as_operand();
  if (factor) c.operands[2] = factor->as_operand();
  struct reduction {
    double value;
    double magnitude = 0;
    double terms = 0;
  };
  const bool sum = kind == op::sum;
  const double least = std::is_same_v<T, float> ? -infinity : std::numeric_limits<T>::lowest();
  std::map<std::ptrdiff_t, reduction> reductions;
  call kept = c;
  for (int l = 0; l < c.loops; ++l)
    if (over >> l & 1u) kept.extent[l] = 1;
  for_points(kept, [&](const auto& index) {
    reductions[offset(c.operands[0], index)] = {sum ? 0.0 : least};
  });
  for_points(c, [&](const auto& index) {
    reduction& r = reductions[offset(c.operands[0], index)];
    double x = at(c.operands[1], offset(c.operands[1], index));
    if (factor) x *= at(c.operands[2], offset(c.operands[2], index));
    r.value = sum ? r.value + x : std::max(r.value, x);
    r.magnitude += std::abs(x);
    r.terms += 1;
  });
  expectation expected(result);
  for (const auto& [at, r] : reductions)
    expected.expect(result, at, r.value,
                    sum && std::is_same_v<T, float>
                        ? (r.terms + (factor ? 1 : 0)) * epsilon / 2 * r.magnitude
                        : 0);
  kernels.reduce(c);
  return expected.wrong(result);
}

template <class T>
void check(const table& kernels, op kind) {
  unsigned seed = 0;
  for (const extents& extent : shapes)
    for (unsigned over = 0; over < 1u << extent.size(); ++over)
      for (const layout to : layouts)
        for (const layout from : layouts)
          for (const unsigned without : {0u, 1u}) {
            array<T> input(extent, from, without);
            fill(input, ++seed);
            const int count = wrong(kernels, kind, extent, over, to, input);
            BOOST_TEST(count == 0, name_of(kind)
                                       << " is wrong " << count << " times, loops " << extent.size()
                                       << ", over " << over << ", layouts " << static_cast<int>(to)
                                       << " " << static_cast<int>(from));
          }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reduce)

BOOST_AUTO_TEST_CASE(sums_are_right_over_any_loops) {
  on_every_target([](const table& kernels) {
    check<float>(kernels, op::sum);
    check<std::int32_t>(kernels, op::sum);
  });
}

BOOST_AUTO_TEST_CASE(sums_of_products_are_right_over_any_loops) {
  on_every_target([](const table& kernels) {
    unsigned seed = 0;
    for (const extents& extent : shapes)
      for (unsigned over = 0; over < 1u << extent.size(); ++over)
        for (const layout x : layouts)
          for (const layout y : layouts) {
            array<float> left(extent, x), right(extent, y, seed % 3 == 0 ? 1u : 0u);
            fill(left, ++seed);
            fill(right, ++seed);
            BOOST_TEST(wrong(kernels, op::sum, extent, over, layout::contiguous, left, &right) ==
                       0);
          }
  });
}

BOOST_AUTO_TEST_CASE(partitions_give_the_same_bits_as_the_whole_call) {
  on_every_target([](const table& kernels) {
    for (const op kind : {op::sum, op::max})
      for (const layout how : {layout::contiguous, layout::permuted})
        for (const unsigned over : {1u, 2u, 4u, 5u, 7u}) {
          const extents extent{5, 3, 300};
          array<float> x(extent, how), result(extent, layout::contiguous, over);
          fill(x, 1);
          call c = make_call(kind, extent);
          c.over = over;
          c.operands[0] = result.as_operand();
          c.operands[1] = x.as_operand();
          BOOST_TEST(same_in_parts(kernels.reduce, c, result.memory), name_of(kind));
          if (kind == op::max) continue;
          c.operands[2] = x.as_operand();
          BOOST_TEST(same_in_parts(kernels.reduce, c, result.memory), name_of(kind));
        }
  });
}

BOOST_AUTO_TEST_CASE(maxima_are_right_over_any_loops) {
  on_every_target([](const table& kernels) {
    check<float>(kernels, op::max);
    check<std::int32_t>(kernels, op::max);
  });
}

BOOST_AUTO_TEST_CASE(a_maximum_with_nan_is_nan) {
  on_every_target([](const table& kernels) {
    for (const unsigned over : {1u, 2u, 3u})
      for (const std::size_t at : {0u, 5u, 33u}) {
        const extents extent{2, 17};
        array<float> input(extent, layout::contiguous), result(extent, layout::contiguous, over);
        fill(input, 1);
        input.memory[at] = std::numeric_limits<float>::quiet_NaN();
        call c = make_call(op::max, extent);
        c.over = over;
        c.operands[0] = result.as_operand();
        c.operands[1] = input.as_operand();
        kernels.reduce(c);
        const auto row = static_cast<std::ptrdiff_t>(at / 17);
        const auto column = static_cast<std::ptrdiff_t>(at % 17);
        const auto to = static_cast<std::size_t>(offset(c.operands[0], {row, column}));
        BOOST_TEST(std::isnan(result.memory[to]));
      }
  });
}

// Strided rows are tested for NaN through their sum, in which infinities and overflow show too.
BOOST_AUTO_TEST_CASE(the_maximum_of_strided_elements_is_nan_only_if_one_of_them_is) {
  constexpr float unbounded = std::numeric_limits<float>::infinity();
  constexpr float largest = std::numeric_limits<float>::max();
  const std::vector<std::pair<std::vector<float>, float>> rows{
      {{unbounded, -unbounded}, unbounded},
      {{-unbounded, 3}, 3},
      {{-unbounded}, -unbounded},
      {{largest, largest, -unbounded}, largest},
      {{std::numeric_limits<float>::quiet_NaN(), unbounded}, 0}};
  on_every_target([&](const table& kernels) {
    for (const auto& [some, expected] : rows) {
      const extents extent{37};
      array<float> input(extent, layout::spaced), result(extent, layout::contiguous, 1);
      call c = make_call(op::max, extent);
      c.over = 1;
      c.operands[0] = result.as_operand();
      c.operands[1] = input.as_operand();
      for (std::ptrdiff_t i = 0; i < extent[0]; ++i)
        input.memory[static_cast<std::size_t>(i * c.operands[1].stride[0])] =
            some[static_cast<std::size_t>(i) % some.size()];
      kernels.reduce(c);
      const float got = result.memory[0];
      BOOST_TEST((std::isnan(some[0]) ? std::isnan(got) : got == expected));
    }
  });
}

BOOST_AUTO_TEST_CASE(gaps_between_strided_elements_do_not_affect_the_result) {
  on_every_target([](const table& kernels) {
    for (const std::ptrdiff_t apart : {2, 3, 4, 8, 16, 32})
      for (const std::ptrdiff_t length : {1, 3, 17, 100, 1500}) {
        const std::ptrdiff_t rows = 3, next = length * apart + 1;
        std::vector<float> memory(
            static_cast<std::size_t>((rows - 1) * next + (length - 1) * apart + 1),
            std::numeric_limits<float>::quiet_NaN());
        double sum[3]{}, largest[3]{-infinity, -infinity, -infinity};
        for (std::ptrdiff_t r = 0; r < rows; ++r)
          for (std::ptrdiff_t i = 0; i < length; ++i) {
            const auto x = static_cast<float>((7 * r + 5 * i) % 23 - 30);  // integer: exact sums
            memory[static_cast<std::size_t>(r * next + i * apart)] = x;
            sum[r] += static_cast<double>(x);
            largest[r] = std::max(largest[r], static_cast<double>(x));
          }
        for (const op kind : {op::sum, op::max}) {
          float result[3];
          call c = make_call(kind, {rows, length});
          c.over = 2;
          c.operands[0] = {result, dtype::float32, {1, 0}};
          c.operands[1] = {memory.data(), dtype::float32, {next, apart}};
          kernels.reduce(c);
          for (int r = 0; r < 3; ++r)
            BOOST_TEST(static_cast<double>(result[r]) == (kind == op::sum ? sum[r] : largest[r]),
                       name_of(kind) << " of " << length << ", " << apart << " apart");
        }
      }
  });
}

BOOST_AUTO_TEST_CASE(long_sums_keep_their_accuracy) {
  on_every_target([](const table& kernels) {
    // 2^20 times 0.1: one float accumulator would be off in the third digit.
    std::vector<float> terms(1 << 20, 0.1f);
    const double expected = static_cast<double>(0.1f) * (1 << 20);
    struct way {
      extents extent;
      std::ptrdiff_t stride;
    };
    // A contiguous row, two interleaved columns, and strided rows.
    for (const auto& [extent, stride] :
         {way{{1 << 20}, 1}, way{{1 << 19, 2}, 2}, way{{1 << 19}, 2}, way{{1 << 18}, 4}}) {
      float result[2];
      call c = make_call(op::sum, extent);
      c.over = 1;
      c.operands[0] = {result, dtype::float32, {0, 1}};
      c.operands[1] = {terms.data(), dtype::float32, {stride, 1}};
      kernels.reduce(c);
      const double want = expected / static_cast<double>(stride);
      // At most 128 terms are summed in float before the sum is added to a double accumulator.
      BOOST_TEST(std::abs(static_cast<double>(result[0]) - want) <= 64.5 * epsilon * want);
    }
  });
}

BOOST_AUTO_TEST_CASE(repeated_sums_are_equal) {
  on_every_target([](const table& kernels) {
    array<float> input({17, 3000}, layout::contiguous);
    fill(input, 3);
    for (const unsigned over : {1u, 2u, 3u}) {
      std::vector<float> first(3000), second(3000);
      call c = make_call(op::sum, {17, 3000});
      c.over = over;
      c.operands[1] = input.as_operand();
      c.operands[0] = {first.data(), dtype::float32, {over & 1u ? 0 : 1, over & 2u ? 0 : 1}};
      kernels.reduce(c);
      c.operands[0].data = second.data();
      kernels.reduce(c);
      BOOST_TEST((first == second));
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
