// The plan of a contraction: which operands are packed, how large the blocks are, and what stays in
// which cache.
#if defined(WEFT_KERNELS_DOT_METHOD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_DOT_METHOD_INL_H_
#undef WEFT_KERNELS_DOT_METHOD_INL_H_
#else
#define WEFT_KERNELS_DOT_METHOD_INL_H_
#endif

#include <algorithm>
#include <cstddef>

#include "kernels/dot_lines-inl.h"
#include "kernels/dot_loops.hpp"
#include "kernels/dot_tile-inl.h"
#include "weft/kernels/dot_blocking.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// From this depth stride on (a page of 4 KiB), packing a left operand with unit stride along its
// rows measured a quarter faster than prefetching its lines.
constexpr std::ptrdiff_t lines_apart = 4096 / sizeof(float);

struct dot_method {
  // For a contraction of these extents. The scratch has room for blocks of size `room`.
  HWY_INLINE dot_method(const contraction& x, const call& c, std::size_t rows, std::size_t columns,
                        std::size_t depth)
      : room(blocks_of(rows, columns, depth)), block(room), pass_rows(rows) {
    const std::ptrdiff_t left_step = x.depth.inner().stride.left;
    const std::ptrdiff_t right_step = x.depth.inner().stride.right;
    const place_in_operands& column = x.columns.inner().stride;
    const bool packed = c.packed != nullptr;
    const bool few = rows <= few_rows;
    // The left operand is read in place where packing would not pay: if it is contiguous along the
    // depth, as a tile reads it; if a single vector of columns does too few products with each
    // element; and if it has unit stride along its rows and either lies as a packed one would or
    // can be prefetched in time, which needs tiles that prefetch nothing else and lines that share
    // pages.
    const bool side_by_side = x.rows.is_single() && x.rows.inner().stride.left == 1;
    const bool as_packed = side_by_side && left_step <= static_cast<std::ptrdiff_t>(tile_rows);
    const bool can_be_fetched = side_by_side && !packed && left_step < lines_apart;
    left_in_place = x.depth.is_single() &&
                    (left_step == 1 || columns <= hn::Lanes(tag()) || as_packed || can_be_fetched);
    // The right operand is read in place if it is contiguous along the columns and either few tiles
    // would share the packed panel or L1 holds it as it is.
    const std::size_t right_bytes = depth * static_cast<std::size_t>(right_step) * sizeof(float);
    right_in_place = !packed && x.depth.is_single() && column.right == 1 &&
                     (rows <= 2 * tile_rows || right_bytes <= first_cache_bytes);
    const bool lines = !packed && x.depth.is_single() && few;
    // With few rows, transposing the right operand would cost more than the products, and its lines
    // are better read from end to end. A left operand that is strided along the depth is copied to
    // the room for packed operands.
    const dot_scratch at(room.rows, room.columns, room.depth);
    along_depth = lines && right_step == 1 &&
                  (left_step == 1 || rows * depth <= (at.tile - at.left) / sizeof(float));
    if (along_depth) left_in_place = left_step == 1;
    along_columns = lines && x.columns.is_single() && column.right == 1 && column.result == 1;
    // Lines are not packed, so the room for a panel does not limit the columns.
    if (along_columns) block.columns = block_size(columns, line_columns, max_tile_columns);
    // Rows with unit stride share cache lines, which at half of the depth stay for the next strip.
    if (left_in_place && left_step != 1 && can_be_fetched)
      block.depth = block_size(depth, max_blocks.depth / 2, max_dot_lanes);
    pairs = c.packed_as == precision::bfloat16_products && has_bfloat16_dot;
    widens = packed && c.packed_as != precision::float32 && !pairs && !few;
    if (packed && pairs) {
      left_in_place = left_in_place && left_step == 1;
      // A pair is as large as a float, so blocks may be twice as deep, unless the left operand is
      // packed as floats first.
      if (left_in_place) block.depth = block_size(depth, 2 * max_blocks.depth, 2 * max_dot_lanes);
    } else if (packed && left_in_place && few) {
      block.depth = depth;
    } else if (packed && left_in_place && !widens) {
      // Nothing is packed or widened for a panel, so it may be as narrow as a tile. Packed weights
      // are then read in memory order, and the partial sums of a deep product are reused sooner. A
      // block of rows stays in L2 while all of the weights stream past it, and tiles prefetch the
      // next ones in time: that takes 3 to 6 % less time than streaming the left operand past each
      // panel.
      block.columns = std::min(block.columns, max_tile_columns);
      pass_rows = block.rows;
    }
    // A micro-panel of the right operand that fills L1 stays there while all rows are multiplied
    // with it, since it is wider than one of the left operand. Where two fit, computing the row
    // pointers for each takes as long as that saves.
    constexpr std::size_t cache_floats = first_cache_bytes / sizeof(float);
    const std::size_t tile_columns = tile_vectors * hn::Lanes(tag());
    const bool row_after_row = block.columns > tile_columns &&
                               (tile_columns + tile_rows) * block.depth <= cache_floats &&
                               (2 * tile_columns + tile_rows) * block.depth > cache_floats;
    near_columns = row_after_row ? tile_columns : block.columns;
  }

  bool by_lines() const { return along_depth || along_columns; }

  dot_blocks room, block;
  std::size_t pass_rows;     // the rows that are multiplied with all panels before the next ones
  std::size_t near_columns;  // the columns of a panel that are multiplied with all rows first
  bool left_in_place, right_in_place;
  bool along_depth, along_columns;  // few rows: the right operand is read line by line
  bool pairs;   // the right operand is packed, or to be packed, in pairs of bfloat16
  bool widens;  // its panels, packed in bfloat16, become floats before the products
};

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
