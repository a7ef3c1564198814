// The result of a contraction: its epilogue, and tiles at its edges.
#if defined(WEFT_KERNELS_GEMM_RESULTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_GEMM_RESULTS_INL_H_
#undef WEFT_KERNELS_GEMM_RESULTS_INL_H_
#else
#define WEFT_KERNELS_GEMM_RESULTS_INL_H_
#endif

#include <algorithm>
#include <cstddef>

#include "kernels/dot_loops.hpp"
#include "kernels/epilogue-inl.h"
#include "kernels/gemm_operands-inl.h"
#include "kernels/gemm_partition-inl.h"
#include "kernels/microkernel-inl.h"
#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// A tile's elements in the result or an addend: that of row i, column j is at
// row[first_row + i] + column[first_column + j].
template <class T>
struct tile_elements {
  T* data;
  const offset_list &row, &column;
  std::size_t first_row, first_column, rows, columns;
  bool contiguous;  // unit stride along a row
};

// Copies an edge tile to rows that have room for full vectors.
HWY_INLINE void load_edge(const tile_elements<const float>& from, float* const* to) {
  const tag d;
  const std::size_t lanes = hn::Lanes(d), columns = from.columns;
  const offset_list column = from.column.from(from.first_column);
  for (std::size_t i = 0; i < from.rows; ++i) {
    const float* const row = from.data + from.row[from.first_row + i];
    float* const line = to[i];
    if (from.contiguous) {
      const float* const first = row + column[0];
      std::size_t j = 0;
      for (; j + lanes <= columns; j += lanes) hn::StoreU(hn::LoadU(d, first + j), d, line + j);
      if (j < columns) hn::StoreU(load_n(d, first + j, columns - j), d, line + j);
    } else {
      for (std::size_t j = 0; j < columns; ++j) line[j] = row[column[j]];
    }
  }
}

// Copies an edge tile from such rows to memory.
HWY_INLINE void store_edge(const float* const* from, const tile_elements<float>& to) {
  const tag d;
  const std::size_t lanes = hn::Lanes(d), columns = to.columns;
  const offset_list column = to.column.from(to.first_column);
  for (std::size_t i = 0; i < to.rows; ++i) {
    const float* const line = from[i];
    float* const row = to.data + to.row[to.first_row + i];
    if (to.contiguous) {
      float* const first = row + column[0];
      std::size_t j = 0;
      for (; j + lanes <= columns; j += lanes) hn::StoreU(hn::LoadU(d, line + j), d, first + j);
      if (j < columns) store_n(hn::LoadU(d, line + j), d, first + j, columns - j);
    } else {
      for (std::size_t j = 0; j < columns; ++j) row[column[j]] = line[j];
    }
  }
}

// A contraction of depth 0: the epilogue of zeros. lhs and rhs may have no memory.
inline void epilogue_of_zeros(const contraction& x, op activation) {
  const tile_activation activate = tile_activation_of(activation);
  for (std::ptrdiff_t i = 0; i < x.batch.points(); ++i) {
    for (std::ptrdiff_t j = 0; j < x.rows.points(); ++j) {
      for (std::ptrdiff_t k = 0; k < x.columns.points(); ++k) {
        const operand_offsets at[]{offsets_at(x.batch, i), offsets_at(x.rows, j),
                                   offsets_at(x.columns, k)};
        float sum[max_dot_lanes]{};
        float* const row[]{sum};
        if (x.a != nullptr) sum[0] += x.a[at[0].in[of_a] + at[1].in[of_a] + at[2].in[of_a]];
        if (x.b != nullptr) sum[0] += x.b[at[0].in[of_b] + at[1].in[of_b] + at[2].in[of_b]];
        if (activate != nullptr) activate({row, 0, 1, 1});
        x.result[at[0].in[of_result] + at[1].in[of_result] + at[2].in[of_result]] = sum[0];
      }
    }
  }
}

namespace {

// The operands at one index of the batch loops.
struct operands {
  const float *lhs, *rhs;
  float* result;
  const float* addend[2];
};

class gemm_results : public gemm_operands {
 public:
  gemm_results(const contraction& x, const call& c) : gemm_operands(x, c) {
    offset_list(0, max_tile_columns)
        .pointers(reinterpret_cast<float*>(c.scratch + plan_.at.tile), tile_rows, tile_row_);
    addend_tiles_ = reinterpret_cast<float*>(c.scratch + plan_.at.addends);
    contiguous_result_ = x.columns.inner_stride(of_result) == 1;
    addends_ = x.addends();
    scale_ = static_cast<float>(c.scale);
    has_epilogue_ = scale_ != 1 || addends_ > 0;
    activate_ = c.epilogue == op::copy ? nullptr : tile_activation_of(c.epilogue);
  }

 protected:
  void find_epilogue(const operands& o, const n_tile& t, range columns, std::size_t row,
                     std::size_t rows, epilogue& e) const {
    e.scale = scale_;
    e.addends = addends_;
    for (int i = 0; i < addends_; ++i) rows_of_addend(o, i, t, columns, row, rows, e.addend[i]);
  }

  // Applies the epilogue to a tile in the scratch: rows of a block from `row` on.
  void apply_epilogue_to_rows(const operands& o, const n_tile& t, range columns, std::size_t row,
                              std::size_t rows) const {
    const tile_sums sums{tile_row_, 0, rows, t.count};
    if (has_epilogue_) {
      epilogue e;
      find_epilogue(o, t, columns, row, rows, e);
      apply_epilogue(sums, e);
    }
    if (activate_ != nullptr) activate_(sums);
  }

  // Finds the tile's rows of an addend, copied to the scratch unless they are full vectors or
  // broadcast. Surplus rows of the tile repeat the last one.
  void rows_of_addend(const operands& o, int which, const n_tile& t, range columns, std::size_t row,
                      std::size_t rows, addend_rows& a) const {
    const std::ptrdiff_t stride = x_.columns.inner_stride(of_a + which);
    const offset_list &in_row = at_.rows().addend[which], &in_column = at_.columns().addend[which];
    const std::size_t first = t.first - columns.first;
    const bool contiguous = t.in_one_run && stride == 1;
    a.broadcast = t.in_one_run && stride == 0;
    if (a.broadcast || (t.is_full() && contiguous)) {
      in_row.from(row).pointers(o.addend[which] + in_column[first], rows, a.row);
      return;
    }
    float* copies[max_tile_rows];
    offset_list(0, max_tile_columns)
        .pointers(addend_tiles_ + (which == 0 ? 0 : max_tile_rows * max_tile_columns), rows,
                  copies);
    load_edge({o.addend[which], in_row, in_column, row, first, rows, t.count, contiguous}, copies);
    std::copy_n(copies, max_tile_rows, a.row);
  }

  // The tile's elements in the result.
  template <class T>
  HWY_INLINE tile_elements<T> in_result(T* result, const n_tile& t, range columns, std::size_t row,
                                        std::size_t rows) const {
    const std::size_t first = t.first - columns.first;
    const bool contiguous = t.in_one_run && contiguous_result_;
    return {result, at_.rows().result, at_.columns().result, row, first, rows, t.count, contiguous};
  }

  // Copy an edge tile between the result and the scratch. Not inlined: the loop over the tiles
  // needs the registers.
  HWY_NOINLINE void load_edge_tile(const operands& o, const n_tile& t, range columns,
                                   std::size_t row, std::size_t rows) const {
    load_edge(in_result<const float>(o.result, t, columns, row, rows), tile_row_);
  }
  HWY_NOINLINE void store_edge_tile(const operands& o, const n_tile& t, range columns,
                                    std::size_t row, std::size_t rows) const {
    store_edge(tile_row_, in_result(o.result, t, columns, row, rows));
  }

  bool contiguous_result_;  // unit stride along the columns' inner loop
  bool has_epilogue_;       // whether sums are scaled, or anything is added to them
  int addends_;
  float scale_;
  tile_activation activate_;  // null where there is none
  // In the scratch.
  float* addend_tiles_;
  float* tile_row_[tile_rows];
};

}  // namespace
}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
