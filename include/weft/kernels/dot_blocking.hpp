// How a contraction is cut into blocks, and the scratch that the blocks need.
//
// The result is rows x columns, each entry a sum over a depth. As in BLIS, a block of the left
// operand (rows x depth) and a panel of the right one (depth x columns) are packed, and tiles of
// the result are computed from them in registers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "weft/kernels/call.hpp"

namespace weft::kernels {

// The largest tile of any SIMD target: 8 rows x 3 vectors of 16 lanes.
inline constexpr std::size_t max_dot_lanes = 16;
inline constexpr std::size_t max_tile_rows = 8;
inline constexpr std::size_t max_tile_columns = 3 * max_dot_lanes;

// Blocks at most this large. A panel of the right operand (768 KiB) stays in a second level of
// cache of 1 MiB while the rows of the left one pass by; a strip of those (8 rows x depth, 16 KiB)
// stays in the first level. The deeper, the less often the result is read and written again. Rows
// and columns are whole numbers of tiles on every target.
inline constexpr std::size_t max_block_rows = 256;
inline constexpr std::size_t max_block_columns = 384;
inline constexpr std::size_t max_block_depth = 512;

constexpr std::size_t round_up(std::size_t n, std::size_t unit) {
  return (n + unit - 1) / unit * unit;
}

// The size of the blocks that an extent is cut into: as few as the limit allows, about equally
// large, and each but the last a multiple of `unit`, which divides the limit.
constexpr std::size_t block_size(std::size_t extent, std::size_t limit, std::size_t unit) {
  const std::size_t blocks = (extent + limit - 1) / limit;
  return blocks <= 1 ? extent : round_up((extent + blocks - 1) / blocks, unit);
}

// Where things lie in the scratch, in bytes, for blocks of rows x columns x depth. Everything is
// aligned to 64 bytes.
struct dot_scratch {
  std::size_t row_offsets;     // of a block's rows: in the left operand, the result, the addends
  std::size_t column_offsets;  // of a panel's columns: in the right operand, the result, …
  std::size_t depth_offsets;   // of its depth in the left operand, then in the right one
  std::size_t left;            // the packed block
  std::size_t right;           // the packed panel
  std::size_t tile;            // a tile that cannot be written to the result as it is
  std::size_t addends;         // a tile of each addend, where it cannot be read as it is
  std::size_t bytes;

  constexpr dot_scratch(std::size_t rows, std::size_t columns, std::size_t depth)
      : row_offsets(0),
        column_offsets(row_offsets + round_up(4 * rows * sizeof(std::ptrdiff_t), 64)),
        depth_offsets(column_offsets + round_up(4 * columns * sizeof(std::ptrdiff_t), 64)),
        left(depth_offsets + round_up(2 * depth * sizeof(std::ptrdiff_t), 64)),
        right(left + round_up(round_up(rows, max_tile_rows) * depth * sizeof(float), 64)),
        tile(right + round_up(round_up(columns, max_dot_lanes) * depth * sizeof(float), 64)),
        addends(tile + max_tile_rows * max_tile_columns * sizeof(float)),
        bytes(addends + 2 * max_tile_rows * max_tile_columns * sizeof(float)) {}
};

// The operand, 1 or 2, that gives the columns. Vectors run along these, so they are the ones that
// are closer in the result.
constexpr int columns_operand(const call& c) {
  std::ptrdiff_t least[]{PTRDIFF_MAX, PTRDIFF_MAX};  // of the axes of operands 1 and 2 alone
  for (int i = 0; i < c.loops; ++i) {
    const std::ptrdiff_t stride = c.operands[0].stride[i];
    if (c.extent[i] == 1 || stride == 0) continue;
    if (c.operands[2].stride[i] == 0)
      least[0] = std::min(least[0], stride);
    else if (c.operands[1].stride[i] == 0)
      least[1] = std::min(least[1], stride);
  }
  return least[0] < least[1] ? 1 : 2;
}

// The bytes of scratch of a dot. Which operand gives the rows may be another one for smaller
// extents, so there is enough for both.
constexpr std::size_t dot_scratch_bytes(const call& c) {
  std::size_t left = 1, right = 1, depth = 1;
  for (int i = 0; i < c.loops; ++i) {
    const auto extent = static_cast<std::size_t>(c.extent[i]);
    const bool in_result = c.operands[0].stride[i] != 0;
    const bool in_left = c.operands[1].stride[i] != 0, in_right = c.operands[2].stride[i] != 0;
    if (!in_result)
      depth *= extent;
    else if (!in_right)
      left *= extent;
    else if (!in_left)
      right *= extent;
  }
  depth = std::min(depth, max_block_depth);
  const auto bytes = [depth](std::size_t rows, std::size_t columns) {
    return dot_scratch(std::min(rows, max_block_rows), std::min(columns, max_block_columns), depth)
        .bytes;
  };
  return std::max(bytes(left, right), bytes(right, left));
}

// Whether the operand that gives the columns can be packed once for all runs: not where it shares
// an axis with both the other operand and the result, and so is many matrices.
constexpr bool can_be_packed(const call& c) {
  for (int i = 0; i < c.loops; ++i) {
    if (c.extent[i] != 1 && c.operands[0].stride[i] != 0 && c.operands[1].stride[i] != 0 &&
        c.operands[2].stride[i] != 0)
      return false;
  }
  return true;
}

// The bytes of that operand packed, on every target. Pairs of the depth are kept together in some
// of them, so it is even.
constexpr std::size_t packed_bytes(const call& c, precision as) {
  const int operand = columns_operand(c);
  std::size_t columns = 1, depth = 1;
  for (int i = 0; i < c.loops; ++i) {
    if (c.operands[operand].stride[i] == 0) continue;
    (c.operands[0].stride[i] == 0 ? depth : columns) *= static_cast<std::size_t>(c.extent[i]);
  }
  return round_up(round_up(columns, max_dot_lanes) * round_up(depth, 2) * bytes_of(as), 64);
}

}  // namespace weft::kernels
