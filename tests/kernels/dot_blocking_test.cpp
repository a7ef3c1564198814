// The blocks that a contraction is computed by, and the scratch that they need.
#include "weft/kernels/dot_blocking.hpp"

#include <boost/test/unit_test.hpp>
#include <cstddef>

#include "kernels/product.hpp"

namespace {

using namespace weft::kernels::products;
using weft::kernels::owning_call;

// The microkernel's tile: 8 rows of 3 vectors with 32 registers, 4 rows with 16.
constexpr bool is_tile(std::size_t registers, std::size_t rows, std::size_t vectors) {
  const weft::kernels::dot_tile t = weft::kernels::tile_for(registers);
  return t.rows == rows && t.vectors == vectors;
}
static_assert(is_tile(32, 8, 3) && is_tile(16, 4, 3));

// The cache blocks that some extents, mostly of the benchmarks, are split into.
constexpr bool is_cut(weft::kernels::dot_blocks of, weft::kernels::dot_blocks into) {
  const weft::kernels::dot_blocks b = weft::kernels::blocks_of(of.rows, of.columns, of.depth);
  return b.rows == into.rows && b.columns == into.columns && b.depth == into.depth;
}
static_assert(is_cut({128, 1536, 384}, {128, 192, 384}));
static_assert(is_cut({512, 768, 768}, {128, 192, 768}));
static_assert(is_cut({512, 3072, 768}, {128, 192, 768}));
static_assert(is_cut({1024, 1024, 1024}, {128, 192, 1024}));
static_assert(is_cut({16, 32, 32}, {16, 32, 32}));  // one block: no tile is too wide for it
static_assert(is_cut({1, 3072, 768}, {1, 192, 768}));
static_assert(is_cut({300, 400, 1200}, {104, 144, 608}));

// Blocks fit the caches that they are sized for and are multiples of the microkernel's tile.
constexpr bool fits(std::size_t first_cache, std::size_t second_cache) {
  using namespace weft::kernels;
  const dot_blocks b = blocks_for(first_cache, second_cache);
  return b.depth * max_tile_rows * sizeof(float) <= first_cache &&
         b.depth * b.columns * sizeof(float) <= second_cache / 4 * 3 &&
         b.rows % max_tile_rows == 0 && b.columns % max_tile_columns == 0 &&
         b.depth % max_dot_lanes == 0 && b.rows > 0 && b.columns > 0 && b.depth > 0;
}
static_assert(fits(32 * 1024, 256 * 1024) && fits(32 * 1024, 512 * 1024));
static_assert(fits(32 * 1024, 1024 * 1024) && fits(48 * 1024, 2048 * 1024));

}  // namespace

BOOST_AUTO_TEST_SUITE(dot_blocking)

// Scratch is allocated for the largest extents; a run may have smaller ones.
BOOST_AUTO_TEST_CASE(the_scratch_of_a_product_does_not_shrink_when_an_extent_grows) {
  std::size_t before = 0;
  for (std::ptrdiff_t n = 0; n < 3000; n += 7) {
    const extents e{{'m', n}, {'n', 20}, {'k', 300}};
    const std::size_t bytes = weft::kernels::dot_scratch_bytes(call_of({"mn", "mk", "kn", e}));
    BOOST_TEST(bytes >= before);
    before = bytes;
  }
}

// The depth is two loops, which are one in the lhs of the first product.
BOOST_AUTO_TEST_CASE(a_packed_product_whose_rows_are_contiguous_has_room_for_tiles_alone) {
  using weft::precision;
  for (const char* lhs : {"mjk", "jmk"}) {
    std::size_t before[2]{};
    for (std::ptrdiff_t m = 2; m < 200; m += 3) {
      const extents e{{'m', m}, {'n', 200}, {'j', 3}, {'k', 129}};
      const auto c = call_of({"mn", lhs, "nkj", e});
      for (const auto as : {precision::float32, precision::bfloat16}) {
        const std::size_t bytes = weft::kernels::packed_dot_scratch_bytes(c).in(as);
        BOOST_TEST((bytes <= weft::kernels::dot_scratch_bytes(c)));
        BOOST_TEST((bytes < 5000) == (as == precision::float32 && lhs[0] == 'm'));
        BOOST_TEST(bytes >= before[as != precision::float32]);
        before[as != precision::float32] = bytes;
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_scratch_size_of_a_product_is_a_constant_expression) {
  constexpr std::size_t bytes = [] {
    owning_call<> c;
    c.kind = weft::op::dot;
    c.loops = 3;
    c.extent[0] = 64, c.extent[1] = 32, c.extent[2] = 16;
    c.operands[0].stride[0] = 32, c.operands[0].stride[1] = 1;
    c.operands[1].stride[0] = 16, c.operands[1].stride[2] = 1;
    c.operands[2].stride[2] = 32, c.operands[2].stride[1] = 1;
    return weft::kernels::dot_scratch_bytes(c);
  }();
  BOOST_TEST(bytes < 32u * 1024);
}

BOOST_AUTO_TEST_SUITE_END()
