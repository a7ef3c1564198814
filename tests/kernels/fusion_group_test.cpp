// Elementwise operations that run as one call.
#include "arrays.hpp"
#include "targets.hpp"

using namespace weft;
using namespace weft::kernels;

BOOST_AUTO_TEST_SUITE(fusion_group)

// A fusion group gives the same bits as its operations run one after the other, also where a value
// is used twice or is a boolean, or where the result overwrites an input in place.
BOOST_AUTO_TEST_CASE(fusion_groups_give_the_same_bits_as_separate_operations) {
  on_every_target([](const table& kernels) {
    for (const extents& extent : shapes)
      for (unsigned mix = 0; mix < 6; ++mix) {
        const layout how = layouts[mix % 4];
        array<float> x(extent, how), y(extent, layouts[(mix + 1) % 4], mix == 4 ? 1u : 0u);
        array<float> z(extent, how, mix == 5 ? ~0u : 0u);
        array<std::int32_t> n(extent, layout::contiguous);
        fill(x, 1 + mix);
        fill(y, 2);
        fill(z, 3);
        fill(n, 4);
        // where(z < x * y, tanh(x * y), cast(n) + x * y)
        constexpr std::int8_t made = max_fused_inputs;
        const fused_op fused_ops[]{{op::multiply, dtype::float32, {0, 1}, {}},
                                   {op::less, dtype::boolean, {2, made}, {}},
                                   {op::tanh, dtype::float32, {made}, {}},
                                   {op::cast, dtype::float32, {3}, {}},
                                   {op::add, dtype::float32, {made + 3, made}, {}},
                                   {op::where, dtype::float32, {made + 1, made + 2, made + 4}, {}}};
        const extents dense = extent;
        array<float> product(dense, layout::contiguous), function = product, number = product,
                                                         sum = product, wanted = product;
        array<std::uint8_t> less(dense, layout::contiguous);
        const auto one = [&](op kind, auto& to, auto&... from) {
          call c = make_call(kind, extent);
          c.operands[0] = to.as_operand();
          int i = 0;
          ((c.operands[++i] = from.as_operand()), ...);
          kernels.elementwise(c);
        };
        one(op::multiply, product, x, y);
        one(op::less, less, z, product);
        one(op::tanh, function, product);
        one(op::cast, number, n);
        one(op::add, sum, number, product);
        one(op::where, wanted, less, function, sum);

        array<float> result(extent, how, 0, true);
        call c = make_call(op::where, extent);
        c.operands[0] = result.as_operand();
        c.operands[1] = x.as_operand();
        c.operands[2] = y.as_operand();
        c.operands[3] = z.as_operand();
        c.operands[4] = n.as_operand();
        c.fused_ops = fused_ops;
        c.fused_count = static_cast<int>(std::size(fused_ops));
        expectation expected(result), in_place(x);
        const operand dense_wanted = wanted.as_operand();
        for_points(c, [&](const auto& index) {
          const double v = at(dense_wanted, offset(dense_wanted, index));
          expected.expect(result, offset(c.operands[0], index), v);
          in_place.expect(x, offset(c.operands[1], index), v);
        });
        kernels.elementwise(c);
        BOOST_TEST(expected.wrong(result) == 0, "mix " << mix << ", loops " << extent.size());
        if (how != layout::contiguous || std::count(extent.begin(), extent.end(), 0) > 0) continue;
        c.operands[0] = c.operands[1];
        kernels.elementwise(c);
        BOOST_TEST(in_place.wrong(x) == 0, "mix " << mix << ", loops " << extent.size());
      }
  });
}

BOOST_AUTO_TEST_CASE(fused_comparisons_follow_ieee_754_for_nan) {
  constexpr std::int8_t made = max_fused_inputs;
  // (x != y && !(x < y)) || bool(x), which is where(x != y && !(x < y), true, bool(x))
  const fused_op fused_ops[]{{op::not_equal, dtype::boolean, {0, 1}, {}},
                             {op::less, dtype::boolean, {0, 1}, {}},
                             {op::logical_not, dtype::boolean, {made + 1}, {}},
                             {op::logical_and, dtype::boolean, {made, made + 2}, {}},
                             {op::cast, dtype::boolean, {0}, {}},
                             {op::logical_or, dtype::boolean, {made + 3, made + 4}, {}}};
  on_every_target([&](const table& kernels) {
    for (const extents& extent : shapes)
      for (const layout how : layouts) {
        array<float> x(extent, how), y(extent, layout::contiguous, 1);
        fill_specially(x, 1);
        fill_specially(y, 2);
        array<std::uint8_t> result(extent, how, 0, true);
        call c = make_call(op::logical_or, extent);
        c.operands[0] = result.as_operand();
        c.operands[1] = x.as_operand();
        c.operands[2] = y.as_operand();
        c.fused_ops = fused_ops;
        c.fused_count = static_cast<int>(std::size(fused_ops));
        expectation expected(result);
        for_points(c, [&](const auto& index) {
          const double a = at(c.operands[1], offset(c.operands[1], index));
          const double b = at(c.operands[2], offset(c.operands[2], index));
          expected.expect(result, offset(c.operands[0], index),
                          (a != b && !(a < b)) || a != 0 ? 1 : 0);
        });
        kernels.elementwise(c);
        BOOST_TEST(expected.wrong(result) == 0, "loops " << extent.size());
      }
  });
}

BOOST_AUTO_TEST_SUITE_END()
