#include "arrays.hpp"
#include "targets.hpp"

using namespace weft;
using namespace weft::kernels;

namespace {

// The indexed axis is the table's outermost: its stride is the span of the loops.
constexpr std::ptrdiff_t axis_extent = 5;

// Indices in and out of range, some of them the extremes of int32.
void fill_indices(array<std::int32_t>& indices, unsigned seed) {
  std::mt19937 random(seed);
  for (auto& i : indices.memory) i = static_cast<std::int32_t>(random() % 9) - 2;
  for (auto& i : indices.memory)
    if (random() % 16 == 0) i = random() % 2 ? 2147483647 : -2147483647 - 1;
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

// The number of wrong elements after a kernel ran in partitions, the last one first. Results are
// exact, so every number of partitions must give the same bits.
template <class T>
int wrong_in_parts(void (*kernel)(const call&) noexcept, call c, const array<T>& result,
                   const expectation& expected) {
  int wrong = 0;
  for (const int count : {1, 2, 3, 7}) {
    array<T> mine = result;
    c.operands[0] = mine.as_operand();
    for (int i = count - 1; i >= 0; --i) {
      c.part = part_of(i, count);
      kernel(c);
    }
    wrong += expected.wrong(mine);
  }
  return wrong;
}

template <class T>
void check_gather(const table& kernels) {
  unsigned seed = 0;
  for (const extents& extent : shapes)
    for (unsigned index_without = 0; index_without < 1u << extent.size(); ++index_without)
      for (const layout to : layouts)
        for (const layout from : layouts) {
          call c = make_call(op::gather, extent);
          const unsigned table_without = ++seed % 3 == 0 ? 0 : ~index_without;
          array<T> result(extent, to, 0, true);
          array<T> rows = table_of<T>(extent, from, table_without, false, c.axis_stride);
          array<std::int32_t> indices(extent, layouts[seed % 4], index_without);
          fill(rows, seed);
          fill_indices(indices, seed);
          c.axis_extent = axis_extent;
          c.operands[0] = result.as_operand();
          c.operands[1] = rows.as_operand();
          c.operands[2] = indices.as_operand();
          expectation expected(result);
          for_points(c, [&](const auto& point) {
            const double index = at(c.operands[2], offset(c.operands[2], point));
            const bool inside = index >= 0 && index < axis_extent;
            const auto from_axis = inside ? static_cast<std::ptrdiff_t>(index) * c.axis_stride : 0;
            expected.expect(
                result, offset(c.operands[0], point),
                inside ? at(c.operands[1], offset(c.operands[1], point) + from_axis) : 0);
          });
          BOOST_TEST(wrong_in_parts(kernels.gather, c, result, expected) == 0,
                     "gather, loops " << extent.size() << ", indices without " << index_without);
        }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(indexing)

BOOST_AUTO_TEST_CASE(gather_copies_elements_and_gives_0_for_indices_out_of_range) {
  on_every_target([](const table& kernels) {
    check_gather<float>(kernels);
    check_gather<std::int32_t>(kernels);
  });
}

BOOST_AUTO_TEST_CASE(scatter_add_accumulates_in_the_order_of_the_loops) {
  on_every_target([](const table& kernels) {
    unsigned seed = 0;
    for (const extents& extent : shapes)
      for (unsigned without = 0; without < 1u << extent.size(); ++without)
        for (const layout to : layouts)
          for (const layout from : layouts) {
            ++seed;
            call c = make_call(op::scatter_add, extent);
            array<float> result = table_of<float>(extent, to, without, true, c.axis_stride);
            array<float> g(extent, from);
            // One index for each row along the loops that the result has, or one for each point.
            const unsigned whole = (1u << extent.size()) - 1;
            array<std::int32_t> indices(extent, layouts[seed % 4],
                                        seed % 2 ? whole & ~without : 0u);
            fill(g, seed);
            fill_indices(indices, seed);
            c.axis_extent = axis_extent;
            c.operands[0] = result.as_operand();
            c.operands[1] = g.as_operand();
            c.operands[2] = indices.as_operand();
            expectation expected(result);
            call zeroed = c;
            for (int l = 0; l < c.loops; ++l)
              if (without >> l & 1u) zeroed.extent[l] = 1;
            for_points(zeroed, [&](const auto& point) {
              for (std::ptrdiff_t i = 0; i < axis_extent; ++i)
                expected.expect(result, offset(c.operands[0], point) + i * c.axis_stride, 0);
            });
            for_points(c, [&](const auto& point) {
              const double index = at(c.operands[2], offset(c.operands[2], point));
              if (index < 0 || index >= axis_extent) return;
              const std::ptrdiff_t place =
                  offset(c.operands[0], point) + static_cast<std::ptrdiff_t>(index) * c.axis_stride;
              // Added in float and in the order of the kernel, so the sums are the same to the bit.
              const auto before = static_cast<float>(
                  expected.value[static_cast<std::size_t>(result.first + place)]);
              const auto added =
                  static_cast<float>(at(c.operands[1], offset(c.operands[1], point)));
              expected.expect(result, place, static_cast<double>(before + added));
            });
            BOOST_TEST(wrong_in_parts(kernels.scatter_add, c, result, expected) == 0,
                       "scatter_add, loops " << extent.size() << ", result without " << without);
          }
  });
}

namespace {

// Rows along each of the loops, written at start indices in and out of range; all rows, or only as
// many as a count says.
template <class T>
void check_write(const table& kernels) {
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
          call c = make_call(op::update_rows, extent);
          c.over = 1u << row;
          c.axis_extent = axis_extent;
          c.axis_stride = buffer.stride[row];
          c.operands[0] = buffer.as_operand();
          c.operands[1] = rows.as_operand();
          c.operands[2] = places.as_operand();
          if (seed % 2) c.operands[3] = counts.as_operand();
          expectation expected(buffer);
          for_points(c, [&](const auto& point) {
            const auto number = [&](const operand& o) { return at(o, offset(o, point)); };
            const auto p = static_cast<double>(point[row]);
            const double place = number(c.operands[2]) + p;
            if (place < 0 || place >= axis_extent) return;
            if (c.operands[3].data != nullptr && p >= number(c.operands[3])) return;
            const auto first = static_cast<std::ptrdiff_t>(number(c.operands[2]));
            expected.expect(buffer, offset(c.operands[0], point) + first * c.axis_stride,
                            number(c.operands[1]));
          });
          BOOST_TEST(wrong_in_parts(kernels.update_rows, c, buffer, expected) == 0,
                     "write, loops " << extent.size() << ", row " << row << ", places without "
                                     << without);
        }
}

}  // namespace

BOOST_AUTO_TEST_CASE(update_rows_writes_rows_in_range_and_leaves_other_elements_alone) {
  on_every_target([](const table& kernels) {
    check_write<float>(kernels);
    check_write<std::uint8_t>(kernels);
  });
}

BOOST_AUTO_TEST_CASE(positions_count_from_0) {
  on_every_target([](const table& kernels) {
    for (const std::ptrdiff_t n : {0, 1, 3, 17, 100})
      for (const layout how : layouts) {
        array<std::int32_t> result({n}, how, 0, true);
        call c = make_call(op::positions, {n});
        c.operands[0] = result.as_operand();
        expectation expected(result);
        for_points(c, [&](const auto& point) {
          expected.expect(result, offset(c.operands[0], point), static_cast<double>(point[0]));
        });
        BOOST_TEST(wrong_in_parts(kernels.positions, c, result, expected) == 0);
      }
  });
}

namespace {

template <class T>
void check_zero(const table& kernels) {
  for (const extents& extent : shapes)
    for (const layout how : layouts) {
      array<T> result(extent, how, 0, true);
      call c = make_call(op::constant, extent);
      c.operands[0] = result.as_operand();
      expectation expected(result);
      for_points(
          c, [&](const auto& point) { expected.expect(result, offset(c.operands[0], point), 0); });
      BOOST_TEST(wrong_in_parts(kernels.zero, c, result, expected) == 0);
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(zero_clears_the_elements_and_nothing_else) {
  on_every_target([](const table& kernels) {
    check_zero<float>(kernels);
    check_zero<std::int32_t>(kernels);
    check_zero<std::uint8_t>(kernels);
  });
}

BOOST_AUTO_TEST_SUITE_END()
