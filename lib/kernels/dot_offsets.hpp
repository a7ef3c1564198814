// The offsets of a block's rows, columns and depth in the operands of a contraction.
#pragma once

#include <cstddef>

#include "kernels/dot_loops.hpp"

namespace weft::kernels {

// A cache of offsets: with a single block, every index of the batch needs the same ones. Inlined,
// as some compilers would make calls, which slow down small products.
class block_offsets {
 public:
  // Offsets of more than one loop are stored in the scratch, at most `room` of each kind.
  block_offsets(const contraction& x, const dot_blocks& room, std::byte* scratch)
      : x_(x), room_(room) {
    const dot_scratch at(room.rows, room.columns, room.depth);
    row_table_ = reinterpret_cast<std::ptrdiff_t*>(scratch + at.row_offsets);
    column_table_ = reinterpret_cast<std::ptrdiff_t*>(scratch + at.column_offsets);
    depth_table_ = reinterpret_cast<std::ptrdiff_t*>(scratch + at.depth_offsets);
  }

  struct of_rows {
    offset_list left, result, addend[2];
  };
  struct of_columns {
    offset_list right, result, addend[2];
  };
  struct of_depth {
    offset_list left, right;
  };

  // The offsets computed last.
  const of_rows& rows() const { return rows_; }
  const of_columns& columns() const { return columns_; }
  const of_depth& depth() const { return depth_; }

  HWY_INLINE void find_rows(range rows) {
    if (rows == found_rows_) return;
    found_rows_ = rows;
    const loop_nest& l = x_.rows;
    const std::size_t room = room_.rows;
    rows_.left = l.offsets(&place_in_operands::left, rows, row_table_);
    rows_.result = l.offsets(&place_in_operands::result, rows, row_table_ + room);
    if (x_.a != nullptr)
      rows_.addend[0] = l.offsets(&place_in_operands::a, rows, row_table_ + 2 * room);
    if (x_.b != nullptr)
      rows_.addend[1] = l.offsets(&place_in_operands::b, rows, row_table_ + 3 * room);
  }

  HWY_INLINE void find_columns(range columns) {
    if (columns == found_columns_) return;
    found_columns_ = columns;
    const loop_nest& l = x_.columns;
    const std::size_t room = room_.columns;
    columns_.right = l.offsets(&place_in_operands::right, columns, column_table_);
    columns_.result = l.offsets(&place_in_operands::result, columns, column_table_ + room);
    if (x_.a != nullptr)
      columns_.addend[0] = l.offsets(&place_in_operands::a, columns, column_table_ + 2 * room);
    if (x_.b != nullptr)
      columns_.addend[1] = l.offsets(&place_in_operands::b, columns, column_table_ + 3 * room);
  }

  void find_depth(range depth) {
    if (depth == found_depth_) return;
    found_depth_ = depth;
    depth_.left = x_.depth.offsets(&place_in_operands::left, depth, depth_table_);
    depth_.right = x_.depth.offsets(&place_in_operands::right, depth, depth_table_ + room_.depth);
  }

 private:
  const contraction& x_;
  dot_blocks room_;
  std::ptrdiff_t *row_table_, *column_table_, *depth_table_;
  range found_rows_{0, 0}, found_columns_{0, 0}, found_depth_{0, 0};
  of_rows rows_;
  of_columns columns_;
  of_depth depth_;
};

}  // namespace weft::kernels
