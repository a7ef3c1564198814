// Operations by index, positions and zeros, in partitions.
#include <map>
#include <numeric>
#include <utility>

#include "kernels/check.hpp"
#include "kernels/gather_scatter.hpp"

using namespace weft;
using namespace weft::kernels;

namespace {

// The indexed axis is the table's outermost: its stride is the span of the loops.
constexpr std::ptrdiff_t axis_extent = 5;

// Indices in and out of range, some of them the extremes of int32.
void fill_indices(array<std::int32_t>& indices, unsigned seed) {
  static const std::vector<std::int32_t> values = [] {
    using limits = std::numeric_limits<std::int32_t>;
    std::mt19937 random(1);
    std::vector<std::int32_t> all(4093);
    for (auto& i : all)
      i = random() % 16 == 0 ? (random() % 2 ? limits::max() : limits::min())
                             : static_cast<std::int32_t>(random() % 9) - 2;
    return all;
  }();
  fill_from(values, indices, seed);
}

template <class T>
array<T> table_of(const extents& extent, layout how, unsigned without, bool is_result,
                  std::ptrdiff_t& axis_stride) {
  array<T> one(extent, how, without, is_result);
  axis_stride = static_cast<std::ptrdiff_t>(one.memory.size()) - 2 * one.first;
  const auto more = static_cast<std::size_t>(axis_stride * (axis_extent - 1));
  one.memory.resize(one.memory.size() + more, one.canary);
  return one;
}

// Results are exact, so every number of partitions must give the same bits.
template <class T>
void check_in_parts(kernel k, const owning_call<>& c, const array<T>& result,
                    const expectation& expected, const std::string& what) {
  check(k, c, result, expected, what, {1, 2, 3, 7});
}

// Accumulates as the kernel does, so that sums are equal to the bit: up to `longest` additions in
// float, whose sum is then added to an accumulator in double.
struct sum_of_chains {
  double total = 0;
  float chain = 0;
  std::int32_t additions = 0;
  void add(float x, std::int32_t longest) {
    if (additions++ == longest) {
      total += static_cast<double>(std::exchange(chain, 0.f));
      additions = 1;
    }
    chain += x;
  }
  float value() const { return static_cast<float>(total + static_cast<double>(chain)); }
};

template <class T>
void check_gather() {
  unsigned seed = 0;
  for (const extents& extent : shapes)
    for (unsigned index_without = 0; index_without < 1u << extent.size(); ++index_without)
      for (const layout to : layouts)
        for (const layout from : layouts) {
          const unsigned table_without = ++seed % 3 == 0 ? 0 : ~index_without;
          std::ptrdiff_t axis_stride = 0;
          array<T> result(extent, to, 0, true);
          array<T> rows = table_of<T>(extent, from, table_without, false, axis_stride);
          array<std::int32_t> indices(extent, layouts[seed % 4], index_without);
          fill(rows, seed);
          fill_indices(indices, seed);
          owning_call<> c = call_of(op::gather, extent, result, rows, indices);
          c.axis_extent = axis_extent;
          c.axis_stride = axis_stride;
          expectation expected(result);
          for_points(extent, [&](const extents& point) {
            const double index = get(c.operands[2], point);
            const bool inside = index >= 0 && index < axis_extent;
            const auto from_axis = inside ? static_cast<std::ptrdiff_t>(index) * axis_stride : 0;
            expected.expect(
                result, offset(c.operands[0], point),
                inside ? at(c.operands[1], offset(c.operands[1], point) + from_axis) : 0);
          });
          check_in_parts(kernel::gather, c, result, expected,
                         words("loops ", extent.size(), ", indices without ", index_without));
        }
}

// Rows along each of the loops, written at start indices in and out of range; all rows, or only as
// many as a count says.
template <class T>
void check_write() {
  unsigned seed = 0;
  for (const extents& extent : shapes)
    for (std::size_t row = 0; row < extent.size(); ++row)
      for (unsigned without = 0; without < 1u << extent.size(); ++without)
        for (const layout how : layouts) {
          ++seed;
          extents whole = extent;
          whole[row] = axis_extent;
          const unsigned own = without | 1u << row;
          array<T> buffer(whole, how, 0, true), rows(extent, layouts[seed % 4]);
          array<std::int32_t> places(extent, layouts[seed / 4 % 4], own);
          array<std::int32_t> counts(extent, how, seed % 3 == 0 ? own : 1u << row);
          fill(rows, seed);
          fill_indices(places, seed);
          fill_indices(counts, seed + 1);
          owning_call<> c = call_of(op::update_rows, extent, buffer, rows, places);
          if (seed % 2) c.operands[3] = counts.as_operand();
          c.over = 1u << row;
          c.axis_extent = axis_extent;
          c.axis_stride = buffer.stride[row];
          // Of a ring that is not shorter than the rows, no element is written twice.
          if (seed % 5 < 2 && extent[row] <= axis_extent)
            c.scalar = static_cast<double>(std::max<std::ptrdiff_t>(extent[row], axis_extent - 1));
          expectation expected(buffer);
          for_points(extent, [&](const extents& point) {
            const auto p = static_cast<double>(point[row]);
            double start = get(c.operands[2], point);
            if (start + p >= axis_extent) start -= c.scalar;
            if (start + p < 0 || start + p >= axis_extent) return;
            if (c.operands[3].data != nullptr && p >= get(c.operands[3], point)) return;
            expected.expect(
                buffer,
                offset(c.operands[0], point) + static_cast<std::ptrdiff_t>(start) * c.axis_stride,
                get(c.operands[1], point));
          });
          check_in_parts(
              kernel::update_rows, c, buffer, expected,
              words("loops ", extent.size(), ", row ", row, ", places without ", without));
        }
}

template <class T>
void check_zero() {
  for (const extents& extent : shapes)
    for (const layout how : layouts) {
      array<T> result(extent, how, 0, true);
      const owning_call<> c = call_of(op::constant, extent, result);
      expectation expected(result);
      for_points(extent, [&](const extents& point) {
        expected.expect(result, offset(c.operands[0], point), 0);
      });
      check_in_parts(kernel::zero, c, result, expected, words("loops ", extent.size()));
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(indexing)

BOOST_AUTO_TEST_CASE(gather_copies_elements_and_gives_0_for_indices_out_of_range) {
  check_gather<float>();
  check_gather<std::int32_t>();
}

BOOST_AUTO_TEST_CASE(scatter_add_accumulates_in_the_order_of_the_loops) {
  unsigned seed = 0;
  for (const extents& extent : shapes)
    for (unsigned missing = 0; missing < 1u << extent.size(); ++missing)
      for (const layout to : layouts)
        for (const layout from : layouts) {
          ++seed;
          std::ptrdiff_t axis_stride = 0;
          array<float> result = table_of<float>(extent, to, missing, true, axis_stride);
          array<float> g(extent, from);
          // One index for each row along the loops that the result has, or one for each point.
          array<std::int32_t> indices(extent, layouts[seed % 4], seed % 2 ? ~missing : 0u);
          fill(g, seed);
          fill_indices(indices, seed);
          owning_call<> c = call_of(op::scatter_add, extent, result, g, indices);
          c.axis_extent = axis_extent;
          c.axis_stride = axis_stride;
          expectation expected(result);
          for_points(without(extent, missing), [&](const extents& point) {
            for (std::ptrdiff_t i = 0; i < axis_extent; ++i)
              expected.expect(result, offset(c.operands[0], point) + i * axis_stride, 0);
          });
          const bool many = additions_of(c) > max_chain_of_additions;
          const std::int32_t longest = !many                ? INT32_MAX
                                       : adds_whole_rows(c) ? max_chain_of_additions
                                                            : 1;
          std::map<std::ptrdiff_t, sum_of_chains> sums;
          for_points(extent, [&](const extents& point) {
            const double index = get(c.operands[2], point);
            if (index < 0 || index >= axis_extent) return;
            const std::ptrdiff_t place =
                offset(c.operands[0], point) + static_cast<std::ptrdiff_t>(index) * axis_stride;
            sums[place].add(static_cast<float>(get(c.operands[1], point)), longest);
            expected.expect(result, place, double{sums[place].value()});
          });
          check_in_parts(kernel::scatter_add, c, result, expected,
                         words("loops ", extent.size(), ", result without ", missing));
        }
}

BOOST_AUTO_TEST_CASE(update_rows_writes_rows_in_range_and_leaves_other_elements_alone) {
  check_write<float>();
  check_write<std::uint8_t>();
}

// Also of rows that are shorter than what is selected.
BOOST_AUTO_TEST_CASE(top_k_gives_the_indices_of_the_greatest_elements) {
  unsigned seed = 0;
  for (const extents& extent : shapes)
    for (std::size_t along = 0; along < extent.size(); ++along)
      for (const std::ptrdiff_t count : {1, 4, 20})
        for (const layout how : layouts) {
          ++seed;
          extents selected = extent;
          selected[along] = count;
          array<std::int32_t> result(selected, how, 0, true);
          array<float> x(extent, layouts[seed % 4]);
          seed % 3 == 0 ? fill_specially(x, seed) : fill(x, seed);
          owning_call<> c = call_of(op::top_k, extent, result, x);
          c.over = 1u << along;
          c.axis_extent = count;
          c.axis_stride = std::exchange(c.operands[0].stride[along], 0);
          expectation expected(result);
          for_points(without(extent, c.over), [&](extents point) {
            std::vector<std::ptrdiff_t> order(static_cast<std::size_t>(extent[along]));
            std::iota(order.begin(), order.end(), 0);
            const auto value = [&](std::ptrdiff_t i) {
              point[along] = i;
              return get(c.operands[1], point);
            };
            std::stable_sort(order.begin(), order.end(), [&](std::ptrdiff_t i, std::ptrdiff_t j) {
              const double a = value(i), b = value(j);
              return std::isnan(a) ? !std::isnan(b) : a > b;
            });
            order.resize(static_cast<std::size_t>(std::max(count, extent[along])), -1);
            for (std::ptrdiff_t i = 0; i < count; ++i)
              expected.expect(result, offset(c.operands[0], point) + i * c.axis_stride,
                              static_cast<double>(order[static_cast<std::size_t>(i)]));
          });
          check_in_parts(kernel::top_k, c, result, expected,
                         words(count, " along loop ", along, " of ", extent.size()));
        }
}

BOOST_AUTO_TEST_CASE(positions_count_from_0) {
  for (const std::ptrdiff_t n : {0, 1, 3, 17, 100})
    for (const layout how : layouts) {
      array<std::int32_t> result({n}, how, 0, true);
      const owning_call<> c = call_of(op::positions, {n}, result);
      expectation expected(result);
      for_points({n}, [&](const extents& point) {
        expected.expect(result, offset(c.operands[0], point), static_cast<double>(point[0]));
      });
      check_in_parts(kernel::positions, c, result, expected, words("of ", n));
    }
}

BOOST_AUTO_TEST_CASE(zero_clears_the_elements_and_nothing_else) {
  check_zero<float>();
  check_zero<std::int32_t>();
  check_zero<std::uint8_t>();
}

BOOST_AUTO_TEST_SUITE_END()
