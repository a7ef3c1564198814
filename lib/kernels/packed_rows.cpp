// Rows of a table that exists only as the packed rhs of a contraction.
#include "kernels/dot_loops.hpp"
#include "kernels/kernel_table.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/packed_rows.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels/n_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {
namespace {

// The packed rhs of a contraction with `depth` rows: a tile of columns after the other, each over
// the full depth, as gemm::pack_for_reuse writes it.
struct packed_columns {
  const std::byte* data;
  precision as;
  std::ptrdiff_t depth;
};

// Copies column `column` of the rhs, converted to float.
void copy_column(const packed_columns& from, const n_tile& t, std::size_t column, float* to,
                 std::ptrdiff_t to_step) {
  const auto width = static_cast<std::ptrdiff_t>(t.width());
  const auto first = static_cast<std::ptrdiff_t>(t.first);
  const std::ptrdiff_t lane = static_cast<std::ptrdiff_t>(column) - first;
  if (from.as == precision::float32) {
    const float* at = reinterpret_cast<const float*>(from.data) + first * from.depth + lane;
    for (std::ptrdiff_t k = 0; k < from.depth; ++k) to[k * to_step] = at[k * width];
    return;
  }
  const auto widened = [](bf16 bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); };
  if (from.as == precision::bfloat16_products && has_bfloat16_dot) {
    const std::ptrdiff_t pairs = (from.depth + 1) / 2;
    const auto* const at = reinterpret_cast<const bf16_pair*>(from.data) + first * pairs + lane;
    for (std::ptrdiff_t k = 0; k < from.depth; ++k) {
      const bf16_pair pair = at[k / 2 * width];
      to[k * to_step] = widened(k % 2 == 0 ? pair.first : pair.second);
    }
    return;
  }
  const auto* const at = reinterpret_cast<const bf16*>(from.data) + first * from.depth + lane;
  for (std::ptrdiff_t k = 0; k < from.depth; ++k) to[k * to_step] = widened(at[k * width]);
}

// The tile that has a column. Tiles end at multiples of the widest one, but for the last columns.
n_tile tile_of(const n_tiles& tiles, std::size_t column) {
  const std::size_t widest = tile_vectors * hn::Lanes(tag());
  const std::size_t begin = column / widest;
  n_tile t = tiles.tile_at(begin > 0 ? (begin - 1) * widest : 0);
  while (t.end() <= column) t = tiles.tile_at(t.end());
  return t;
}

void gather_packed(const call& c, const call& dot) noexcept {
  const contraction x(dot);
  const n_tiles tiles(x.columns, true);
  const packed_columns from{c.packed, c.packed_as, x.depth.size()};
  // The loop along the table's rows; the others find the rows.
  int along = 0;
  std::ptrdiff_t count = 1;
  for (int l = 0; l < c.loops; ++l) {
    if (c.operands[1].stride[l] != 0)
      along = l;
    else
      count *= c.extent[l];
  }
  auto* const result = static_cast<float*>(c.operands[0].data);
  const auto* const indices = static_cast<const std::int32_t*>(c.operands[2].data);
  const std::ptrdiff_t step = c.operands[0].stride[along];
  const auto [begin, end] = range_of(count, c.part);
  for (std::ptrdiff_t i = begin; i < end; ++i) {
    std::ptrdiff_t to = 0, index = 0, left = i;
    for (int l = c.loops - 1; l >= 0; --l) {
      if (l == along) continue;
      const std::ptrdiff_t here = left % c.extent[l];
      left /= c.extent[l];
      to += here * c.operands[0].stride[l];
      index += here * c.operands[2].stride[l];
    }
    const std::ptrdiff_t row = indices[index];
    if (row < 0 || row >= c.axis_extent) {
      for (std::ptrdiff_t k = 0; k < from.depth; ++k) result[to + k * step] = 0;
      continue;
    }
    const auto column = static_cast<std::size_t>(row);
    copy_column(from, tile_of(tiles, column), column, result + to, step);
  }
}

}  // namespace

void (*gather_packed_of_target())(const call&, const call&) noexcept {
  return &gather_packed;
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::kernels {

HWY_EXPORT(gather_packed_of_target);

void (*gather_packed_kernel() noexcept)(const call&, const call&) noexcept {
  return HWY_DYNAMIC_DISPATCH(gather_packed_of_target)();
}

}  // namespace weft::kernels
#endif
