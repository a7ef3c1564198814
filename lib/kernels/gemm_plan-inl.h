// The plan of a contraction: which operands are packed, how large the blocks are, and what stays in
// which cache.
#if defined(WEFT_KERNELS_GEMM_PLAN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_GEMM_PLAN_INL_H_
#undef WEFT_KERNELS_GEMM_PLAN_INL_H_
#else
#define WEFT_KERNELS_GEMM_PLAN_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cstddef>

#include "kernels/dot_loops.hpp"
#include "kernels/gemv-inl.h"
#include "kernels/microkernel-inl.h"
#include "kernels/packed_blocks-inl.h"
#include "weft/kernels/dot_blocking.hpp"
#include "weft/weights/formats.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// From this depth stride on (a page of 4 KiB), packing an lhs with unit stride along its rows
// measured a quarter faster than prefetching its lines.
constexpr std::ptrdiff_t packing_stride = 4096 / sizeof(float);

// Up to this many rows, vectors multiply pairs as fast as memory delivers them.
constexpr std::size_t max_rows_for_vectors = 2;

// The stride of a block's rows of bfloat16 pairs. That of long rows is an odd number of cache
// lines: with a power of two of them, all rows would map to a few sets of the cache.
constexpr std::size_t bf16_pitch(std::size_t pairs) {
  constexpr std::size_t line = 16;
  return pairs < 2 * line ? pairs : (round_up(pairs, line) / line | 1) * line;
}

// The same for rows of int8 blocks, of which the last has the quads that there are. What rounding
// writes beyond them is where the next row will be, or no more in use.
constexpr std::size_t int8_pitch(std::size_t depth) {
  return bf16_pitch((depth + int8_block::depth - 1) / int8_block::depth * 2 + (depth + 3) / 4);
}

// Prefetch distance, in steps of the depth, for an lhs with unit stride along its rows: where its
// depth stride is a power of two, all these lines map to a few sets of the cache.
constexpr std::ptrdiff_t prefetch_distance_in_lines = 8;

// The depth that is packed at a time of all tiles of a panel, or of all micro-panels of a block, if
// their lines are contiguous: a row of a panel is then read from end to end, and one of several
// micro-panels, which are narrower than a cache line, while it is in the cache.
constexpr std::size_t panel_advance = 8;
constexpr std::size_t block_advance = 16;

// Whether T is a block of several elements along the depth, with a scale.
template <class T>
constexpr bool is_block = std::is_same_v<T, q8_block> || is_int8<T>;
// The steps in which the microkernel takes one T, each with a prefetch.
template <class T>
constexpr std::size_t steps_of = std::is_same_v<T, q8_block> ? q8_block::depth
                                 : is_int8<T>                ? int8_block::depth / 4
                                                             : 1;

// A range of the depth in units of T: a bfloat16 pair is two of the depth, a block is its own.
template <class T>
constexpr range in_units(range depth) {
  std::size_t step = std::is_same_v<T, bf16_pair> ? 2 : 1;
  if constexpr (is_block<T>) step = T::depth;
  return {depth.first / step, (depth.count + step - 1) / step};
}

// Up to this many rows, hardware alone prefetches packed weights, which are read once, from end to
// end: with prefetches by software Zen 4 reads as little as half as much in the same time. Of more
// rows, products of blocks take longer than that.
template <class T>
constexpr std::size_t max_rows_without_prefetch = std::is_same_v<T, q8_block> ? 1
                                                  : is_block<T>               ? max_skinny_m
                                                                              : tile_rows;

// How many rows of the next micro-panel each tile of a panel prefetches, so that together they
// prefetch all: rows that follow each other in memory form a single line.
inline std::size_t prefetched_rows(const contraction& x, range columns, range depth) {
  if (x.rows.inner_stride(of_lhs) != static_cast<std::ptrdiff_t>(depth.count)) return 1;
  const std::size_t width = tile_vectors * hn::Lanes(tag());
  const std::size_t tiles = (columns.count + width - 1) / width;
  return std::max<std::size_t>(tile_rows >> (std::bit_width(tiles) - 1), 1);
}

struct gemm_plan {
  // For a contraction of these extents. The scratch has room for blocks of size `capacity`.
  HWY_INLINE gemm_plan(const contraction& x, std::size_t rows, std::size_t columns,
                       std::size_t depth)
      : in_blocks(x.is_packed() && detail::entry_of(x.packed).shares_scales()),
        depth_unit(in_blocks ? detail::entry_of(x.packed).block : max_dot_lanes),
        capacity(blocks_of(rows, columns, depth, depth_unit)),
        at(capacity, dot_totals(rows, columns, depth),
           {!is_single(x.rows), !is_single(x.columns), !is_single(x.depth)}),
        block(capacity),
        m_block(rows) {
    const std::ptrdiff_t lhs_step = x.depth.inner_stride(of_lhs);
    const std::ptrdiff_t rhs_step = x.depth.inner_stride(of_rhs);
    const bool contiguous_rhs = x.columns.inner_stride(of_rhs) == 1;
    const bool contiguous_result = x.columns.inner_stride(of_result) == 1;
    const bool packed = x.is_packed();
    const bool skinny = rows <= max_skinny_m;
    // The lhs is read in place where packing would not pay: if it is contiguous along the depth, as
    // a tile reads it; if a single vector of columns does too few products with each element; and
    // if it has unit stride along its rows and either lies as a packed one would or can be
    // prefetched in time, which needs tiles that prefetch nothing else and lines that share pages.
    const bool unit_row_stride = is_single(x.rows) && x.rows.inner_stride(of_lhs) == 1;
    const bool as_packed = unit_row_stride && lhs_step <= static_cast<std::ptrdiff_t>(tile_rows);
    const bool can_be_prefetched = unit_row_stride && !packed && lhs_step < packing_stride;
    lhs_in_place = is_single(x.depth) &&
                   (lhs_step == 1 || columns <= hn::Lanes(tag()) || as_packed || can_be_prefetched);
    // The rhs is read in place if it is contiguous along the columns and either few tiles would
    // share the packed panel or L1 holds it as it is.
    const std::size_t rhs_bytes = depth * static_cast<std::size_t>(rhs_step) * sizeof(float);
    rhs_in_place = !packed && is_single(x.depth) && contiguous_rhs &&
                   (rows <= 2 * tile_rows || rhs_bytes <= l1_cache_bytes);
    const bool can_be_gemv = !packed && skinny;
    // With few rows, transposing the rhs would cost more than the products, and its lines are
    // better read from end to end. An lhs that is strided along the depth, or has it in another
    // order, is copied to the room for packed operands.
    const bool contiguous_lhs = is_single(x.depth) && lhs_step == 1;
    dot_form = can_be_gemv && is_dense(x.depth, of_rhs) &&
               (contiguous_lhs || rows * depth <= (at.bytes - at.lhs) / sizeof(float));
    if (dot_form) lhs_in_place = contiguous_lhs;
    axpy_form = can_be_gemv && is_single(x.depth) && is_single(x.columns) && contiguous_rhs &&
                contiguous_result;
    // Lines are not packed, so the room for a panel does not limit the columns.
    if (axpy_form) block.columns = block_size(columns, gemv_pass_columns, max_tile_columns);
    // Rows with unit stride share cache lines, which at half of the depth stay for the next
    // micro-panel.
    if (lhs_in_place && lhs_step != 1 && can_be_prefetched)
      block.depth = block_size(depth, max_blocks.depth / 2, max_dot_lanes);
    plan_packed(x, rows, depth);
    plan_panels();
  }

  bool is_gemv() const { return dot_form || axpy_form; }

  bool in_blocks;          // the rhs is packed in blocks that share scales
  std::size_t depth_unit;  // of which blocks of the depth are multiples
  dot_blocks capacity;
  dot_scratch at;
  dot_blocks block;
  std::size_t chain;     // the depth over which sums are added in float
  std::size_t m_block;   // the rows that are multiplied with all panels before the next ones
  std::size_t nr_group;  // the columns of a panel that are multiplied with all rows first
  bool lhs_in_place, rhs_in_place;
  bool dot_form, axpy_form;  // few rows: the rhs is read line by line
  bool bf16_pairs;           // the rhs is packed, or to be packed, in pairs of bfloat16
  bool amx;                  // the matrix unit multiplies these
  bool fixed;                // the products are those of add_fixed_products
  bool int8, vnni;           // the rhs is packed in int8; AVX-512's VNNI multiplies integers
  bool promotes;  // its panels, packed in another type, become floats before the products

 private:
  // How many rows of int8 the room for packed operands has, beside one that is copied first.
  std::size_t int8_rows() const {
    const std::size_t room = (at.bytes - at.lhs) / sizeof(float);
    return (room - block.depth) / int8_pitch(block.depth);
  }

  // What follows from an rhs that is packed.
  HWY_INLINE void plan_packed(const contraction& x, std::size_t rows, std::size_t depth) {
    const bool packed = x.is_packed(), skinny = rows <= max_skinny_m;
    bf16_pairs = may_multiply_pairs && x.packed == stored_type::bfloat16_pair;
    // In registers, blocks other than Q8_0 take contiguous rows of full blocks.
    fixed = in_blocks && x.packed != stored_type::q8_0 && skinny && lhs_in_place &&
            x.depth.inner_stride(of_lhs) == 1 && depth % depth_unit == 0;
    promotes = (x.packed == stored_type::bfloat16 && !skinny) ||
               (in_blocks && !fixed && !(skinny && x.packed == stored_type::q8_0));
    amx = bf16_pairs && rows > max_rows_for_vectors && may_use_amx();
    int8 = x.packed == stored_type::int8_block;
    vnni = may_use_vnni && (int8 || fixed) && multiplies_int8();
    if (fixed) {
      // Rows are rounded once if the room for packed operands has them, with a pitch that is longer
      // by a cache line.
      const std::size_t room = (at.bytes - at.lhs) / sizeof(float) / (max_skinny_m + 1) - 16;
      block.depth =
          block_size(depth, std::min(room / depth_unit * depth_unit, max_fixed_depth), depth_unit);
    } else if (int8) {
      lhs_in_place = true;  // likewise
      block.depth = block_size(depth, max_int8_depth, int8_block::depth);
      block.rows = std::min(capacity.rows, int8_rows() / tile_rows * tile_rows);
    } else if (bf16_pairs) {
      lhs_in_place = true;  // its lines are rounded from where they lie
      block.depth = block_size(depth, max_blocks.depth, 2 * amx_pairs);
      // Pairs take half of the room, so that more rows than `capacity` has can share what is read
      // of the weights: if they are one loop, as the offsets of several have room for no more.
      const std::size_t room = round_up(capacity.rows, max_tile_rows) * capacity.depth;
      const std::size_t fit = room / bf16_pitch((block.depth + 1) / 2) / max_amx_rows;
      if (is_single(x.rows) && fit * max_amx_rows > block.rows)
        block.rows = block_size(rows, fit * max_amx_rows, max_amx_rows);
    }
    const bool reads_packed = packed && lhs_in_place && !promotes;
    if (reads_packed && skinny && !bf16_pairs && !int8 && !fixed) {
      block.depth = block_size(depth, max_blocks.depth, depth_unit);
    } else if (reads_packed && !fixed) {
      // Nothing is packed or widened for a panel, so it may be as narrow as a tile. Packed weights
      // are then read in memory order, and the partial sums of a deep product are reused sooner. A
      // block of rows stays in L2 while all of the weights stream past it, and tiles prefetch the
      // next ones in time: that takes 3 to 6 % less time than streaming the lhs past each panel.
      block.columns = std::min(block.columns, max_tile_columns);
      m_block = block.rows;
    }
  }

  // How many columns are multiplied at a time, and over which depth.
  HWY_INLINE void plan_panels() {
    // A micro-panel of the rhs that fills L1 stays there while all rows are multiplied with it,
    // since it is wider than one of the lhs. Where two fit, computing the row pointers for each
    // takes as long as that saves.
    constexpr std::size_t cache_floats = l1_cache_bytes / sizeof(float);
    const std::size_t tile_columns = tile_vectors * hn::Lanes(tag());
    const bool one_micro_panel = block.columns > tile_columns &&
                                 (tile_columns + tile_rows) * block.depth <= cache_floats &&
                                 (2 * tile_columns + tile_rows) * block.depth > cache_floats;
    chain = max_chain_of_blocks;
    if (is_gemv()) chain = max_chain_of_lines * (dot_form ? sum_lanes : 1);
    nr_group = one_micro_panel ? tile_columns : block.columns;
  }
};

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
