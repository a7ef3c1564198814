// The offsets of a block's rows, columns and depth in the operands of a contraction.
#pragma once

#include <cstddef>

#include "kernels/dot_loops.hpp"

namespace weft::kernels {

// A cache of offsets: with a single block, every index of the batch needs the same ones. Inlined,
// as some compilers would make calls, which slow down small products.
class block_offsets {
 public:
  // Offsets of more than one loop are stored in the scratch, at most `capacity` of each kind.
  block_offsets(const contraction& x, const dot_blocks& capacity, std::byte* scratch)
      : x_(x), capacity_(capacity) {
    const dot_scratch at(capacity.rows, capacity.columns, capacity.depth);
    row_table_ = reinterpret_cast<std::ptrdiff_t*>(scratch + at.row_offsets);
    column_table_ = reinterpret_cast<std::ptrdiff_t*>(scratch + at.column_offsets);
    depth_table_ = reinterpret_cast<std::ptrdiff_t*>(scratch + at.depth_offsets);
  }

  struct row_offsets {
    offset_list lhs, result, addend[2];
  };
  struct column_offsets {
    offset_list rhs, result, addend[2];
  };
  struct depth_offsets {
    offset_list lhs, rhs;
  };

  // The offsets computed last.
  const row_offsets& rows() const { return rows_; }
  const column_offsets& columns() const { return columns_; }
  const depth_offsets& depth() const { return depth_; }

  HWY_INLINE void compute_rows(range rows) {
    if (rows == cached_rows_) return;
    cached_rows_ = rows;
    const loop_nest& l = x_.rows;
    const std::size_t capacity = capacity_.rows;
    rows_.lhs = offsets_of(l, of_lhs, rows, row_table_);
    rows_.result = offsets_of(l, of_result, rows, row_table_ + capacity);
    if (x_.a != nullptr) rows_.addend[0] = offsets_of(l, of_a, rows, row_table_ + 2 * capacity);
    if (x_.b != nullptr) rows_.addend[1] = offsets_of(l, of_b, rows, row_table_ + 3 * capacity);
  }

  HWY_INLINE void compute_columns(range columns) {
    if (columns == cached_columns_) return;
    cached_columns_ = columns;
    const loop_nest& l = x_.columns;
    const std::size_t capacity = capacity_.columns;
    columns_.rhs = offsets_of(l, of_rhs, columns, column_table_);
    columns_.result = offsets_of(l, of_result, columns, column_table_ + capacity);
    if (x_.a != nullptr)
      columns_.addend[0] = offsets_of(l, of_a, columns, column_table_ + 2 * capacity);
    if (x_.b != nullptr)
      columns_.addend[1] = offsets_of(l, of_b, columns, column_table_ + 3 * capacity);
  }

  void compute_depth(range depth) {
    if (depth == cached_depth_) return;
    cached_depth_ = depth;
    depth_.lhs = offsets_of(x_.depth, of_lhs, depth, depth_table_);
    depth_.rhs = offsets_of(x_.depth, of_rhs, depth, depth_table_ + capacity_.depth);
  }

 private:
  const contraction& x_;
  dot_blocks capacity_;
  std::ptrdiff_t *row_table_, *column_table_, *depth_table_;
  range cached_rows_{0, 0}, cached_columns_{0, 0}, cached_depth_{0, 0};
  row_offsets rows_;
  column_offsets columns_;
  depth_offsets depth_;
};

}  // namespace weft::kernels
