// The loops of a contraction, sorted into rows (m), columns (n), depth (k) and batch; and the
// offsets of blocks in its operands.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hwy/base.h"
#include "weft/kernels/dot_blocking.hpp"
#include "weft/kernels/loop_nest.hpp"

namespace weft::kernels {

// [first, first + count) of the batch, rows, columns or depth.
struct range {
  std::size_t first, count;
  std::size_t end() const { return first + count; }
  bool operator==(const range&) const = default;
};

// The operands of a contraction's loops: the result, those that give its rows and its columns, and
// the addends.
enum dot_operand : int { of_result, of_lhs, of_rhs, of_a, of_b };

// The offsets of iterations in one operand, in elements. Those of a single loop are computed:
// filling a table takes as long as a small product.
class offset_list {
 public:
  offset_list() = default;
  offset_list(std::ptrdiff_t first, std::ptrdiff_t step) : first_(first), step_(step) {}
  explicit offset_list(const std::ptrdiff_t* table) : table_(table) {}

  std::ptrdiff_t operator[](std::size_t i) const {
    return table_ == nullptr ? first_ + static_cast<std::ptrdiff_t>(i) * step_ : table_[i];
  }

  // Pointers at these offsets from an origin. Those after the first `count` repeat the last one.
  template <class T, std::size_t N>
  void pointers(T* origin, std::size_t count, T* (&to)[N]) const {
    for (std::size_t i = 0; i < N; ++i) to[i] = origin + (*this)[std::min(i, count - 1)];
  }

  // The offsets from the i-th iteration on.
  offset_list from(std::size_t i) const {
    return table_ == nullptr ? offset_list((*this)[i], step_) : offset_list(table_ + i);
  }

 private:
  const std::ptrdiff_t* table_ = nullptr;
  std::ptrdiff_t first_ = 0, step_ = 0;
};

inline bool is_single(const loop_nest& n) {
  return n.loops == 1;
}

// An offset in each operand.
struct operand_offsets {
  std::ptrdiff_t in[max_operands];
};

// The offsets of the point with this index.
HWY_INLINE operand_offsets offsets_at(const loop_nest& n, std::ptrdiff_t index) {
  operand_offsets p{};
  if (index == 0) return p;  // saves small products the divisions
  for (int l = n.last(); l >= 0; --l) {
    // The outermost loop takes the remaining index, without a division.
    const std::ptrdiff_t here = l == 0 ? index : index % n.extent[l];
    if (l > 0) index /= n.extent[l];
    for (int o = 0; o < max_operands; ++o) p.in[o] += here * n.stride[o][l];
  }
  return p;
}

// How many of `count` points from `first` on are within one run of the inner loop.
inline std::size_t run_within(const loop_nest& n, std::size_t first, std::size_t count) {
  if (is_single(n)) return count;
  const auto length = static_cast<std::size_t>(n.extent[n.last()]);
  return std::min(count, length - (first == 0 ? 0 : first % length));
}

// Writes the offsets of these points in one operand to a table.
inline void fill_table(const loop_nest& n, dot_operand o, range points, std::ptrdiff_t* table) {
  for (std::size_t done = 0; done < points.count;) {
    const std::size_t first = points.first + done;
    const std::size_t end = done + run_within(n, first, points.count - done);
    std::ptrdiff_t offset = offsets_at(n, static_cast<std::ptrdiff_t>(first)).in[o];
    for (; done < end; offset += n.inner_stride(o)) table[done++] = offset;
  }
}

// These offsets; `table` has room for them. Inlined: a call would return them in memory, which
// slows down small products.
HWY_INLINE offset_list offsets_of(const loop_nest& n, dot_operand o, range points,
                                  std::ptrdiff_t* table) {
  const std::ptrdiff_t step = n.inner_stride(o);
  if (is_single(n)) return {static_cast<std::ptrdiff_t>(points.first) * step, step};
  fill_table(n, o, points, table);
  return offset_list(table);
}

// Whether the points are an operand's elements from its first one on, in any order.
inline bool is_dense(const loop_nest& n, int operand) {
  std::ptrdiff_t next = 1;
  for (int found = 0, l; found < n.loops; ++found, next *= n.extent[l]) {
    for (l = n.last(); l >= 0 && n.stride[operand][l] != next;) --l;
    if (l < 0) return false;
  }
  return true;
}

// The length of the runs of a nest's innermost loop.
HWY_INLINE std::size_t run_of(const loop_nest& n) {
  return static_cast<std::size_t>(n.extent[n.last()]);
}

// The strides of a call in the order of dot_operand.
struct dot_strides {
  const call& c;
  int rhs;  // the operand of the call that gives the columns

  std::ptrdiff_t operator()(int o, int l) const {
    const int in_call[]{0, 3 - rhs, rhs, 3, 4};
    return c.operands[in_call[o]].stride[l];
  }
};

// Which of a contraction's loops are of which kind, as bits.
struct dot_loop_kinds {
  unsigned batch = 0, rows = 0, columns = 0, depth = 0;

  HWY_INLINE explicit dot_loop_kinds(const dot_strides& stride) {
    for (int l = 0; l < stride.c.loops; ++l)
      (stride(of_result, l) == 0 ? depth
       : stride(of_rhs, l) == 0  ? rows
       : stride(of_lhs, l) == 0  ? columns
                                 : batch) |= 1u << l;
  }
};

struct contraction {
  loop_nest batch, rows, columns, depth;  // each of at least one loop
  const float* lhs;                       // the operand that gives the rows
  const float* rhs;                       // the one that gives the columns, unless it is packed
  stored_type packed;                     // see operand
  float* result;
  const float *a, *b;  // the addends; null where there is none

  bool is_packed() const { return packed != operand::unpacked; }
  // There is no second addend without a first.
  int addends() const { return (a != nullptr) + (b != nullptr); }

  explicit contraction(const call& c) : contraction(dot_strides{c, rhs_operand(c)}) {}

 private:
  explicit contraction(const dot_strides& of)
      : contraction(of, dot_loop_kinds(of), [&of](int l) { return of(of_result, l); }) {}
  template <class Key>
  contraction(const dot_strides& of, const dot_loop_kinds& kinds, Key by_result)
      : batch(nest(of, kinds.batch, by_result)),
        rows(nest(of, kinds.rows, by_result)),
        columns(nest(of, kinds.columns, by_result)),
        // A packed rhs is in the order of the loops, whatever its strides are.
        depth(nest(
            of, kinds.depth, [&of](int l) { return of(of_lhs, l) + of(of_rhs, l); },
            of.c.operands[of.rhs].is_packed() ? of_rhs : max_operands)),
        lhs(static_cast<const float*>(of.c.operands[3 - of.rhs].data)),
        rhs(static_cast<const float*>(of.c.operands[of.rhs].data)),
        packed(of.c.operands[of.rhs].packed),
        result(static_cast<float*>(of.c.operands[0].data)),
        a(static_cast<const float*>(of.c.operands[3].data)),
        b(static_cast<const float*>(of.c.operands[4].data)) {}

  template <class Key>
  HWY_INLINE static loop_nest nest(const dot_strides& of, unsigned which, Key key,
                                   int operands = max_operands) {
    loop_nest n;
    coalesce_into(n, of.c.loops, of.c.extent, which, key, of, operands);
    if (n.loops == 0) n.push({1, {}});
    return n;
  }
};

// A cache of offsets: with a single block, every index of the batch needs the same ones. Inlined,
// as some compilers would make calls, which slow down small products.
class block_offsets {
 public:
  // Offsets of more than one loop are stored in the scratch, at most `capacity` of each kind.
  block_offsets(const contraction& x, const dot_blocks& capacity, const dot_scratch& at,
                std::byte* scratch)
      : x_(x), capacity_(capacity) {
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
