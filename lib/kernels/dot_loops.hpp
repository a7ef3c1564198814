// The loops of a contraction, sorted into rows (m), columns (n), depth (k) and batch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "hwy/base.h"
#include "weft/kernels/call.hpp"
#include "weft/kernels/dot_blocking.hpp"

namespace weft::kernels {

// [first, first + count) of the batch, rows, columns or depth.
struct range {
  std::size_t first, count;
  std::size_t end() const { return first + count; }
  bool operator==(const range&) const = default;
};

// Offsets or strides, in elements, in the result, in the operands that give its rows (lhs) and its
// columns (rhs), and in the addends.
struct operand_offsets {
  std::ptrdiff_t result, lhs, rhs, a, b;
};

struct loop {
  std::ptrdiff_t extent;
  operand_offsets stride;
};

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

// A loop nest, the innermost loop last.
class contraction_loops {
 public:
  // The other loops stay uninitialized: setting them would slow down small products.
  contraction_loops() { loops_[0] = {1, {}}; }

  loop& push_back() { return loops_[count_++]; }

  // Sorts the loops, the largest strides outermost, and coalesces those that iterate over every
  // operand like one loop.
  template <class Key>
  void sort_and_coalesce(Key key) {
    if (is_single()) return;
    std::sort(loops_, loops_ + count_,
              [key](const loop& x, const loop& y) { return key(x) > key(y); });
    int last = 0;
    for (int i = 1; i < count_; ++i) {
      const loop& l = loops_[i];
      loop& outer = loops_[last];
      const auto continues = [&](std::ptrdiff_t operand_offsets::*s) {
        return outer.stride.*s == l.extent * l.stride.*s;
      };
      if (continues(&operand_offsets::result) && continues(&operand_offsets::lhs) &&
          continues(&operand_offsets::rhs) && continues(&operand_offsets::a) &&
          continues(&operand_offsets::b)) {
        outer = {outer.extent * l.extent, l.stride};
      } else {
        loops_[++last] = l;
      }
    }
    count_ = last + 1;
  }

  // A nest without loops runs once.
  const loop& inner() const { return loops_[count_ == 0 ? 0 : count_ - 1]; }
  bool is_single() const { return count_ <= 1; }
  std::span<const loop> all() const { return {loops_, static_cast<std::size_t>(count_)}; }

  std::ptrdiff_t size() const {
    std::ptrdiff_t n = 1;
    for (int i = 0; i < count_; ++i) n *= loops_[i].extent;
    return n;
  }

  // The offsets of the iteration with this index.
  HWY_INLINE operand_offsets at(std::ptrdiff_t index) const {
    operand_offsets p{};
    if (index == 0) return p;  // saves small products the divisions
    for (int i = count_ - 1; i >= 0; --i) {
      const auto& [extent, stride] = loops_[i];
      // The outermost loop takes the remaining index, without a division.
      const std::ptrdiff_t here = i == 0 ? index : index % extent;
      if (i > 0) index /= extent;
      p.result += here * stride.result;
      p.lhs += here * stride.lhs;
      p.rhs += here * stride.rhs;
      p.a += here * stride.a;
      p.b += here * stride.b;
    }
    return p;
  }

  // How many of `count` iterations from `first` on are within one run of the inner loop.
  std::size_t run(std::size_t first, std::size_t count) const {
    if (is_single()) return count;
    return std::min(count, static_cast<std::size_t>(run(static_cast<std::ptrdiff_t>(first))));
  }

  // The offsets of these iterations in one operand; `table` has room for them. Inlined: a call
  // would return them in memory, which slows down small products.
  HWY_INLINE offset_list offsets(std::ptrdiff_t operand_offsets::*which, range of,
                                 std::ptrdiff_t* table) const {
    const std::ptrdiff_t step = inner().stride.*which;
    const auto first = static_cast<std::ptrdiff_t>(of.first);
    if (is_single()) return {first * step, step};
    fill(which, first, static_cast<std::ptrdiff_t>(of.count), table);
    return offset_list(table);
  }

 private:
  // How many iterations remain, with this one, in its run of the inner loop.
  std::ptrdiff_t run(std::ptrdiff_t index) const {
    return inner().extent - (index == 0 ? 0 : index % inner().extent);
  }

  void fill(std::ptrdiff_t operand_offsets::*which, std::ptrdiff_t first, std::ptrdiff_t count,
            std::ptrdiff_t* table) const {
    const std::ptrdiff_t step = inner().stride.*which;
    for (std::ptrdiff_t done = 0; done < count;) {
      const std::ptrdiff_t n = std::min(count - done, run(first + done));
      std::ptrdiff_t offset = at(first + done).*which;
      for (const std::ptrdiff_t end = done + n; done < end; offset += step) table[done++] = offset;
    }
  }

  loop loops_[max_loops];
  int count_ = 0;
};

// A tile of columns: `count` of them, in vectors of which the last may be partial.
struct tile_extent {
  std::size_t vectors, count;
  bool in_one_run;  // within one run of the inner loop
};

// The tile that begins at column `first` of those before `end`. Tiles are consecutive, each but the
// last of full vectors; they end where the inner loop does if its extent is a multiple of the
// lanes. Four vectors make two tiles of two: with three and one, the single vector would do fewer
// products for each element of the lhs.
HWY_INLINE tile_extent extent_of_tile(const contraction_loops& columns, std::size_t first,
                                      std::size_t end, std::size_t lanes,
                                      std::size_t most_vectors) {
  const std::size_t in_one_run = columns.run(first, end - first);
  const bool aligned = columns.inner().extent % static_cast<std::ptrdiff_t>(lanes) == 0;
  const std::size_t remaining = aligned ? in_one_run : end - first;
  const std::size_t vectors = (remaining + lanes - 1) / lanes;
  tile_extent t{};
  t.vectors = vectors == 4 ? 2 : std::min(vectors, most_vectors);
  t.count = std::min(t.vectors * lanes, remaining);
  t.in_one_run = t.count <= in_one_run;
  return t;
}

struct contraction {
  contraction_loops batch, rows, columns, depth;
  const float* lhs;  // the operand that gives the rows
  const float* rhs;  // the one that gives the columns
  float* result;
  const float *a, *b;  // the addends; null where there is none

  // There is no second addend without a first.
  int addends() const { return (a != nullptr) + (b != nullptr); }

  explicit contraction(const call& c) : contraction(c, rhs_operand(c)) {
    const auto by_result = [](const loop& l) { return l.stride.result; };
    batch.sort_and_coalesce(by_result);
    rows.sort_and_coalesce(by_result);
    columns.sort_and_coalesce(by_result);
    depth.sort_and_coalesce([](const loop& l) { return l.stride.lhs + l.stride.rhs; });
  }

 private:
  contraction(const call& c, int rhs)
      : lhs(static_cast<const float*>(c.operands[3 - rhs].data)),
        rhs(static_cast<const float*>(c.operands[rhs].data)),
        result(static_cast<float*>(c.operands[0].data)),
        a(static_cast<const float*>(c.operands[3].data)),
        b(static_cast<const float*>(c.operands[4].data)) {
    for (int i = 0; i < c.loops; ++i) {
      if (c.extent[i] == 1) continue;
      const std::ptrdiff_t result_stride = c.operands[0].stride[i];
      const std::ptrdiff_t lhs_stride = c.operands[3 - rhs].stride[i];
      const std::ptrdiff_t rhs_stride = c.operands[rhs].stride[i];
      loop& l = (result_stride == 0 ? depth
                 : rhs_stride == 0  ? rows
                 : lhs_stride == 0  ? columns
                                    : batch)
                    .push_back();
      l.extent = c.extent[i];
      l.stride = {.result = result_stride,
                  .lhs = lhs_stride,
                  .rhs = rhs_stride,
                  .a = c.operands[3].stride[i],
                  .b = c.operands[4].stride[i]};
    }
  }
};

}  // namespace weft::kernels
