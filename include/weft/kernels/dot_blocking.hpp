// Blocking of a contraction, and the scratch that the blocks need.
//
// The result is rows x columns (m x n), each element a sum over the depth (k). As in BLIS, a block
// of the lhs (rows x depth) and a panel of the rhs (depth x columns) are packed, and a microkernel
// computes register tiles of the result from them.
#pragma once
#include "weft/header_begin.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "weft/kernels/call.hpp"

namespace weft::kernels {

// A register tile of the result: rows, and vectors of columns.
struct dot_tile {
  std::size_t rows, vectors;
};

// The register tile for a number of vector registers, which hold its accumulators, the vectors of
// the rhs and one broadcast element of the lhs. Of such tiles, it is the one with the most products
// per step of the depth, and of those the one with the fewest columns, which narrow results waste
// less of. The rows are a power of two, as lanes are: packing moves micro-panels of the lhs as
// vectors.
constexpr dot_tile tile_for(std::size_t registers) {
  dot_tile best{1, 1};
  for (std::size_t rows = 1; rows < registers; rows *= 2) {
    const std::size_t vectors = (registers - 1) / (rows + 1);
    if (vectors > 0 && rows * vectors >= best.rows * best.vectors) best = {rows, vectors};
  }
  return best;
}

// The largest tile of any SIMD target: that of 32 registers of 16 lanes.
inline constexpr std::size_t max_dot_lanes = 16;
inline constexpr std::size_t max_tile_rows = tile_for(32).rows;
inline constexpr std::size_t max_tile_columns = tile_for(32).vectors * max_dot_lanes;

// The L1 and L2 cache sizes per core that blocks are sized for. Few cores with wide vectors have
// less: AMD's have had 32 or 48 KiB and 512 KiB to 1 MiB since Zen 2, Intel's servers 48 KiB and
// 1.25 to 2 MiB since Ice Lake, Arm's Neoverse 64 KiB and 1 to 2 MiB (their vendors' optimization
// guides).
inline constexpr std::size_t l1_cache_bytes = 32 * 1024;
inline constexpr std::size_t l2_cache_bytes = 1024 * 1024;

template <std::integral T>
constexpr T round_up(T n, std::type_identity_t<T> unit) {
  return (n + unit - 1) / unit * unit;
}

// The block size of an extent: as few blocks as the limit allows, about equally large, each but the
// last a multiple of `unit`, which divides the limit.
constexpr std::size_t block_size(std::size_t extent, std::size_t limit, std::size_t unit) {
  const std::size_t blocks = (extent + limit - 1) / limit;
  return blocks <= 1 ? extent : round_up((extent + blocks - 1) / blocks, unit);
}

// The maximum sizes of a contraction's blocks (mc, nc and kc in BLIS), for every target.
struct dot_blocks {
  std::size_t rows, columns, depth;
};

// A micro-panel of the lhs, a tile's rows, stays in L1 while the panel streams by; what does not
// fit is reloaded from L2. (In shallow products, a micro-panel of the rhs stays while the rows
// stream by.) The larger the depth, the less often the result is loaded and stored again: with a
// depth that fills L1, products of 512 x 768 and 1024 x 1024 took 2 to 3 % less time than with half
// of it. A panel of the rhs takes three quarters of L2, where it stays while the rows of the lhs
// stream by; these are packed in blocks of half the size of L2. Rows and columns are multiples of
// the tile's.
constexpr dot_blocks blocks_for(std::size_t l1_cache, std::size_t l2_cache) {
  const auto round_down = [](std::size_t n, std::size_t unit) { return n / unit * unit; };
  dot_blocks most{};
  most.depth = round_down(l1_cache / (max_tile_rows * sizeof(float)), max_dot_lanes);
  const std::size_t line = most.depth * sizeof(float);
  most.columns = round_down(l2_cache / 4 * 3 / line, max_tile_columns);
  most.rows = round_down(l2_cache / 2 / line, max_tile_rows);
  return most;
}
inline constexpr dot_blocks max_blocks = blocks_for(l1_cache_bytes, l2_cache_bytes);

// The block sizes of a contraction with these extents: see block_size.
constexpr dot_blocks blocks_of(std::size_t rows, std::size_t columns, std::size_t depth,
                               std::size_t depth_unit = max_dot_lanes) {
  return {block_size(rows, max_blocks.rows, max_tile_rows),
          block_size(columns, max_blocks.columns, max_tile_columns),
          block_size(depth, max_blocks.depth, depth_unit)};
}

// Up to this many rows (skinny m), reading the rhs takes longer than multiplying with it. It is
// read once, from end to end, and bfloat16 is widened in registers; for more rows, panel by panel.
inline constexpr std::size_t max_skinny_m = 4;
// The columns of one pass over such lines, whose results stay in L1.
inline constexpr std::size_t gemv_pass_columns =
    l1_cache_bytes / 2 / (max_skinny_m * sizeof(float)) / max_tile_columns * max_tile_columns;

// The depth over which sums are accumulated in float, in a chain for each element: of lines, which
// are added one after another, and of blocks. A longer depth is cut into parts of this size, whose
// sums are added in double, so that the error does not grow with the depth.
inline constexpr std::size_t max_chain_of_lines = 512;
inline constexpr std::size_t max_chain_of_blocks = 64 * max_blocks.depth;

// The most additions in float that follow each other in such a sum: within a block, of blocks, and
// of a vector's lanes.
constexpr std::size_t longest_chain(std::size_t depth) {
  return std::min(depth, max_blocks.depth + max_chain_of_blocks / max_blocks.depth + max_dot_lanes);
}

// The depth over which rows are rounded to int8 at a time. A tile's rows, and one that is copied
// first, fit the room for packed operands: see dot_scratch.
inline constexpr std::size_t max_int8_depth = 4096;
// The same where a few rows are rounded to 23 bits: each of their blocks, 32 of the depth, adds to
// a sum once.
inline constexpr std::size_t max_fixed_depth = 32 * max_blocks.depth;

// How many such sums are in the scratch: of all rows and a panel of columns.
constexpr std::size_t dot_totals(std::size_t rows, std::size_t columns, std::size_t depth) {
  if (depth <= max_chain_of_lines) return 0;
  if (depth <= max_chain_of_blocks) rows = std::min(rows, max_skinny_m);
  return rows * std::min(columns, std::max(gemv_pass_columns, max_blocks.columns));
}

// Which offsets are in tables: those of more than one loop.
struct dot_tables {
  bool rows, columns, depth;
};

// Scratch layout: offsets in bytes, each aligned to 64, for blocks of at most this size. What not
// every contraction needs is last.
struct dot_scratch {
  std::size_t rows;            // of a block
  std::size_t row_offsets;     // of a block's rows: in the lhs, the result, the addends
  std::size_t column_offsets;  // of a panel's columns: in the rhs, the result, …
  std::size_t depth_offsets;   // of the depth, in the lhs, then in the rhs
  std::size_t tile;            // a tile that cannot be stored to the result directly
  std::size_t addends;         // a tile of each addend that cannot be loaded directly
  std::size_t totals;          // see dot_totals
  std::size_t lhs;             // the packed block
  std::size_t rhs;             // the packed panel
  std::size_t bytes;

  constexpr dot_scratch(const dot_blocks& most, std::size_t number_of_totals, dot_tables in)
      : rows(most.rows),
        row_offsets(0),
        column_offsets(row_offsets + table(in.rows, 4 * most.rows)),
        depth_offsets(column_offsets + table(in.columns, 4 * most.columns)),
        tile(depth_offsets + table(in.depth, 2 * most.depth)),
        addends(tile + max_tile_rows * max_tile_columns * sizeof(float)),
        totals(addends + 2 * max_tile_rows * max_tile_columns * sizeof(float)),
        lhs(totals + round_up(number_of_totals * sizeof(double), 64)),
        rhs(lhs + round_up(round_up(most.rows, max_tile_rows) * most.depth * sizeof(float), 64)),
        bytes(rhs +
              round_up(round_up(most.columns, max_dot_lanes) * most.depth * sizeof(float), 64)) {}

 private:
  static constexpr std::size_t table(bool is_there, std::size_t offsets) {
    return is_there ? round_up(offsets * sizeof(std::ptrdiff_t), 64) : 0;
  }
};

// The operand, 1 or 2, that gives the columns (n). Vectors run along the columns, so it is the one
// whose axes have the smallest stride in the result.
constexpr int rhs_operand(const call& c) {
  std::ptrdiff_t least[]{PTRDIFF_MAX, PTRDIFF_MAX};  // of axes in operand 1 only, and in 2 only
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

// Whether an lhs is contiguous along the depth, whose loops are in the order of the sum of their
// strides: where the rhs is packed, such lines are read in place.
constexpr bool has_contiguous_depth(const call& c, int lhs) {
  const auto along = [&](int l) { return c.operands[0].stride[l] == 0 && c.extent[l] != 1; };
  int left = 0;
  for (int l = 0; l < c.loops; ++l) left += along(l) ? 1 : 0;
  std::ptrdiff_t next = left > 0 ? 1 : 0, before = PTRDIFF_MIN;
  for (; left > 0; --left) {
    int l = 0;
    while (l < c.loops && !(along(l) && c.operands[lhs].stride[l] == next)) ++l;
    if (l == c.loops) return false;
    const std::ptrdiff_t key = next + c.operands[3 - lhs].stride[l];
    if (key <= before) return false;
    before = key, next *= c.extent[l];
  }
  return next > 0;
}

// The scratch of a dot whose columns are those of operand `rhs`. If `one_depth`, all of the depth
// is like one loop.
constexpr dot_scratch dot_scratch_of(const call& c, int rhs, bool one_depth = false) {
  enum { rows, columns, depth, batch };
  std::size_t points[]{1, 1, 1, 1};
  int loops[]{0, 0, 0, 0};
  for (int l = 0; l < c.loops; ++l) {
    if (c.extent[l] == 1) continue;
    const int which = c.operands[0].stride[l] == 0         ? depth
                      : c.operands[rhs].stride[l] == 0     ? rows
                      : c.operands[3 - rhs].stride[l] == 0 ? columns
                                                           : batch;
    points[which] *= static_cast<std::size_t>(c.extent[l]);
    ++loops[which];
  }
  return {{std::min(points[rows], max_blocks.rows), std::min(points[columns], max_blocks.columns),
           std::min(points[depth], max_blocks.depth)},
          dot_totals(points[rows], points[columns], points[depth]),
          {loops[rows] > 1, loops[columns] > 1, loops[depth] > 1 && !one_depth}};
}

// The bytes of scratch of a dot. Smaller extents may swap the operands that give rows and columns,
// so it is enough for both.
constexpr std::size_t dot_scratch_bytes(const call& c) {
  return std::max(dot_scratch_of(c, 1).bytes, dot_scratch_of(c, 2).bytes);
}

// The same where the rhs is packed: in float32 no panel of it is, and in another precision it
// becomes floats panel by panel; not so bfloat16 for few rows, which may be rounded.
struct packed_dot_scratch {
  std::size_t in_float32, in_bfloat16, in_others;
  constexpr std::size_t in(precision as) const {
    if (as == precision::float32) return in_float32;
    return as <= precision::bfloat16_products ? in_bfloat16 : in_others;
  }
};
constexpr packed_dot_scratch packed_dot_scratch_bytes(const call& c) {
  const int rhs = rhs_operand(c);
  const bool in_place = has_contiguous_depth(c, 3 - rhs);
  const dot_scratch all = dot_scratch_of(c, rhs, in_place);
  const bool skinny = in_place && all.rows <= max_skinny_m;
  return {in_place ? all.lhs : all.rhs, skinny ? all.rhs : all.bytes, all.bytes};
}

// Whether the operand that gives the columns can be packed once for all runs: not if it has batch
// axes, shared with the other operand and the result, and so is many matrices.
constexpr bool can_be_packed(const call& c) {
  for (int i = 0; i < c.loops; ++i) {
    if (c.extent[i] != 1 && c.operands[0].stride[i] != 0 && c.operands[1].stride[i] != 0 &&
        c.operands[2].stride[i] != 0)
      return false;
  }
  return true;
}

// What that operand takes packed, on every target.
constexpr packed_extent packed_extent_of(const call& c) {
  const int operand = rhs_operand(c);
  std::size_t columns = 1, depth = 1;
  for (int i = 0; i < c.loops; ++i) {
    if (c.operands[operand].stride[i] == 0) continue;
    (c.operands[0].stride[i] == 0 ? depth : columns) *= static_cast<std::size_t>(c.extent[i]);
  }
  const packed_extent line = line_of_packed(depth);
  columns = round_up(columns, max_dot_lanes);
  return {columns * line.floats, columns * line.blocks, 0};
}
constexpr std::size_t packed_bytes(const call& c, precision as) {
  return round_up(packed_size(packed_extent_of(c), as), 64);
}

}  // namespace weft::kernels
#include "weft/header_end.hpp"
