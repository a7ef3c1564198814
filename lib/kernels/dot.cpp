// The contraction kernel: blocks, packing, and tiles of the result in registers.
#include "kernels/dot.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "kernels/dot_loops.hpp"
#include "weft/kernels/dot_blocking.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dot.cpp"
#include "hwy/foreach_target.h"  // must come before hwy-inl.h
#include "kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {
namespace {

using tag = hn::CappedTag<float, max_dot_lanes>;
using vec = hn::Vec<tag>;

// A tile's sums, the vectors of the right operand and one element of the left one are to stay in
// registers: 24 + 3 + 1 of the 32 that AVX-512 and 64-bit Arm have, 12 + 3 + 1 of 16 elsewhere.
constexpr bool has_32_registers = HWY_ARCH_X86 ? HWY_TARGET <= HWY_AVX3 : HWY_ARCH_ARM_A64;
constexpr std::size_t tile_rows = has_32_registers ? 8 : 4;
constexpr std::size_t tile_vectors = 3;
static_assert(tile_rows <= max_tile_rows && tile_vectors * max_dot_lanes <= max_tile_columns);

// A tile's strip of the left operand. Row r's element at depth k is row[r][k * step].
struct left_strip {
  const float* row[tile_rows];
  std::ptrdiff_t step;
};

// A tile's strip of the right operand: at depth k, the tile's columns from data + k * step on.
struct right_strip {
  const float* data;
  std::ptrdiff_t step;
};

// Where a tile goes: row r from row[r] on, there either added to what is there or put in its place.
struct tile_result {
  float* row[tile_rows];
  bool add;
};

template <std::size_t V>
HWY_INLINE vec pick(vec v0, vec v1, vec v2) {
  if constexpr (V == 0)
    return v0;
  else if constexpr (V == 1)
    return v1;
  else
    return v2;
}

// The sums are a pack of parameters, not an array, so that each is a register even where vectors
// have no size that the compiler knows.
template <std::size_t Vectors, std::size_t... R, std::size_t... I, class... Sums>
HWY_INLINE void multiply_add(std::index_sequence<R...>, std::index_sequence<I...>,
                             const left_strip& left, const right_strip& right, std::size_t depth,
                             const tile_result& result, Sums... sums) {
  const tag d;
  const std::size_t lanes = hn::Lanes(d);
  const float* row[]{left.row[R]...};
  const float* b = right.data;
  const std::ptrdiff_t left_step = left.step, right_step = right.step;
  std::ptrdiff_t at = 0;
  for (; depth != 0; --depth, at += left_step, b += right_step) {
    const vec b0 = hn::LoadU(d, b);
    const vec b1 = Vectors > 1 ? hn::LoadU(d, b + lanes) : b0;
    const vec b2 = Vectors > 2 ? hn::LoadU(d, b + 2 * lanes) : b0;
    ((sums = hn::MulAdd(hn::Set(d, row[I / Vectors][at]), pick<I % Vectors>(b0, b1, b2), sums)),
     ...);
  }
  float* const* to = result.row;
  if (result.add) {
    ((sums = hn::Add(sums, hn::LoadU(d, to[I / Vectors] + I % Vectors * lanes))), ...);
  }
  (hn::StoreU(sums, d, to[I / Vectors] + I % Vectors * lanes), ...);
}

template <std::size_t Rows, std::size_t Vectors, class... Sums>
HWY_INLINE void with_sums(const left_strip& left, const right_strip& right, std::size_t depth,
                          const tile_result& result, Sums... sums) {
  if constexpr (sizeof...(Sums) == Rows * Vectors) {
    multiply_add<Vectors>(std::make_index_sequence<Rows>(),
                          std::make_index_sequence<Rows * Vectors>(), left, right, depth, result,
                          sums...);
  } else {
    with_sums<Rows, Vectors>(left, right, depth, result, sums..., hn::Zero(tag()));
  }
}

// Rows x Vectors * Lanes sums over the depth.
template <std::size_t Rows, std::size_t Vectors>
HWY_NOINLINE void tile(const left_strip& left, const right_strip& right, std::size_t depth,
                       const tile_result& result) {
  with_sums<Rows, Vectors>(left, right, depth, result);
}

using tile_function = void (*)(const left_strip&, const right_strip&, std::size_t,
                               const tile_result&);

template <std::size_t Vectors>
tile_function tile_of(std::size_t rows) {
  if (rows == 1) return &tile<1, Vectors>;
  if (rows == 2) return &tile<2, Vectors>;
  if (rows <= 4 || tile_rows == 4) return &tile<4, Vectors>;
  return &tile<tile_rows, Vectors>;
}

// For at least so many rows.
tile_function tile_of(std::size_t rows, std::size_t vectors) {
  if (vectors == 1) return tile_of<1>(rows);
  if (vectors == 2) return tile_of<2>(rows);
  return tile_of<3>(rows);
}

// What is packed at once: `lines` rows or columns of `depth` elements each.
struct strip {
  const float* data;
  const std::ptrdiff_t* line;     // offsets of the lines
  const std::ptrdiff_t* element;  // offsets of the elements of a line
  std::size_t lines, depth;
};

// Lines side by side in memory: as many of them at once as D has lanes.
template <class D>
void pack_adjacent_lines(D d, const strip& s, std::size_t width, float* HWY_RESTRICT packed) {
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t k = 0; k < s.depth; ++k, packed += width) {
    const float* from = s.data + s.line[0] + s.element[k];
    std::size_t j = 0;
    for (; j + lanes <= s.lines; j += lanes) hn::StoreU(hn::LoadU(d, from + j), d, packed + j);
    if (j < s.lines) hn::StoreU(load_n(d, from + j, s.lines - j), d, packed + j);
  }
}

// One by one.
void pack_elements(const strip& s, std::size_t width, float* HWY_RESTRICT packed) {
  for (std::size_t k = 0; k < s.depth; ++k, packed += width) {
    const float* from = s.data + s.element[k];
    for (std::size_t j = 0; j < s.lines; ++j) packed[j] = from[s.line[j]];
  }
}

// Elements side by side in memory: four lines at a time.
void pack_adjacent_elements(strip s, std::size_t width, float* HWY_RESTRICT packed) {
  if constexpr (HWY_TARGET != HWY_SCALAR) {
    const tag d;
    const hn::CappedTag<float, 4> d4;
    const std::size_t lanes = hn::Lanes(d);
    alignas(64) float interleaved[4 * max_dot_lanes];
    for (; s.depth >= lanes; s.depth -= lanes, s.element += lanes, packed += lanes * width) {
      const float* from = s.data + s.element[0];
      for (std::size_t j = 0; j < s.lines; j += 4) {
        // Where fewer than four lines are left, the last one stands in for the others.
        const float* line[4];
        for (std::size_t i = 0; i < 4; ++i) line[i] = from + s.line[std::min(j + i, s.lines - 1)];
        hn::StoreInterleaved4(hn::LoadU(d, line[0]), hn::LoadU(d, line[1]), hn::LoadU(d, line[2]),
                              hn::LoadU(d, line[3]), d, interleaved);
        for (std::size_t i = 0; i < lanes; ++i) {
          hn::StoreU(hn::Load(d4, interleaved + 4 * i), d4, packed + i * width + j);
        }
      }
    }
  }
  pack_elements(s, width, packed);
}

// How many columns share the reading of a row in dot_products.
constexpr std::size_t dot_columns = 4;

// sums[i] = the sum of row[k] * column[i][k], with vectors along k.
HWY_INLINE void dot_products(const float* row, const float* const (&column)[dot_columns],
                             std::size_t depth, float (&sums)[dot_columns]) {
  const tag d;
  const std::size_t lanes = hn::Lanes(d);
  vec sum0 = hn::Zero(d), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  std::size_t k = 0;
  for (; k + lanes <= depth; k += lanes) {
    const vec x = hn::LoadU(d, row + k);
    sum0 = hn::MulAdd(x, hn::LoadU(d, column[0] + k), sum0);
    sum1 = hn::MulAdd(x, hn::LoadU(d, column[1] + k), sum1);
    sum2 = hn::MulAdd(x, hn::LoadU(d, column[2] + k), sum2);
    sum3 = hn::MulAdd(x, hn::LoadU(d, column[3] + k), sum3);
  }
  if (const std::size_t left = depth - k; left != 0) {
    const vec x = load_n(d, row + k, left);
    sum0 = hn::MulAdd(x, load_n(d, column[0] + k, left), sum0);
    sum1 = hn::MulAdd(x, load_n(d, column[1] + k, left), sum1);
    sum2 = hn::MulAdd(x, load_n(d, column[2] + k, left), sum2);
    sum3 = hn::MulAdd(x, load_n(d, column[3] + k, left), sum3);
  }
  sums[0] = hn::GetLane(hn::SumOfLanes(d, sum0));
  sums[1] = hn::GetLane(hn::SumOfLanes(d, sum1));
  sums[2] = hn::GetLane(hn::SumOfLanes(d, sum2));
  sums[3] = hn::GetLane(hn::SumOfLanes(d, sum3));
}

// [first, first + count) of the rows, columns or depth.
struct range {
  std::size_t first, count;
};

// A contraction for one index of its batch loops.
class product {
 public:
  product(const contraction& c, std::byte* scratch)
      : rows_(c.rows),
        columns_(c.columns),
        depth_(c.depth),
        row_count_(static_cast<std::size_t>(rows_.size())),
        column_count_(static_cast<std::size_t>(columns_.size())),
        depth_count_(static_cast<std::size_t>(depth_.size())),
        block_rows_(block_size(row_count_, max_block_rows, max_tile_rows)),
        block_columns_(block_size(column_count_, max_block_columns, max_tile_columns)),
        block_depth_(block_size(depth_count_, max_block_depth, max_dot_lanes)) {
    const dot_scratch at(block_rows_, block_columns_, block_depth_);
    row_left_ = reinterpret_cast<std::ptrdiff_t*>(scratch + at.row_offsets);
    row_result_ = row_left_ + block_rows_;
    column_right_ = reinterpret_cast<std::ptrdiff_t*>(scratch + at.column_offsets);
    column_result_ = column_right_ + block_columns_;
    depth_left_ = reinterpret_cast<std::ptrdiff_t*>(scratch + at.depth_offsets);
    depth_right_ = depth_left_ + block_depth_;
    packed_left_ = reinterpret_cast<float*>(scratch + at.left);
    packed_right_ = reinterpret_cast<float*>(scratch + at.right);
    tile_ = reinterpret_cast<float*>(scratch + at.tile);

    // The left operand is read in place where packing it would not pay: a tile wants one element
    // after the other anyway, and a single column of tiles reads each only once.
    left_in_place_ = depth_.is_single() && (depth_.inner().stride.left == 1 ||
                                            column_count_ <= tile_vectors * hn::Lanes(tag()));
    // The right one, where its lines are vectors already and few tiles would share the packed ones.
    right_in_place_ = depth_.is_single() && row_count_ <= 2 * tile_rows;
    // With few rows, transposing the right operand would cost more than the products.
    along_depth_ = depth_.is_single() && row_count_ <= 4 && depth_.inner().stride.left == 1 &&
                   depth_.inner().stride.right == 1;
    // Tiles end where the innermost loop of the columns does, if that costs no part of a vector.
    cut_ = columns_.inner().extent % static_cast<std::ptrdiff_t>(hn::Lanes(tag())) == 0;
  }

  void run(const float* left, const float* right, float* result) const {
    for (range columns{0, 0}; columns.first < column_count_; columns.first += block_columns_) {
      columns.count = std::min(block_columns_, column_count_ - columns.first);
      find(columns_, &place_in_operands::right, columns, column_right_);
      find(columns_, &place_in_operands::result, columns, column_result_);
      if (along_depth_) {
        multiply_along_depth(left, right, result, columns);
        continue;
      }
      for (range depth{0, 0}; depth.first < depth_count_; depth.first += block_depth_) {
        depth.count = std::min(block_depth_, depth_count_ - depth.first);
        find(depth_, &place_in_operands::left, depth, depth_left_);
        find(depth_, &place_in_operands::right, depth, depth_right_);
        pack_right(right, columns, depth);
        for (range rows{0, 0}; rows.first < row_count_; rows.first += block_rows_) {
          rows.count = std::min(block_rows_, row_count_ - rows.first);
          find(rows_, &place_in_operands::left, rows, row_left_);
          find(rows_, &place_in_operands::result, rows, row_result_);
          if (!left_in_place_) pack_left(left, rows, depth);
          multiply(left, right, result, columns, depth, rows);
        }
      }
    }
  }

 private:
  struct column_tile {
    std::size_t first, count, vectors;  // the first counts from the block's first
    bool adjacent_right, adjacent_result;
    bool right_in_place;
  };

  static void find(const loop_nest& loops, std::ptrdiff_t place_in_operands::*which, range of,
                   std::ptrdiff_t* offsets) {
    loops.offsets(which, static_cast<std::ptrdiff_t>(of.first),
                  static_cast<std::ptrdiff_t>(of.count), offsets);
  }

  // How many of `count` iterations from this one on are one inner loop.
  static std::size_t run_of(const loop_nest& loops, std::size_t from, std::size_t count) {
    return std::min(count, static_cast<std::size_t>(loops.run(static_cast<std::ptrdiff_t>(from))));
  }

  // The tiles of a block of columns lie one after the other, each but the last of whole vectors.
  column_tile tile_at(range columns, std::size_t first) const {
    const std::size_t lanes = hn::Lanes(tag());
    const loop& inner = columns_.inner();
    column_tile t{};
    t.first = first;
    t.count = std::min(tile_vectors * lanes, columns.count - first);
    const std::size_t run = run_of(columns_, columns.first + first, t.count);
    if (cut_) t.count = run;
    t.vectors = (t.count + lanes - 1) / lanes;
    t.adjacent_right = run == t.count && inner.stride.right == 1;
    t.adjacent_result = run == t.count && inner.stride.result == 1;
    t.right_in_place = right_in_place_ && t.adjacent_right && t.count % lanes == 0;
    return t;
  }

  float* packed_tile(const column_tile& t, range depth) const {
    return packed_right_ + t.first * depth.count;
  }

  template <class D>
  void pack(D d, strip s, bool adjacent_lines, std::ptrdiff_t element_stride, range depth,
            std::size_t width, float* packed) const {
    if (adjacent_lines) {
      pack_adjacent_lines(d, s, width, packed);
    } else if (element_stride == 1) {
      for (std::size_t k = 0; k < depth.count; k += s.depth) {
        s.depth = run_of(depth_, depth.first + k, depth.count - k);
        pack_adjacent_elements(s, width, packed + k * width);
        s.element += s.depth;
      }
    } else {
      pack_elements(s, width, packed);
    }
  }

  void pack_right(const float* right, range columns, range depth) const {
    const tag d;
    column_tile t;
    for (std::size_t first = 0; first < columns.count; first += t.count) {
      t = tile_at(columns, first);
      if (t.right_in_place) continue;
      const std::size_t width = t.vectors * hn::Lanes(d);
      float* packed = packed_tile(t, depth);
      if (t.count < width) std::fill_n(packed, width * depth.count, 0.0f);
      pack(d, {right, column_right_ + first, depth_right_, t.count, depth.count}, t.adjacent_right,
           depth_.inner().stride.right, depth, width, packed);
    }
  }

  void pack_left(const float* left, range rows, range depth) const {
    const hn::CappedTag<float, tile_rows> d;
    // A strip is narrower than a cache line. So that lines along the rows are still in the cache
    // for the next strip, all strips advance together by a little of the depth.
    const std::size_t advance = max_dot_lanes;
    for (std::size_t k = 0; k < depth.count; k += advance) {
      const range part{depth.first + k, std::min(advance, depth.count - k)};
      for (std::size_t first = 0; first < rows.count; first += tile_rows) {
        const std::size_t count = std::min(tile_rows, rows.count - first);
        const bool adjacent =
            rows_.inner().stride.left == 1 && run_of(rows_, rows.first + first, count) == count;
        pack(d, {left, row_left_ + first, depth_left_ + k, count, part.count}, adjacent,
             depth_.inner().stride.left, part, tile_rows,
             packed_left_ + first * depth.count + k * tile_rows);
      }
    }
  }

  void multiply_along_depth(const float* left, const float* right, float* result,
                            range columns) const {
    for (std::size_t row = 0; row < row_count_; ++row) {
      const place_in_operands at = rows_.at(static_cast<std::ptrdiff_t>(row));
      for (std::size_t first = 0; first < columns.count; first += dot_columns) {
        const std::size_t count = std::min(dot_columns, columns.count - first);
        const float* column[dot_columns];
        for (std::size_t i = 0; i < dot_columns; ++i) {
          column[i] = right + column_right_[first + std::min(i, count - 1)];
        }
        float sums[dot_columns];
        dot_products(left + at.left, column, depth_count_, sums);
        for (std::size_t i = 0; i < count; ++i) {
          result[at.result + column_result_[first + i]] = sums[i];
        }
      }
    }
  }

  void multiply(const float* left, const float* right, float* result, range columns, range depth,
                range rows) const {
    const std::size_t lanes = hn::Lanes(tag());
    const place_in_operands step = depth_.inner().stride;
    const auto skipped = static_cast<std::ptrdiff_t>(depth.first);
    const bool add = depth.first != 0;
    column_tile t;
    for (std::size_t column = 0; column < columns.count; column += t.count) {
      t = tile_at(columns, column);
      const right_strip b =
          t.right_in_place
              ? right_strip{right + column_right_[column] + skipped * step.right, step.right}
              : right_strip{packed_tile(t, depth), static_cast<std::ptrdiff_t>(t.vectors * lanes)};
      for (std::size_t row = 0; row < rows.count; row += tile_rows) {
        const std::size_t count = std::min(tile_rows, rows.count - row);
        const bool whole = count == tile_rows && t.count == t.vectors * lanes && t.adjacent_result;
        left_strip a;
        tile_result c;
        a.step = left_in_place_ ? step.left : static_cast<std::ptrdiff_t>(tile_rows);
        c.add = whole && add;
        for (std::size_t i = 0; i < tile_rows; ++i) {
          // Rows that a tile has too many repeat the last one.
          const std::size_t r = std::min(i, count - 1);
          a.row[i] = left_in_place_ ? left + row_left_[row + r] + skipped * step.left
                                    : packed_left_ + row * depth.count + r;
          c.row[i] = whole ? result + row_result_[row + i] + column_result_[column]
                           : tile_ + i * max_tile_columns;
        }
        tile_of(count, t.vectors)(a, b, depth.count, c);
        if (!whole) spread(t, row, count, add, result);
      }
    }
  }

  // Puts the tile in the scratch to its places in the result.
  void spread(const column_tile& t, std::size_t row, std::size_t rows, bool add,
              float* result) const {
    const tag d;
    const std::size_t lanes = hn::Lanes(d);
    const std::ptrdiff_t* column = column_result_ + t.first;
    for (std::size_t i = 0; i < rows; ++i) {
      const float* from = tile_ + i * max_tile_columns;
      float* to = result + row_result_[row + i];
      if (t.adjacent_result) {
        to += column[0];
        for (std::size_t j = 0; j < t.count; j += lanes) {
          const std::size_t n = std::min(lanes, t.count - j);
          const vec sum = hn::LoadU(d, from + j);
          store_n(add ? hn::Add(load_n(d, to + j, n), sum) : sum, d, to + j, n);
        }
      } else {
        for (std::size_t j = 0; j < t.count; ++j) {
          to[column[j]] = add ? to[column[j]] + from[j] : from[j];
        }
      }
    }
  }

  const loop_nest& rows_;
  const loop_nest& columns_;
  const loop_nest& depth_;
  std::size_t row_count_, column_count_, depth_count_;
  std::size_t block_rows_, block_columns_, block_depth_;
  bool left_in_place_, right_in_place_, along_depth_, cut_;
  // In the scratch. The offsets are those of the current block.
  std::ptrdiff_t *row_left_, *row_result_, *column_right_, *column_result_;
  std::ptrdiff_t *depth_left_, *depth_right_;
  float *packed_left_, *packed_right_, *tile_;
};

void dot(const call& c) noexcept {
  for (int i = 0; i < c.loops; ++i) {
    if (c.extent[i] == 0 && c.operands[0].stride[i] != 0) return;
  }
  const contraction x(c);
  if (x.depth.size() == 0) return x.write_zeros();
  const product each(x, c.scratch);
  for (std::ptrdiff_t i = 0, n = x.batch.size(); i < n; ++i) {
    const place_in_operands at = x.batch.at(i);
    each.run(x.left + at.left, x.right + at.right, x.result + at.result);
  }
}

}  // namespace

// Highway's tables take no functions that are noexcept, but ones that return them.
void (*DotOfTarget())(const call&) noexcept {
  return &dot;
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::kernels {

HWY_EXPORT(DotOfTarget);

void (*dot_kernel() noexcept)(const call&) noexcept {
  return HWY_DYNAMIC_DISPATCH(DotOfTarget)();
}

}  // namespace weft::kernels
#endif
