// Elementwise operations of every dtype, in every layout.
#include <bit>
#include <tuple>

#include "kernels/accuracy.hpp"
#include "kernels/check.hpp"

using namespace weft;
using namespace weft::kernels;
using std::int32_t, std::uint8_t;

namespace {

struct small_values {
  template <class T>
  void operator()(array<T>& a, unsigned seed) const {
    fill(a, seed);
  }
};
struct special_values : small_values {
  using small_values::operator();
  void operator()(array<float>& a, unsigned seed) const { fill_specially(a, seed); }
};

// Checks an operation of operands of types A... in all shapes and in all layouts of the result and
// the operands, which are also broadcast.
template <class R, class... A, class Fill = small_values>
void check(op kind, Fill fill = {}) {
  unsigned seed = 0;
  for (const extents& extent : shapes)
    for (const layout to : layouts)
      for (unsigned mix = 0; mix < 6; ++mix) {
        ++seed;
        array<R> result(extent, to, 0, true);
        unsigned k = mix;
        // The first mixes broadcast nothing, later ones also the last loop, the first or all.
        const auto without = [&] {
          const unsigned choices[]{0u, 0u, 1u << (extent.size() - 1), 1u, 7u};
          return mix < 2 ? 0u : choices[k++ % 5];
        };
        const auto how = [&] { return mix == 0 ? to : layouts[k % 4]; };
        std::tuple<array<A>...> inputs{array<A>(extent, how(), without())...};
        const owning_call<> c = std::apply(
            [&](auto&... a) {
              (fill(a, seed += 1000), ...);
              return call_of(kind, extent, result, a...);
            },
            inputs);
        expectation expected(result);
        for_points(extent, [&](const extents& index) {
          double in[3]{};
          for (std::size_t o = 0; o < sizeof...(A); ++o) in[o] = get(c.operands[o + 1], index);
          const auto [value, tolerance] = elementwise(kind, dtype_of<R>(), in);
          expected.expect(result, offset(c.operands[0], index), value, tolerance);
        });
        check(kernel::elementwise, c, result, expected,
              words(name_of(kind), ", layout ", static_cast<int>(to), ", mix ", mix, ", loops ",
                    extent.size()));
      }
}

// Checks an operation whose operands are all of T.
template <class T, class Fill = small_values>
void check_with_operands_of(op kind, Fill fill = {}) {
  const auto giving = [&]<class R>(R) {
    switch (operands_of_elementwise(kind)) {
      case 1:
        return check<R, T>(kind, fill);
      case 2:
        return check<R, T, T>(kind, fill);
      default:
        return check<R, T, T, T>(kind, fill);
    }
  };
  is_comparison(kind) ? giving(uint8_t()) : giving(T());
}

// Those that the table does not say the operands of have tests of their own below.
static_assert([] {
  for (int k = 0; k < op_count; ++k)
    if (const op kind = static_cast<op>(k);
        is_elementwise(kind) && info(kind).types == element_types::mixed)
      if (kind != op::where && kind != op::cast && kind != op::dropout) return false;
  return true;
}());

}  // namespace

BOOST_AUTO_TEST_SUITE(elementwise)

BOOST_AUTO_TEST_CASE(float_operations_are_right_in_every_layout) {
  for (const op kind : operations_where(takes<float>)) check_with_operands_of<float>(kind);
}

BOOST_AUTO_TEST_CASE(integer_operations_are_right_in_every_layout) {
  for (const op kind : operations_where(takes<int32_t>)) check_with_operands_of<int32_t>(kind);
}

BOOST_AUTO_TEST_CASE(boolean_operations_are_right_in_every_layout) {
  for (const op kind : operations_where(takes<uint8_t>)) check_with_operands_of<uint8_t>(kind);
}

BOOST_AUTO_TEST_CASE(where_selects_elements_of_every_dtype) {
  check<float, uint8_t, float, float>(op::where);
  check<int32_t, uint8_t, int32_t, int32_t>(op::where);
  check<uint8_t, uint8_t, uint8_t, uint8_t>(op::where);
}

BOOST_AUTO_TEST_CASE(casts_convert_between_all_dtypes) {
  const auto casts_from = []<class T>(T) {
    check<float, T>(op::cast);
    check<int32_t, T>(op::cast);
    check<uint8_t, T>(op::cast);
  };
  casts_from(float());
  casts_from(int32_t());
  casts_from(uint8_t());
}

// -0 equals 0, and NaN is unequal to and unordered with everything. Formulas of gelu multiply
// infinities by 0.
BOOST_AUTO_TEST_CASE(operations_follow_ieee_754_for_nan_zeros_infinities_and_subnormals) {
  for (const op kind : operations_where(takes<float>))
    if (accuracies[kind].error == nullptr) check_with_operands_of<float>(kind, special_values());
  check<uint8_t, float>(op::cast, special_values());
  check<int32_t, float>(op::cast, special_values());
  check<float, uint8_t, float, float>(op::where, special_values());
}

BOOST_AUTO_TEST_CASE(a_cast_to_int_saturates_and_maps_nan_to_0) {
  std::vector<float> xs{3e9f,          -3e9f, 1e30f, -1e30f,        infinity,
                        -infinity,     NAN,   -NAN,  2147483520.0f, -2147483648.0f,
                        2147483648.0f, 1.99f, -1.99f};
  constexpr int32_t most = std::numeric_limits<int32_t>::max();
  constexpr int32_t least = std::numeric_limits<int32_t>::min();
  const std::vector<int32_t> expected{most, least,      most,  least, most, least, 0,
                                      0,    2147483520, least, most,  1,    -1};
  on_every_target([&](const table& kernels) {
    std::vector<int32_t> results(xs.size());
    kernels.elementwise(call_of(op::cast, {std::ssize(xs)}, results, xs));
    BOOST_TEST(results == expected, boost::test_tools::per_element());
  });
}

BOOST_AUTO_TEST_CASE(the_result_may_alias_an_input) {
  for (const layout how : layouts) {
    const extents extent{17, 100};
    array<float> x(extent, how, 0, true), g(extent, layout::contiguous);
    fill(x, 1);
    fill(g, 2);
    const array<float> before = x;
    const owning_call<> c = call_of(op::subtract, extent, x, x, g);
    on_every_target([&](const table& kernels) {
      x.memory = before.memory;
      kernels.elementwise(c);
      std::vector<float> expected = before.memory;
      for_points(extent, [&](const extents& index) {
        expected[static_cast<std::size_t>(x.first + offset(c.operands[0], index))] -=
            static_cast<float>(get(c.operands[2], index));
      });
      BOOST_TEST(different_bits(x.memory, expected) == "");
    });
  }
}

BOOST_AUTO_TEST_CASE(partitions_give_the_same_bits_as_the_whole_call) {
  for (const extents& extent : {extents{20000}, extents{3, 9000}, extents{40, 100}})
    for (const layout how : {layout::contiguous, layout::permuted, layout::spaced})
      // sin handles large lanes one by one, and a copy may transpose.
      for (const op kind : {op::sin, op::multiply, op::copy}) {
        array<float> x(extent, how), y(extent, layout::contiguous, 1),
            result(extent, layout::contiguous);
        fill(x, 1);
        fill(y, 2);
        for (std::size_t i = 0; i < x.memory.size(); i += 101) x.memory[i] = 3e6f;
        check_partitions(kernel::elementwise, call_of(kind, extent, result, x, y), result,
                         words(name_of(kind)));
      }
}

BOOST_AUTO_TEST_CASE(bfloat16_is_the_nearest_with_ties_to_even_and_widens_exactly) {
  // Each bfloat16, the floats that are nearest to the middle of it and the next, and some others.
  std::vector<float> floats;
  for (std::uint32_t high = 0; high < 0x10000; ++high)
    for (const std::uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      floats.push_back(std::bit_cast<float>(high << 16 | low));
  std::vector<bfloat16> narrow(floats.size());
  std::vector<float> wide(floats.size());
  on_every_target([&](const table& kernels) {
    kernels.elementwise(call_of(op::cast, {std::ssize(floats)}, narrow, floats));
    kernels.elementwise(call_of(op::cast, {std::ssize(floats)}, wide, narrow));
    int wrong = 0;
    for (std::size_t i = 0; i < floats.size(); ++i) {
      const bfloat16 expected(floats[i]);
      wrong += narrow[i].bits != expected.bits;
      wrong += std::bit_cast<std::uint32_t>(wide[i]) != std::uint32_t{expected.bits} << 16;
    }
    BOOST_TEST(wrong == 0);
  });
}

BOOST_AUTO_TEST_SUITE_END()
