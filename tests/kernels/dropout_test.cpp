// Philox random words by element id, and the dropout kernel that uses them.
#include "kernels/check.hpp"
#include "weft/kernels/philox.hpp"

using namespace weft;
using namespace weft::kernels;

namespace {

// Known answers of Random123 (Salmon et al. 2011), from its file kat_vectors.
using block = std::array<std::uint32_t, 4>;
static_assert(philox::block({0, 0, 0, 0}, {0, 0}) ==
              block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox::block({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                            {0xffffffff, 0xffffffff}) ==
              block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox::block({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                            {0xa4093822, 0x299f31d0}) ==
              block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

static_assert(weft::drop_threshold(0) == 0 && weft::drop_threshold(1) == 1u << 24);
static_assert(!is_dropped(0, weft::drop_threshold(0)) &&
              is_dropped(0xffffffff, weft::drop_threshold(1)));
static_assert(kept_scale(weft::drop_threshold(0)) == 1 &&
              kept_scale(weft::drop_threshold(0.5)) == 2);

}  // namespace

BOOST_AUTO_TEST_SUITE(dropout)

// Element ids have the layout of the elements, a permuted one, or one with gaps.
BOOST_AUTO_TEST_CASE(elements_are_dropped_by_the_random_word_of_their_id) {
  for (const extents& extent : shapes)
    for (const layout how : layouts)
      for (const layout numbered : layouts)
        for (const double rate : {0.0, 0.3, 1.0}) {
          array<float> x(extent, how), result(extent, how, 0, true);
          fill(x, 7);
          const fused_op fused_ops[]{
              {op::dropout, dtype::float32, {0, 1}, {0x89abcdef, weft::drop_threshold(rate)}}};
          array<std::int32_t> places(extent, numbered);
          owning_call<> c = call_of(op::dropout, extent, result, x, places);
          c.operands[2].data = nullptr;
          c.fused_ops = fused_ops;
          c.fused_count = 1;
          c.random = {0x0123456789abcdef, 0xfedcba9876543210};
          expectation expected(result);
          for_points(extent, [&](const extents& point) {
            const auto number = static_cast<std::uint32_t>(offset(c.operands[2], point));
            const bool drops = is_dropped(random_word(c.random, fused_ops[0].drop.stream, number),
                                          fused_ops[0].drop.threshold);
            const double y = drops ? 0 : get(c.operands[1], point) / (1 - rate);
            expected.expect(result, offset(c.operands[0], point), y, 2 * ulp(y));
          });
          check(kernel::elementwise, c, result, expected,
                words("loops ", extent.size(), ", rate ", rate), {1, 3});
        }
}

BOOST_AUTO_TEST_SUITE_END()
