// The plan of a small contraction: which operand gives the rows (m), which one the columns (n), and
// the register tiles.
#pragma once
#include "weft/header_begin.hpp"

#include <algorithm>
#include <cstddef>

#include "weft/generate/signature.hpp"
#include "weft/kernels/dot_blocking.hpp"

namespace weft::generate {

// A packed copy of a contraction's rhs, in the panels of pack_dot (kernels/kernels.hpp).
struct packed_rhs {
  loop_nest blocks{};  // of matrices of depth x columns; strides of the copy, then of the operand
  std::ptrdiff_t depth = 1, columns = 1;
  std::ptrdiff_t depth_stride = 0, column_stride = 0;  // of the operand
};

// Row r and column c of the result are the sum over k of lhs[r, k] * rhs[k, c].
struct dot_plan {
  bool supported = false;
  int lhs = 1, rhs = 2;         // which operands these are
  loop rows, columns, depth;    // columns have stride 1 in the result
  loop_nest outer{};            // all other loops
  bool rhs_in_place = true;     // the columns are contiguous in the rhs, too
  packed_rhs packed;            // of all the rhs
  loop_nest outer_of_packed{};  // `outer`, with the strides of the copy for the rhs
  bool packed_once = false;     // as a whole; otherwise a matrix at a time, when it is needed
  bool packing_pays = true;     // packing in the run pays; packing before it always does
};

// The limits of a small contraction: an L1 cache holds such operands. Beyond, the general kernel's
// setup cost is negligible, and its packing pays.
inline constexpr std::ptrdiff_t max_operand_elements = 8192;
inline constexpr std::ptrdiff_t max_panel_elements = 4096;  // of the rhs

namespace detail {

// Requires all loops of the plan.
constexpr void plan_packing(dot_plan& p) {
  p.packed.depth = p.depth.extent;
  p.packed.columns = p.columns.extent;
  p.packed.depth_stride = p.depth.stride[p.rhs];
  p.packed.column_stride = p.columns.stride[p.rhs];
  p.outer_of_packed = p.outer;
  std::ptrdiff_t blocks = 1;
  bool one_matrix = true;
  for (int l = p.outer.loops - 1; l >= 0; --l) {
    const loop of = p.outer.at(l);
    if (of.stride[p.rhs] == 0) continue;
    one_matrix = one_matrix && of.stride[p.lhs] == 0;
    const std::ptrdiff_t stride = blocks * p.packed.depth * p.packed.columns;
    p.outer_of_packed.stride[p.rhs][l] = stride;
    p.packed.blocks.push({of.extent, {stride, of.stride[p.rhs]}});
    blocks *= of.extent;
  }
  // Only if it fits: the scratch and the packed parameters are sized for the table kernels.
  const auto columns = static_cast<std::size_t>(blocks * p.columns.extent);
  const auto depth = static_cast<std::size_t>(p.depth.extent);
  p.packed_once =
      one_matrix && columns <= kernels::max_blocks.columns && depth <= kernels::max_blocks.depth;
}

constexpr dot_plan plan_with(const signature& s, int lhs, int rhs) {
  dot_plan p;
  p.lhs = lhs;
  p.rhs = rhs;
  loop_nest rows{}, columns{}, depth{};
  for (int l = 0; l < s.loops; ++l) {
    (s.stride[0][l] == 0     ? depth
     : s.stride[rhs][l] == 0 ? rows
     : s.stride[lhs][l] == 0 ? columns
                             : p.outer)
        .push(loop_of(s, l));
  }
  sort_and_coalesce(rows, 0);
  sort_and_coalesce(columns, 0);
  sort_and_coalesce(depth, lhs);
  if (columns.loops == 0 || columns.inner_stride(0) != 1) return p;
  if (depth.loops > 1 || p.outer.loops + rows.loops + columns.loops > max_loops) return p;
  if (depth.loops == 1) p.depth = remove(depth, 0);
  p.columns = remove(columns, columns.last());
  if (rows.loops > 0) {
    int longest = rows.loops - 1;
    for (int i = 0; i < rows.loops; ++i)
      if (rows.extent[i] > rows.extent[longest]) longest = i;
    p.rows = remove(rows, longest);
  }
  for (int i = 0; i < rows.loops; ++i) p.outer.push(rows.at(i));
  for (int i = 0; i < columns.loops; ++i) p.outer.push(columns.at(i));
  sort_and_coalesce(p.outer, 0);
  p.rhs_in_place = p.columns.stride[rhs] == 1;
  plan_packing(p);
  // Addends are read as vectors or broadcast.
  for (int o = 3; o < s.operands; ++o)
    if (p.columns.stride[o] != 0 && p.columns.stride[o] != 1) return p;
  p.packing_pays = p.rhs_in_place || p.rows.extent >= 4;
  p.supported = true;
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
  const dot_plan p = detail::plan_with(s, 1, 2);
  const dot_plan q = detail::plan_with(s, 2, 1);
  const dot_plan& best = p.supported && (p.rhs_in_place || !q.supported) ? p : q;
  // A longer depth needs more than one sum in float: see kernels::longest_chain.
  const bool fits = best.depth.extent * best.columns.extent <= max_panel_elements &&
                    best.depth.extent <= static_cast<std::ptrdiff_t>(kernels::max_blocks.depth);
  return fits ? best : dot_plan{};
}

struct tile_size {
  int rows, vectors;
};

// The independent sets of accumulators over which a product splits its depth, to hide latency: a
// multiply-add takes four cycles, and two start per cycle. It decides the order of additions, so it
// does not depend on the target: of AVX-512, whose vectors are the longest, tiles have this many
// accumulators.
constexpr int accumulator_sets(std::ptrdiff_t rows, std::ptrdiff_t columns) {
  const std::ptrdiff_t accumulators = rows * std::min<std::ptrdiff_t>((columns + 15) / 16, 4);
  return accumulators <= 2 ? 4 : accumulators <= 4 ? 2 : 1;
}

// A compile-time cost model of a register tile. Its accumulators, sets of rows x vectors, stay in
// registers; so do the rhs's vectors of one step of the depth, or of all, and one element
// of the lhs.
struct tile_model {
  int rows, vectors, sets;
  std::ptrdiff_t depth;
  bool narrow;  // a result of one vector, and a lhs contiguous along the depth
  int registers;

  constexpr int accumulators() const { return rows * vectors; }

  // The rows whose elements are loaded four at a time and broadcast in registers. Two loads start
  // per cycle, as many as multiplications: a narrow tile, which loads an element for each
  // multiplication, and the vector, is bound by its loads. But some processors broadcast on the
  // ports that multiply: one row costs these no more than it saves.
  constexpr int broadcast_quads() const { return narrow ? 1 : 0; }

  // Whether all of the rhs stays in registers for consecutive tiles along the rows.
  constexpr bool rhs_in_registers() const {
    return accumulators() <= 8 &&
           depth * vectors + std::max(sets, 2) * accumulators() + broadcast_quads() + 1 <=
               registers;
  }

  // Vectors of the rhs that are in registers at a time.
  constexpr int rhs_vectors() const {
    return rhs_in_registers() ? static_cast<int>(depth) * vectors : vectors;
  }

  // The steps along the depth per loop iteration (unrolling). A loop of few and short iterations
  // would end before its exit branch is resolved.
  constexpr int unroll() const {
    int n = std::max(sets, broadcast_quads() > 0 ? 4 : 1);
    while (n < 4 && 2 * n * accumulators() <= 64) n *= 2;
    return n;
  }

  constexpr bool fits() const {
    return sets * accumulators() + rhs_vectors() + broadcast_quads() + 2 <= registers;
  }

  // The estimated half cycles of the tile: two operations or two loads start per cycle, and loads
  // delay operations; a dependent step takes at least four cycles (latency); plus prologue and
  // epilogue. If there is no loop, other tiles overlap with these.
  constexpr long cost() const {
    const auto n = static_cast<long>(depth);
    const long operations = n * (accumulators() + broadcast_quads()) + (sets - 1) * accumulators();
    const long loads =
        n * (rows + (rhs_in_registers() ? 0 : vectors)) - n / 4 * 3 * broadcast_quads();
    const long latency = (n + sets - 1) / sets * 8;
    return std::max({operations + loads / 8, loads, latency}) + accumulators() * 2 +
           (rhs_in_registers() ? 0 : 24);
  }
};

// n items in as few equal parts as a limit allows: `large` parts of size + 1, the others of size.
struct equal_parts {
  int count, size, large;
  constexpr equal_parts(int n, int limit)
      : count((n + limit - 1) / limit), size(n / count), large(n % count) {}
};

// The limits of the tiles with the least estimated cost, for a number of vector registers.
constexpr tile_size best_tile(int rows, int vectors, int sets, std::ptrdiff_t depth, bool narrow,
                              int registers) {
  // A product that reads this result starts when its first rows are stored. If one tile has all
  // rows, nothing overlaps with that wait.
  constexpr long wait = 40;
  tile_size best{1, 1};
  long least = 0;
  for (int v = 1; v <= std::min(vectors, 4); ++v) {
    for (int r = 1; r <= rows; ++r) {
      if (!tile_model{r, v, sets, depth, narrow, registers}.fits()) break;
      const equal_parts n_tiles(vectors, v), m_tiles(rows, r);
      long cost = m_tiles.count == 1 ? wait : 0;
      for (int i = 0; i < n_tiles.count; ++i) {
        const int width = n_tiles.size + (i < n_tiles.large);
        const tile_model small{m_tiles.size, width, sets, depth, narrow, registers};
        const tile_model large{m_tiles.size + 1, width, sets, depth, narrow, registers};
        if (small.rhs_in_registers())
          cost += 2 * small.rhs_vectors();  // loads before the first tile
        cost += (m_tiles.count - m_tiles.large) * small.cost();
        if (m_tiles.large > 0) cost += m_tiles.large * large.cost();
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
#include "weft/header_end.hpp"
