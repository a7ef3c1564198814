// Elementwise operations that run as one call.
#include "kernels/check.hpp"

using namespace weft;
using namespace weft::kernels;

namespace {

template <std::size_t Count>
owning_call<> fused(owning_call<> c, const fused_op (&ops)[Count]) {
  c.fused_ops = ops;
  c.fused_count = Count;
  return c;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fusion_group)

// A fusion group gives the same bits as its operations run one after the other, also where a value
// is used twice or is a boolean, or where the result overwrites an input in place.
BOOST_AUTO_TEST_CASE(fusion_groups_give_the_same_bits_as_separate_operations) {
  // where(z < x * y, tanh(x * y), cast(n) + x * y)
  constexpr std::int8_t made = max_fused_inputs;
  static constexpr fused_op ops[]{{op::multiply, dtype::float32, {0, 1}, {}},
                                  {op::less, dtype::boolean, {2, made}, {}},
                                  {op::tanh, dtype::float32, {made}, {}},
                                  {op::cast, dtype::float32, {3}, {}},
                                  {op::add, dtype::float32, {made + 3, made}, {}},
                                  {op::where, dtype::float32, {made + 1, made + 2, made + 4}, {}}};
  for (const extents& extent : shapes)
    for (unsigned mix = 0; mix < 6; ++mix) {
      const layout how = layouts[mix % 4];
      array<float> x(extent, how), y(extent, layouts[(mix + 1) % 4], mix == 4 ? 1u : 0u);
      array<float> z(extent, how, mix == 5 ? ~0u : 0u);
      array<std::int32_t> n(extent, layout::contiguous);
      fill(x, 1 + mix), fill(y, 2), fill(z, 3), fill(n, 4);
      const array<float> before = x;
      array<float> product(extent, layout::contiguous), function = product, number = product,
                                                        sum = product, wanted = product;
      array<std::uint8_t> less(extent, layout::contiguous);
      on_every_target([&](const table& kernels) {
        x.memory = before.memory;
        const auto one = [&](op kind, auto&... operands) {
          kernels.elementwise(call_of(kind, extent, operands...));
        };
        one(op::multiply, product, x, y);
        one(op::less, less, z, product);
        one(op::tanh, function, product);
        one(op::cast, number, n);
        one(op::add, sum, number, product);
        one(op::where, wanted, less, function, sum);

        array<float> result(extent, how, 0, true);
        owning_call<> c = fused(call_of(op::where, extent, result, x, y, z, n), ops);
        expectation expected(result), in_place(x);
        for_points(extent, [&](const extents& index) {
          const double v = get(wanted.as_operand(), index);
          expected.expect(result, offset(c.operands[0], index), v);
          in_place.expect(x, offset(c.operands[1], index), v);
        });
        kernels.elementwise(c);
        BOOST_TEST(expected.differences(result) == "", "mix " << mix << ", of " << extent.size());
        if (how != layout::contiguous || std::count(extent.begin(), extent.end(), 0) > 0) return;
        c.operands[0] = c.operands[1];
        kernels.elementwise(c);
        BOOST_TEST(in_place.differences(x) == "", "mix " << mix << ", of " << extent.size());
      });
    }
}

BOOST_AUTO_TEST_CASE(fused_comparisons_follow_ieee_754_for_nan) {
  constexpr std::int8_t made = max_fused_inputs;
  // (x != y && !(x < y)) || bool(x), which is where(x != y && !(x < y), true, bool(x))
  static constexpr fused_op ops[]{{op::not_equal, dtype::boolean, {0, 1}, {}},
                                  {op::less, dtype::boolean, {0, 1}, {}},
                                  {op::logical_not, dtype::boolean, {made + 1}, {}},
                                  {op::logical_and, dtype::boolean, {made, made + 2}, {}},
                                  {op::cast, dtype::boolean, {0}, {}},
                                  {op::logical_or, dtype::boolean, {made + 3, made + 4}, {}}};
  for (const extents& extent : shapes)
    for (const layout how : layouts) {
      array<float> x(extent, how), y(extent, layout::contiguous, 1);
      fill_specially(x, 1);
      fill_specially(y, 2);
      array<std::uint8_t> result(extent, how, 0, true);
      const owning_call<> c = fused(call_of(op::logical_or, extent, result, x, y), ops);
      expectation expected(result);
      for_points(extent, [&](const extents& index) {
        const double a = get(c.operands[1], index), b = get(c.operands[2], index);
        expected.expect(result, offset(c.operands[0], index),
                        (a != b && !(a < b)) || a != 0 ? 1 : 0);
      });
      check(kernel::elementwise, c, result, expected, words("loops ", extent.size()));
    }
}

BOOST_AUTO_TEST_SUITE_END()
