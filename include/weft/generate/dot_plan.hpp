// How a small contraction is computed: which operand gives the rows, which one the columns, and in
// what tiles.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

#include "weft/generate/nest.hpp"
#include "weft/generate/signature.hpp"
#include "weft/kernels/dot_blocking.hpp"

namespace weft::generate {

// A copy of a contraction's right operand: its columns are adjacent, and rows have room for whole
// vectors on every target.
struct right_copy {
  nest blocks;  // of depth x columns; strides of the copy, then of the operand
  std::ptrdiff_t depth = 1, columns = 1;
  std::ptrdiff_t depth_stride = 0, column_stride = 0;  // of the operand
  std::ptrdiff_t row = 1;                              // of the copy
};

// Row r and column c of the result are the sum over k of left[r, k] * right[k, c].
struct dot_plan {
  bool possible = false;
  int left = 1, right = 2;     // which operands these are
  loop rows, columns, depth;   // columns have stride 1 in the result
  nest outer;                  // everything else
  bool right_in_place = true;  // the columns are adjacent in the right operand, too
  right_copy copy;             // of all the right operand
  nest outer_of_copy;          // as `outer`, with the copy in its place
  bool copied_once = false;    // else a block at a time, where it is needed
  bool copy_pays = true;       // in the run; one made before it always does
};

// The work that is small. Beyond, the general kernel's preparations no longer count, and what it
// prepares is worth it; an L1 cache has room for these.
inline constexpr std::ptrdiff_t max_operand_elements = 8192;
inline constexpr std::ptrdiff_t max_panel_elements = 4096;  // of the right operand

namespace detail {

// Rows of this many elements are whole vectors on every target: see lanes_for.
constexpr std::ptrdiff_t padded(std::ptrdiff_t columns) {
  auto const n = static_cast<std::size_t>(columns);
  return static_cast<std::ptrdiff_t>(
      kernels::round_up(n, std::clamp<std::size_t>(std::bit_ceil(n), 4, kernels::max_dot_lanes)));
}

// Needs all loops of the plan.
constexpr void plan_copy(dot_plan& p) {
  p.copy.depth = p.depth.extent;
  p.copy.columns = p.columns.extent;
  p.copy.depth_stride = p.depth.stride.at[p.right];
  p.copy.column_stride = p.columns.stride.at[p.right];
  p.copy.row = padded(p.columns.extent);
  p.outer_of_copy = p.outer;
  std::ptrdiff_t blocks = 1;
  bool one_matrix = true;
  for (int l = p.outer.loops - 1; l >= 0; --l) {
    loop const& of = p.outer.at[l];
    if (of.stride.at[p.right] == 0) continue;
    one_matrix = one_matrix && of.stride.at[p.left] == 0;
    std::ptrdiff_t const stride = blocks * p.copy.depth * p.copy.row;
    p.outer_of_copy.at[l].stride.at[p.right] = stride;
    p.copy.blocks.push({of.extent, {{stride, of.stride.at[p.right]}}});
    blocks *= of.extent;
  }
  // Where there is room for it: the scratch and the packed parameters are the table kernels'.
  auto const columns = static_cast<std::size_t>(blocks * p.columns.extent);
  auto const depth = static_cast<std::size_t>(p.depth.extent);
  p.copied_once = one_matrix &&
                  static_cast<std::size_t>(blocks * p.copy.row) <=
                      kernels::round_up(columns, kernels::max_dot_lanes) &&
                  columns <= kernels::max_blocks.columns && depth <= kernels::max_blocks.depth;
}

constexpr dot_plan plan_with(const signature& s, int left, int right) {
  dot_plan p;
  p.left = left;
  p.right = right;
  nest rows, columns, depth;
  for (int l = 0; l < s.loops; ++l) {
    (s.stride[0][l] == 0       ? depth
     : s.stride[right][l] == 0 ? rows
     : s.stride[left][l] == 0  ? columns
                               : p.outer)
        .push(loop_of(s, l));
  }
  rows.arrange(0);
  columns.arrange(0);
  depth.arrange(left);
  if (columns.loops == 0 || columns.at[columns.loops - 1].stride.at[0] != 1) return p;
  if (depth.loops > 1 || p.outer.loops + rows.loops + columns.loops > max_loops) return p;
  if (depth.loops == 1) p.depth = depth.take(0);
  p.columns = columns.take(columns.loops - 1);
  if (rows.loops > 0) {
    int longest = rows.loops - 1;
    for (int i = 0; i < rows.loops; ++i)
      if (rows.at[i].extent > rows.at[longest].extent) longest = i;
    p.rows = rows.take(longest);
  }
  for (int i = 0; i < rows.loops; ++i) p.outer.push(rows.at[i]);
  for (int i = 0; i < columns.loops; ++i) p.outer.push(columns.at[i]);
  p.outer.arrange(0);
  p.right_in_place = p.columns.stride.at[right] == 1;
  plan_copy(p);
  // Addends are read as vectors or broadcast.
  for (int o = 3; o < s.operands; ++o)
    if (p.columns.stride.at[o] != 0 && p.columns.stride.at[o] != 1) return p;
  p.copy_pays = p.right_in_place || p.rows.extent >= 4;
  p.possible = true;
  return p;
}

constexpr bool is_small(const signature& s) {
  for (int o = 0; o < s.operands; ++o) {
    std::ptrdiff_t n = 1;
    for (int l = 0; l < s.loops; ++l)
      if (s.stride[o][l] != 0) n *= s.extent[l];
    if (n > max_operand_elements) return false;
  }
  return s.points() > 0;
}

}  // namespace detail

constexpr dot_plan plan_of_dot(const signature& s) {
  if (s.run != kernel::dot || !detail::is_small(s)) return {};
  dot_plan const p = detail::plan_with(s, 1, 2);
  dot_plan const q = detail::plan_with(s, 2, 1);
  dot_plan const& best = p.possible && (p.right_in_place || !q.possible) ? p : q;
  return best.depth.extent * best.columns.extent <= max_panel_elements ? best : dot_plan{};
}

// The sums of a tile, rows x vectors, stay in registers; so do a vector of each column of the right
// operand and an element of the left one.
struct tile_size {
  int rows, vectors;
};

// The rows of a tile whose elements are read four at a time and spread in registers. Two loads
// begin in each cycle, as many as multiplications: a tile of one vector, which reads an element for
// each of these and the vector, would wait for its loads. `narrow` is a result of one vector, where
// the elements are adjacent.
constexpr int rows_by_fours(int rows, bool narrow) {
  return narrow ? std::clamp(rows / 2, 1, 2) : 0;
}

// The chains of sums that a tile is split into along the depth. A multiplication and addition takes
// four cycles, and two begin in each: eight sums would do if none ever had to wait for an operand.
constexpr int chains_of(int rows, int vectors, bool narrow, int registers) {
  int const sums = rows * vectors, others = vectors + rows_by_fours(rows, narrow) + 1;
  int chains = 1;
  while (chains < 4 && chains * sums <= 8 && 2 * chains * sums + others <= registers) chains *= 2;
  return chains;
}

// About the half cycles that a tile takes: two multiplications or two loads begin in each, four
// cycles are the least for a step of a chain; and what is before and after.
constexpr long tile_cost(int rows, int vectors, std::ptrdiff_t depth, bool narrow, int registers) {
  int const sums = rows * vectors, chains = chains_of(rows, vectors, narrow, registers);
  auto const steps = static_cast<long>(depth);
  long const loads = steps * (rows + vectors) - steps / 4 * 3 * rows_by_fours(rows, narrow);
  return std::max({steps * sums, loads, (steps + chains - 1) / chains * 8}) + 24 + sums * 2;
}

// n things in as few equal parts as a limit allows: `large` parts of size + 1, the rest of size.
struct equal_parts {
  int count, size, large;
  constexpr equal_parts(int n, int limit)
      : count((n + limit - 1) / limit), size(n / count), large(n % count) {}
};

// The largest tile to use, for a number of vector registers.
constexpr tile_size best_tile(int rows, int vectors, std::ptrdiff_t depth, bool narrow,
                              int registers) {
  // A product with this result begins when rows of that are stored. Where all are in one tile,
  // there is nothing to do meanwhile.
  constexpr long wait = 32;
  tile_size best{1, 1};
  long least = 0;
  for (int v = 1; v <= std::min(vectors, 4); ++v) {
    for (int r = 1; r <= rows; ++r) {
      if (r * v + v + rows_by_fours(r, narrow) + 2 > registers) break;
      equal_parts const across(vectors, v), down(rows, r);
      long cost = down.count == 1 ? wait : 0;
      for (int i = 0; i < across.count; ++i) {
        int const width = across.size + (i < across.large);
        cost += down.large * tile_cost(down.size + 1, width, depth, narrow, registers) +
                (down.count - down.large) * tile_cost(down.size, width, depth, narrow, registers);
      }
      if (least == 0 || cost < least) {
        least = cost;
        best = {r, v};
      }
    }
  }
  return best;
}

}  // namespace weft::generate
