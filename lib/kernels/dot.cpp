// The contraction kernel: splits the result into cache blocks, panels and tiles, as BLIS does.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <type_traits>

#include "kernels/amx.hpp"
#include "kernels/dot_loops.hpp"
#include "weft/kernels/dot_blocking.hpp"
#include "weft/kernels/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dot.cpp"
#include "hwy/foreach_target.h"  // must come before hwy-inl.h
#include "kernels/epilogue-inl.h"
#include "kernels/export-inl.h"
#include "kernels/fixed_rows-inl.h"
#include "kernels/gemm_operands-inl.h"
#include "kernels/gemm_partition-inl.h"
#include "kernels/gemm_plan-inl.h"
#include "kernels/gemm_results-inl.h"
#include "kernels/gemm_tiles-inl.h"
#include "kernels/gemv-inl.h"
#include "kernels/microkernel-inl.h"
#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {
#if WEFT_RARE
kernel_function frequent_dot_of_target();
#endif
namespace {

// Whether this part has the products with packed blocks, and no others: see dot_of_packed.
constexpr bool of_blocks = WEFT_RARE;

// Computes a contraction for each index of its batch loops, or one partition of it.
class gemm : public gemm_tiles {
 public:
  gemm(const contraction& x, const call& c)
      : gemm_tiles(x, c),
        batch_{0, static_cast<std::size_t>(x.batch.points())},
        rows_{0, row_count_},
        window_{0, depth_count_} {
    totals_ = reinterpret_cast<double*>(c.scratch + plan_.at.totals);
    if (c.part.count > 1) {
      const bool packs_rhs = packed_ == nullptr && !plan_.rhs_in_place;
      choose_partition(c.part, {!plan_.lhs_in_place, packs_rhs, plan_.is_gemv()}, batch_, rows_,
                       columns_);
    }
  }

  // Makes the matrix unit ready if it is needed; `unit` is used until the end of the last run.
  void enter_amx(std::optional<amx_unit>& unit) {
    if (plan_.amx) amx_ = &unit.emplace();
  }

  // The batch indices of this partition.
  const range& batch() const { return batch_; }

  // Inlined into the loop over the batch: a call would slow down small products.
  HWY_INLINE void run(const operands& o) {
    if (!of_blocks && plan_.is_gemv()) at_.compute_rows({0, row_count_});
    if (!of_blocks && plan_.dot_form && !plan_.lhs_in_place)
      copy_rows({o.lhs, at_.rows().lhs, row_count_}, x_.depth, packed_lhs_);
    for (range rows{rows_.first, 0}; rows.first < rows_.end(); rows.first = rows.end()) {
      rows.count = std::min(plan_.m_block, rows_.end() - rows.first);
      run_m_block(o, rows);
    }
  }

 private:
  // Computes all columns of these rows.
  HWY_INLINE void run_m_block(const operands& o, range all) {
    range columns{columns_.part().first, 0};
    for (; columns.first < columns_.part().end(); columns.first = columns.end()) {
      columns.count = columns_.panel_at(columns.first, plan_.block.columns);
      at_.compute_columns(columns);
      if (HWY_LIKELY(depth_count_ <= plan_.chain))
        run_panel(o, all, columns);
      else
        run_deep_panel(o, all, columns);
    }
  }

  // Sums over parts of a long depth, which are added in double.
  HWY_NOINLINE void run_deep_panel(const operands& o, range all, range columns) {
    std::fill_n(totals_, all.count * columns.count, 0.0);
    for (window_ = {0, 0}; window_.end() < depth_count_;) {
      window_ = {window_.end(), std::min(plan_.chain, depth_count_ - window_.end())};
      run_panel(o, all, columns);
      if (plan_.axpy_form) {
        for (std::size_t row = 0; row < row_count_; ++row)
          add_to_totals(o.result + at_.rows().result[row] + at_.columns().result[0], columns.count,
                        totals_ + row * columns.count);
        continue;
      }
      for_each_tile(all, columns,
                    [&](const n_tile& t, std::size_t row, std::size_t count, double* total)
                        HWY_ATTR {
                          load_edge_tile(o, t, columns, row, count);
                          for (std::size_t i = 0; i < count; ++i)
                            add_to_totals(tile_row_[i], t.count, total + i * columns.count);
                        });
    }
    window_ = {0, depth_count_};
    for_each_tile(all, columns,
                  [&](const n_tile& t, std::size_t row, std::size_t count, double* total) HWY_ATTR {
                    for (std::size_t i = 0; i < count; ++i)
                      for (std::size_t j = 0; j < t.count; ++j)
                        tile_row_[i][j] = static_cast<float>(total[i * columns.count + j]);
                    apply_epilogue_to_rows(o, t, columns, row, count);
                    store_edge_tile(o, t, columns, row, count);
                  });
  }
  // Calls f(tile, row of the block, count of rows, totals) for each tile of these rows and columns.
  template <class F>
  void for_each_tile(range all, range columns, F f) {
    for (range rows{all.first, 0}; rows.first < all.end(); rows.first += plan_.block.rows) {
      rows.count = std::min(plan_.block.rows, all.end() - rows.first);
      if (!plan_.is_gemv()) at_.compute_rows(rows);
      for (std::size_t row = 0; row < rows.count; row += tile_rows)
        for (std::size_t first = columns.first; first < columns.end();) {
          const n_tile t = columns_.tile_at(first);
          f(t, row, std::min(tile_rows, rows.count - row),
            totals_ + (rows.first - all.first + row) * columns.count + first - columns.first);
          first = t.end();
        }
    }
  }
  // Whether the sums over the window are those over all of the depth.
  bool is_whole() const { return window_.count == depth_count_; }

  // Computes these columns of these rows: the sums over the window of the depth.
  HWY_INLINE void run_panel(const operands& o, range all, range columns) {
    if (!of_blocks && plan_.is_gemv())
      return plan_.dot_form ? gemv_dot(o, columns) : gemv_axpy(o, columns);
    for (range depth{window_.first, 0}; depth.first < window_.end();
         depth.first += plan_.block.depth) {
      depth.count = std::min(plan_.block.depth, window_.end() - depth.first);
      if (packed_ == nullptr || !plan_.lhs_in_place) at_.compute_depth(depth);
      if (!of_blocks && packed_ == nullptr) {
        // If tiles end with the columns' inner loop, all are full, and none needs packing.
        if (!plan_.rhs_in_place || !columns_.tiles_end_with_loops())
          pack_rhs(o.rhs, columns, depth);
      } else if (plan_.promotes) {
        promote<of_blocks>(columns, depth);
      }
      for (range rows{all.first, 0}; rows.first < all.end(); rows.first += plan_.block.rows) {
        rows.count = std::min(plan_.block.rows, all.end() - rows.first);
        at_.compute_rows(rows);
        if (!plan_.lhs_in_place) pack_lhs(o.lhs, rows, depth);
        if (packed_ == nullptr || x_.packed == stored_type::float32 || plan_.promotes)
          multiply<float>(o, columns, depth, rows);
        else
          multiply_packed(o, columns, depth, rows);
      }
    }
  }

  // With columns that are packed in another type than float32.
  HWY_INLINE void multiply_packed(const operands& o, range columns, range depth, range rows) const {
    if constexpr (of_blocks) {
      if (plan_.fixed) {
        round_block<fixed_block>(o, columns, depth, rows,
                                 [](auto... line) { round_line_to_fixed(tag(), line...); });
        return multiply_blocks(o, columns, depth, rows);
      }
      if (!plan_.int8) return multiply<q8_block>(o, columns, depth, rows);
      round_block<int8_block>(o, columns, depth, rows,
                              [](auto... line) { round_line_to_blocks(tag(), line...); });
      if constexpr (may_use_vnni)
        if (plan_.vnni) return multiply<vnni_block>(o, columns, depth, rows);
      multiply<int8_block>(o, columns, depth, rows);
    } else if (!plan_.bf16_pairs) {
      multiply<bf16>(o, columns, depth, rows);
    } else if constexpr (may_multiply_pairs) {
      round_block<bf16_pair>(o, columns, depth, rows, &round_line);
      multiply<bf16_pair>(o, columns, depth, rows);
    }
  }

  void gemv_dot(const operands& o, range columns) const {
    const float* lhs[max_skinny_m];
    const auto begin = static_cast<std::ptrdiff_t>(window_.first);
    if (plan_.lhs_in_place)
      at_.rows().lhs.pointers(o.lhs + begin, row_count_, lhs);
    else
      offset_list(0, static_cast<std::ptrdiff_t>(depth_count_))
          .pointers<const float>(packed_lhs_ + begin, row_count_, lhs);
    for (std::size_t first = columns.first; first < columns.end();) {
      const n_tile t = columns_.tile_at(first);
      first = t.end();
      for (std::size_t j = 0; j < t.count; j += gemv_columns) {
        const float* column[gemv_columns];
        const std::size_t count = std::min(t.count - j, gemv_columns);
        at_.columns().rhs.from(t.first - columns.first + j).pointers(o.rhs + begin, count, column);
        // A tile has room for full vectors, and so for surplus columns.
        for (std::size_t row = 0; row < row_count_;)
          row += dot_products(lhs + row, row_count_ - row, column, count, window_.count,
                              tile_row_[row] + j);
      }
      if (is_whole()) apply_epilogue_to_rows(o, t, columns, 0, row_count_);
      store_edge_tile(o, t, columns, 0, row_count_);
    }
  }

  void gemv_axpy(const operands& o, range columns) const {
    float* result[max_skinny_m];
    at_.rows().result.pointers(o.result + at_.columns().result[0], row_count_, result);
    const float* lhs[max_skinny_m];
    const auto begin = static_cast<std::ptrdiff_t>(window_.first);
    at_.rows().lhs.pointers(o.lhs + begin * lhs_step_, row_count_, lhs);
    const float* const rhs = o.rhs + at_.columns().rhs[0] + begin * rhs_step_;
    for (std::size_t row = 0; row < row_count_;)
      row += axpy_lines(
          {lhs + row, lhs_step_, rhs, rhs_step_, window_.count, columns.count, result + row},
          row_count_ - row);
    if (!is_whole() || (!has_epilogue_ && activate_ == nullptr)) return;
    for (std::size_t first = columns.first; first < columns.end();) {
      const n_tile t = columns_.tile_at(first);
      first = t.end();
      // The epilogue may write full vectors, for which the tile has room but not the result.
      for (std::size_t i = 0; i < row_count_; ++i)
        std::copy_n(result[i] + (t.first - columns.first), t.count, tile_row_[i]);
      apply_epilogue_to_rows(o, t, columns, 0, row_count_);
      store_edge_tile(o, t, columns, 0, row_count_);
    }
  }

  template <class T>
  void multiply(const operands& o, range columns, range depth, range rows) const {
#if WEFT_KERNELS_AMX
    if constexpr (std::is_same_v<T, bf16_pair>) {
      if (plan_.amx) return multiply_by_amx(o, columns, depth, rows);
    }
#endif
    for (range group{columns.first, 0}; group.first < columns.end(); group.first = group.end()) {
      group.count =
          std::min(columns_.panel_at(group.first, plan_.nr_group), columns.end() - group.first);
      multiply_nr_group<T>(o, columns, group, depth, rows);
    }
  }

  template <class T>
  void multiply_nr_group(const operands& o, range columns, range group, range depth,
                         range rows) const {
    constexpr std::size_t tile_rows = rows_of_tile<T>;
    const auto depth_done = static_cast<std::ptrdiff_t>(depth.first);
    const std::size_t steps = is_block<T> ? depth.count : in_units<T>(depth).count;
    std::size_t bytes = 0;  // not for all: the division slows down small products
    if (packed_ != nullptr) {
      const std::size_t micro_panels = (rows.count + tile_rows - 1) / tile_rows;
      bytes = (hn::Lanes(tag()) * sizeof(T) / steps_of<T> + micro_panels - 1) / micro_panels;
    }
    const std::size_t next_rows = prefetched_rows(x_, group, depth);
    for (std::size_t row = 0; row < rows.count; row += tile_rows) {
      const std::size_t count = std::min(tile_rows, rows.count - row);
      const lhs_micro_panel a = lhs_of<T>(o, depth, row, count);
      float* result[tile_rows];
      at_.rows().result.from(row).pointers(o.result, count, result);
      std::size_t next = row + tile_rows;  // the first row that the tile prefetches
      for (std::size_t first = group.first; first < group.end(); next += next_rows) {
        const n_tile t = columns_.tile_at(first);
        first = t.end();
        const rhs_micro_panel<T> b = rhs_of<T>(t, columns, depth, o);
        prefetch_target prefetch{reinterpret_cast<const std::byte*>(a.row[0]), 0};
        if (packed_ != nullptr && !plan_.promotes) {
          if (row_count_ > max_rows_without_prefetch<T>)
            prefetch = prefetch_of_next_panel(b, t, columns, depth, row / tile_rows, bytes);
        } else if (plan_.lhs_in_place && lhs_step_ != 1)
          prefetch = {
              reinterpret_cast<const std::byte*>(a.row[0] + prefetch_distance_in_lines * lhs_step_),
              lhs_step_ * static_cast<std::ptrdiff_t>(sizeof(float))};
        else if (plan_.lhs_in_place && next < std::min(row + 2 * tile_rows, rows.count))
          prefetch = {reinterpret_cast<const std::byte*>(o.lhs + at_.rows().lhs[next] +
                                                         depth_done * lhs_step_),
                      static_cast<std::ptrdiff_t>(next_rows * sizeof(float))};
        compute_tile(o, {columns, depth, t, row, count, result}, a, b, steps, prefetch, nullptr);
      }
    }
  }

  // The same with blocks of any format. A tile, whose depth is then 0, adds the sums to the result
  // and applies the epilogue.
  HWY_NOINLINE void multiply_blocks(const operands& o, range columns, range depth,
                                    range rows) const {
    const lhs_micro_panel a = lhs_of<fixed_block>(o, depth, 0, rows.count);
    float* result[tile_rows];
    at_.rows().result.from(0).pointers(o.result, rows.count, result);
    for (std::size_t first = columns.first; first < columns.end();) {
      const n_tile t = columns_.tile_at(first);
      first = t.end();
      float sums[max_skinny_m * max_amx_columns]{};
      add_fixed_products(tag(), x_.packed, plan_.vnni, a.row, rows.count, blocks_of(t, depth),
                         t.width(), depth.count, sums);
      compute_tile(o, {columns, depth, t, 0, rows.count, result}, a, rhs_micro_panel<q8_block>{}, 0,
                   {nullptr, 0}, sums);
    }
  }

#if WEFT_KERNELS_AMX
  // The same by the matrix unit, with more rows at a time. A tile, whose depth is then 0, adds its
  // sums to the result and applies the epilogue.
  void multiply_by_amx(const operands& o, range columns, range depth, range rows) const {
    static_assert(hn::MaxLanes(tag()) == amx_pairs || !may_multiply_pairs);
    const std::size_t pairs = in_units<bf16_pair>(depth).count;
    for (std::size_t first = columns.first; first < columns.end();) {
      const n_tile t = columns_.tile_at(first);
      first = t.end();
      const rhs_micro_panel<bf16_pair> b = rhs_of<bf16_pair>(t, columns, depth, o);
      amx_panel panel(*amx_, {packed_lhs_, rows.count, bf16_pitch(pairs)},
                      {reinterpret_cast<const float*>(b.data), t.vectors}, pairs);
      for (std::size_t row = 0, count; row < rows.count; row += count) {
        count = amx_unit::rows_at_once(rows.count - row);
        const float* const sums = panel.multiply(row, count);
        for (std::size_t i = 0; i < count; i += tile_rows) {
          const std::size_t n = std::min(tile_rows, count - i);
          float* result[tile_rows];
          at_.rows().result.from(row + i).pointers(o.result, n, result);
          compute_tile(o, {columns, depth, t, row + i, n, result},
                       lhs_of<bf16_pair>(o, depth, row + i, n), b, 0, {nullptr, 0},
                       sums + i * max_amx_columns);
        }
      }
    }
  }
#endif

  // A tile of the result: of a panel of columns and a block of the depth, `count` rows of a block
  // from `row` on.
  struct tile_place {
    range columns, depth;
    const n_tile& t;
    std::size_t row, count;
    float* const* result;  // these rows of the result
  };

  template <class T>
  HWY_INLINE void compute_tile(const operands& o, const tile_place& p, const lhs_micro_panel& a,
                               const rhs_micro_panel<T>& b, std::size_t steps,
                               prefetch_target prefetch, const float* amx_sums) const {
    const auto& [columns, depth, t, row, count, result] = p;
    const bool add = depth.first != window_.first;
    const bool last = depth.end() == depth_count_ && is_whole();
    const bool full = t.is_full() && contiguous_result_;
    tile_result c{tile_row_, 0, add, nullptr, amx_sums};
    if (full) {
      c.row = result;
      c.column = at_.columns().result[t.first - columns.first];
    }
    if (!full && add) load_edge_tile(o, t, columns, row, count);
    epilogue end;
    if (last && has_epilogue_) {
      find_epilogue(o, t, columns, row, count, end);
      c.end = &end;
    }
    tile_of<T>(count, t.vectors, a.step)(a, b, steps, prefetch, c);
    // Not in the microkernel, whose accumulators occupy the registers that this needs.
    if (last && activate_ != nullptr) activate_({c.row, c.column, count, t.count});
    if (!full) store_edge_tile(o, t, columns, row, count);
  }

  // The ranges of this partition.
  range batch_, rows_;
  range window_;  // of the depth, that is summed now
  // In the scratch.
  double* totals_;           // see dot_totals
  amx_unit* amx_ = nullptr;  // if the plan has it
};

void WEFT_PART(dot)(const call& c) noexcept {
#if WEFT_RARE
  const operand& rhs = c.operands[rhs_operand(c)];
  if (!rhs.is_packed() || !detail::entry_of(rhs.packed).is_block())
    return frequent_dot_of_target()(c);
#endif
  for (int i = 0; i < c.loops; ++i) {
    if (c.extent[i] == 0 && c.operands[0].stride[i] != 0) return;
  }
  const contraction x(c);
  if (x.depth.points() == 0) {
    if (c.part.index == 0) epilogue_of_zeros(x, c.epilogue);
    return;
  }
  gemm kernel(x, c);
  std::optional<amx_unit> unit;
  kernel.enter_amx(unit);
  const auto addend = [](const float* data, std::ptrdiff_t at) {
    return data == nullptr ? nullptr : data + at;
  };
  for (std::size_t i = kernel.batch().first; i < kernel.batch().end(); ++i) {
    const operand_offsets at = offsets_at(x.batch, static_cast<std::ptrdiff_t>(i));
    kernel.run({x.lhs + at.in[of_lhs],
                x.rhs + at.in[of_rhs],
                x.result + at.in[of_result],
                {addend(x.a, at.in[of_a]), addend(x.b, at.in[of_b])}});
  }
}

#if !WEFT_RARE
void pack_dot(const call& c, stored_type as, std::byte* packed) noexcept {
  const contraction x(c);
  const detail::packed_layout layout{static_cast<std::uint8_t>(hn::Lanes(tag())),
                                     static_cast<std::uint8_t>(tile_vectors), multiplies_pairs()};
  if (detail::entry_of(as).is_block())
    return pack_blocks(layout, c, stored_type::float32, as, packed);
  gemm(x, c).pack_for_reuse(x.rhs, as, packed);
}
#endif

}  // namespace
}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

WEFT_EXPORT_PART(kernel_function, WEFT_PART(dot))
#if !WEFT_RARE
WEFT_EXPORT(pack_function, pack_dot)
#endif
