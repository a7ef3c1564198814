// The result of a contraction: its epilogue, and tiles at its edges.
#if defined(WEFT_KERNELS_GEMM_RESULTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_GEMM_RESULTS_INL_H_
#undef WEFT_KERNELS_GEMM_RESULTS_INL_H_
#else
#define WEFT_KERNELS_GEMM_RESULTS_INL_H_
#endif

#include <algorithm>
#include <cstddef>

#include "kernels/edge_tile-inl.h"
#include "kernels/epilogue-inl.h"
#include "kernels/gemm_operands-inl.h"
#include "kernels/n_tiles-inl.h"
#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {
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
    const dot_scratch at(plan_.capacity.rows, plan_.capacity.columns, plan_.capacity.depth);
    offset_list(0, max_tile_columns)
        .pointers(reinterpret_cast<float*>(c.scratch + at.tile), tile_rows, tile_row_);
    addend_tiles_ = reinterpret_cast<float*>(c.scratch + at.addends);
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
