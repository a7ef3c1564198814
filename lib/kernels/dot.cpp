// The contraction kernel: blocks, packing, and tiles of the result in registers.
#include "kernels/dot.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "hwy/cache_control.h"
#include "kernels/dot_loops.hpp"
#include "weft/kernels/dot_blocking.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dot.cpp"
#include "hwy/foreach_target.h"  // must come before hwy-inl.h
#include "kernels/dot_end-inl.h"
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
  std::ptrdiff_t ahead;  // so far ahead it is fetched from the second level of cache
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

constexpr std::size_t cache_line = 64 / sizeof(float);

// Asks for `count` floats, while others are computed with.
HWY_INLINE void fetch(const float* p, std::size_t count) {
  for (std::size_t i = 0; i < count; i += cache_line) hwy::Prefetch(p + i);
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
  [[maybe_unused]] const std::ptrdiff_t ahead = right.ahead;
  std::ptrdiff_t at = 0;
  for (; depth != 0; --depth, at += left_step, b += right_step) {
    const vec b0 = hn::LoadU(d, b);
    const vec b1 = Vectors > 1 ? hn::LoadU(d, b + lanes) : b0;
    const vec b2 = Vectors > 2 ? hn::LoadU(d, b + 2 * lanes) : b0;
    // Narrower tiles are the last of a panel, or alone and soon in the first level anyway.
    if constexpr (Vectors == tile_vectors) fetch(b + ahead, Vectors * lanes);
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

// A vector without a size that the compiler knows is not put together from halves.
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

// The four elements from `from` on of every fourth line, one line in each block of 128 bits.
template <std::size_t Lanes>
HWY_INLINE auto load_blocks(const float* from, const std::ptrdiff_t* line) {
  const hn::CappedTag<float, Lanes> d;
  if constexpr (Lanes <= 4) {
    return hn::LoadU(d, from + line[0]);
  } else {
    return hn::Combine(d, load_blocks<Lanes / 2>(from, line + Lanes / 2),
                       load_blocks<Lanes / 2>(from, line));
  }
}

// Elements side by side in memory: as many lines at once as a vector has lanes, four elements of
// each. Every block of 128 bits is transposed by itself.
template <class D>
void pack_adjacent_elements(D d, strip s, std::size_t width, float* HWY_RESTRICT packed) {
  constexpr std::size_t lanes = hn::MaxLanes(D());
  const hn::Repartition<std::uint64_t, D> pairs;
  for (; s.depth >= 4; s.depth -= 4, s.element += 4, packed += 4 * width) {
    const float* from = s.data + s.element[0];
    for (std::size_t j = 0; j < s.lines; j += lanes) {
      // Where fewer lines are left, the last one stands in for the others.
      std::ptrdiff_t last[lanes];
      const std::ptrdiff_t* line = s.line + j;
      if (j + lanes > s.lines) {
        for (std::size_t i = 0; i < lanes; ++i) last[i] = s.line[std::min(j + i, s.lines - 1)];
        line = last;
      }
      const auto v0 = load_blocks<lanes>(from, line);
      const auto v1 = load_blocks<lanes>(from, line + 1);
      const auto v2 = load_blocks<lanes>(from, line + 2);
      const auto v3 = load_blocks<lanes>(from, line + 3);
      const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, v0, v1));
      const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, v2, v3));
      const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, v0, v1));
      const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, v2, v3));
      float* to = packed + j;
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, to);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, to + width);
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, to + 2 * width);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, to + 3 * width);
    }
  }
  pack_elements(s, width, packed);
}

#else

template <class D>
void pack_adjacent_elements(D, const strip& s, std::size_t width, float* HWY_RESTRICT packed) {
  pack_elements(s, width, packed);
}

#endif

// How many columns share the reading of a row in dot_products.
constexpr std::size_t dot_columns = 4;

// sums[i] = the sum of row[k] * column[i][k], with vectors along k.
HWY_INLINE void dot_products(const float* row, const float* const (&column)[dot_columns],
                             std::size_t depth, float* sums) {
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

// As many elements of the result are half of a first level of cache.
constexpr std::size_t max_close_result = 6 * 1024;

// [first, first + count) of the rows, columns or depth.
struct range {
  std::size_t first, count;
  bool operator==(const range&) const = default;
};

// Where one index of the batch loops is.
struct operands {
  const float *left, *right;
  float* result;
  const float* addend[2];
};

// A contraction for each index of its batch loops.
class product {
 public:
  product(const contraction& c, float scale, op then, std::byte* scratch)
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
    for (std::size_t i = 0; i < 2; ++i) {
      row_addend_[i] = row_result_ + (i + 1) * block_rows_;
      column_addend_[i] = column_result_ + (i + 1) * block_columns_;
    }
    depth_left_ = reinterpret_cast<std::ptrdiff_t*>(scratch + at.depth_offsets);
    depth_right_ = depth_left_ + block_depth_;
    packed_left_ = reinterpret_cast<float*>(scratch + at.left);
    packed_right_ = reinterpret_cast<float*>(scratch + at.right);
    tile_ = reinterpret_cast<float*>(scratch + at.tile);
    addends_ = reinterpret_cast<float*>(scratch + at.addends);

    // The left operand is read in place where packing it would not pay: a tile wants one element
    // after the other anyway, and a single vector of columns does too little with each.
    left_in_place_ = depth_.is_single() &&
                     (depth_.inner().stride.left == 1 || column_count_ <= hn::Lanes(tag()));
    // The right one, where its lines are vectors already and few tiles would share the packed ones.
    right_in_place_ = depth_.is_single() && row_count_ <= 2 * tile_rows;
    // With few rows, transposing the right operand would cost more than the products.
    along_depth_ = depth_.is_single() && row_count_ <= 4 && depth_.inner().stride.left == 1 &&
                   depth_.inner().stride.right == 1;
    // Tiles end where the innermost loop of the columns does, if that costs no part of a vector.
    cut_ = columns_.inner().extent % static_cast<std::ptrdiff_t>(hn::Lanes(tag())) == 0;

    // A small result is in the first level of cache as it is.
    fetch_result_ =
        static_cast<std::size_t>(c.batch.size()) * row_count_ * column_count_ > max_close_result;

    has_addends_ = c.a != nullptr || c.b != nullptr;
    scale_ = scale;
    end_ = scale == 1 && !has_addends_ && then == op::copy ? nullptr : tile_end_of(then);
  }

  void run(const operands& o) {
    for (range columns{0, 0}; columns.first < column_count_; columns.first += block_columns_) {
      columns.count = std::min(block_columns_, column_count_ - columns.first);
      find_columns(columns);
      if (along_depth_) {
        find_rows({0, row_count_});
        multiply_along_depth(o, columns);
        continue;
      }
      for (range depth{0, 0}; depth.first < depth_count_; depth.first += block_depth_) {
        depth.count = std::min(block_depth_, depth_count_ - depth.first);
        find_depth(depth);
        pack_right(o.right, columns, depth);
        for (range rows{0, 0}; rows.first < row_count_; rows.first += block_rows_) {
          rows.count = std::min(block_rows_, row_count_ - rows.first);
          find_rows(rows);
          if (!left_in_place_) pack_left(o.left, rows, depth);
          multiply(o, columns, depth, rows);
        }
      }
    }
  }

 private:
  struct column_tile {
    std::size_t first, count, vectors;  // the first counts from the block's first
    bool one_run;                       // all of one inner loop
    bool adjacent_right, adjacent_result;
    bool right_in_place;
  };

  static void find(const loop_nest& loops, std::ptrdiff_t place_in_operands::*which, range of,
                   std::ptrdiff_t* offsets) {
    loops.offsets(which, static_cast<std::ptrdiff_t>(of.first),
                  static_cast<std::ptrdiff_t>(of.count), offsets);
  }

  // The offsets of a block are kept: where there is but one, every index of the batch needs them.
  void find_rows(range rows) {
    if (rows == found_rows_) return;
    found_rows_ = rows;
    find(rows_, &place_in_operands::left, rows, row_left_);
    find(rows_, &place_in_operands::result, rows, row_result_);
    if (!has_addends_) return;
    find(rows_, &place_in_operands::a, rows, row_addend_[0]);
    find(rows_, &place_in_operands::b, rows, row_addend_[1]);
  }

  void find_columns(range columns) {
    if (columns == found_columns_) return;
    found_columns_ = columns;
    find(columns_, &place_in_operands::right, columns, column_right_);
    find(columns_, &place_in_operands::result, columns, column_result_);
    if (!has_addends_) return;
    find(columns_, &place_in_operands::a, columns, column_addend_[0]);
    find(columns_, &place_in_operands::b, columns, column_addend_[1]);
  }

  void find_depth(range depth) {
    if (depth == found_depth_) return;
    found_depth_ = depth;
    find(depth_, &place_in_operands::left, depth, depth_left_);
    find(depth_, &place_in_operands::right, depth, depth_right_);
  }

  // How many of `count` iterations from this one on are one inner loop.
  static std::size_t run_of(const loop_nest& loops, std::size_t from, std::size_t count) {
    if (loops.is_single()) return count;
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
    t.one_run = run == t.count;
    t.adjacent_right = t.one_run && inner.stride.right == 1;
    t.adjacent_result = t.one_run && inner.stride.result == 1;
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
        pack_adjacent_elements(d, s, width, packed + k * width);
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

  void multiply_along_depth(const operands& o, range columns) const {
    column_tile t;
    for (std::size_t first = 0; first < columns.count; first += t.count) {
      t = tile_at(columns, first);
      for (std::size_t row = 0; row < row_count_; ++row) {
        for (std::size_t j = 0; j < t.count; j += dot_columns) {
          const float* column[dot_columns];
          for (std::size_t i = 0; i < dot_columns; ++i) {
            column[i] = o.right + column_right_[first + std::min(j + i, t.count - 1)];
          }
          // A tile has room for whole vectors, and so for what is too much here.
          dot_products(o.left + row_left_[row], column, depth_count_,
                       tile_ + row * max_tile_columns + j);
        }
      }
      float* rows[max_tile_rows];
      for (std::size_t i = 0; i < row_count_; ++i) rows[i] = tile_ + i * max_tile_columns;
      if (end_ != nullptr) end(o, t, 0, row_count_, rows);
      spread(o, t, 0, row_count_);
    }
  }

  void multiply(const operands& o, range columns, range depth, range rows) const {
    const std::size_t lanes = hn::Lanes(tag());
    const place_in_operands step = depth_.inner().stride;
    const auto skipped = static_cast<std::ptrdiff_t>(depth.first);
    const bool add = depth.first != 0;
    const bool last = depth.first + depth.count == depth_count_;
    for (std::size_t row = 0; row < rows.count; row += tile_rows) {
      const std::size_t count = std::min(tile_rows, rows.count - row);
      left_strip a;
      a.step = left_in_place_ ? step.left : static_cast<std::ptrdiff_t>(tile_rows);
      for (std::size_t i = 0; i < tile_rows; ++i) {
        // Rows that a tile has too many repeat the last one.
        const std::size_t r = std::min(i, count - 1);
        a.row[i] = left_in_place_ ? o.left + row_left_[row + r] + skipped * step.left
                                  : packed_left_ + row * depth.count + r;
      }
      column_tile t;
      for (std::size_t column = 0; column < columns.count; column += t.count) {
        t = tile_at(columns, column);
        const auto width = static_cast<std::ptrdiff_t>(t.vectors * lanes);
        // What is fetched ahead of a packed strip is the next one, or still within the scratch.
        const right_strip b =
            t.right_in_place
                ? right_strip{o.right + column_right_[column] + skipped * step.right, step.right, 0}
                : right_strip{packed_tile(t, depth), width, 8 * width};
        const bool whole = count == tile_rows && t.count == t.vectors * lanes && t.adjacent_result;
        tile_result c;
        c.add = whole && add;
        for (std::size_t i = 0; i < tile_rows; ++i) {
          if (whole) {
            c.row[i] = o.result + row_result_[row + i] + column_result_[column];
            if (fetch_result_) fetch(c.row[i], t.count);
          } else {
            c.row[i] = tile_ + i * max_tile_columns;
          }
        }
        tile_of(count, t.vectors)(a, b, depth.count, c);
        if (!whole && add) add_result(o, t, row, count);
        if (last && end_ != nullptr) end(o, t, row, count, c.row);
        if (!whole) spread(o, t, row, count);
      }
    }
  }

  // Applies scale, addends and `then` to the sums of a tile.
  void end(const operands& o, const column_tile& t, std::size_t row, std::size_t rows,
           float* const* sums) const {
    tile_end e;
    e.rows = rows;
    e.columns = t.count;
    e.scale = scale_;
    std::copy_n(sums, rows, e.sums);
    if (has_addends_) {
      const place_in_operands& stride = columns_.inner().stride;
      e.addend[0] = rows_of_addend(o, 0, stride.a, t, row, rows);
      e.addend[1] = rows_of_addend(o, 1, stride.b, t, row, rows);
    }
    end_(e);
  }

  // Where the tile's rows of an addend are; a copy where they have strides.
  addend_rows rows_of_addend(const operands& o, std::size_t which, std::ptrdiff_t stride,
                             const column_tile& t, std::size_t row, std::size_t rows) const {
    addend_rows a;
    if (o.addend[which] == nullptr) return a;
    const std::ptrdiff_t* column = column_addend_[which] + t.first;
    a.broadcast = t.one_run && stride == 0;
    for (std::size_t i = 0; i < rows; ++i) {
      const float* from = o.addend[which] + row_addend_[which][row + i];
      if (t.one_run && (stride == 0 || stride == 1)) {
        a.row[i] = from + column[0];
      } else {
        float* to = addends_ + (which * max_tile_rows + i) * max_tile_columns;
        for (std::size_t j = 0; j < t.count; ++j) to[j] = from[column[j]];
        a.row[i] = to;
      }
    }
    return a;
  }

  // Adds what is in the result to the tile in the scratch.
  void add_result(const operands& o, const column_tile& t, std::size_t row,
                  std::size_t rows) const {
    const tag d;
    const std::size_t lanes = hn::Lanes(d);
    const std::ptrdiff_t* column = column_result_ + t.first;
    for (std::size_t i = 0; i < rows; ++i) {
      float* to = tile_ + i * max_tile_columns;
      const float* from = o.result + row_result_[row + i];
      if (t.adjacent_result) {
        from += column[0];
        for (std::size_t j = 0; j < t.count; j += lanes) {
          const vec before = load_n(d, from + j, std::min(lanes, t.count - j));
          hn::StoreU(hn::Add(before, hn::LoadU(d, to + j)), d, to + j);
        }
      } else {
        for (std::size_t j = 0; j < t.count; ++j) to[j] += from[column[j]];
      }
    }
  }

  // Puts the tile in the scratch to its places in the result.
  void spread(const operands& o, const column_tile& t, std::size_t row, std::size_t rows) const {
    const tag d;
    const std::size_t lanes = hn::Lanes(d);
    const std::ptrdiff_t* column = column_result_ + t.first;
    for (std::size_t i = 0; i < rows; ++i) {
      const float* from = tile_ + i * max_tile_columns;
      float* to = o.result + row_result_[row + i];
      if (t.adjacent_result) {
        to += column[0];
        for (std::size_t j = 0; j < t.count; j += lanes) {
          store_n(hn::LoadU(d, from + j), d, to + j, std::min(lanes, t.count - j));
        }
      } else {
        for (std::size_t j = 0; j < t.count; ++j) to[column[j]] = from[j];
      }
    }
  }

  const loop_nest& rows_;
  const loop_nest& columns_;
  const loop_nest& depth_;
  std::size_t row_count_, column_count_, depth_count_;
  std::size_t block_rows_, block_columns_, block_depth_;
  bool left_in_place_, right_in_place_, along_depth_, cut_, fetch_result_, has_addends_;
  float scale_;
  tile_end_function end_;  // null where the sums are the result
  // In the scratch. The offsets are those of the found rows, columns and depth.
  range found_rows_{0, 0}, found_columns_{0, 0}, found_depth_{0, 0};
  std::ptrdiff_t *row_left_, *row_result_, *row_addend_[2];
  std::ptrdiff_t *column_right_, *column_result_, *column_addend_[2];
  std::ptrdiff_t *depth_left_, *depth_right_;
  float *packed_left_, *packed_right_, *tile_, *addends_;
};

// Sums of nothing: what the addends and `then` make of zeros. Left and right may have no memory.
void end_zeros(const contraction& x, op then) {
  const tile_end_function end = tile_end_of(then);
  for (std::ptrdiff_t i = 0; i < x.batch.size(); ++i) {
    for (std::ptrdiff_t j = 0; j < x.rows.size(); ++j) {
      for (std::ptrdiff_t k = 0; k < x.columns.size(); ++k) {
        const place_in_operands at[]{x.batch.at(i), x.rows.at(j), x.columns.at(k)};
        float sum[max_dot_lanes]{};
        tile_end e;
        e.rows = e.columns = 1;
        e.sums[0] = sum;
        e.scale = 1;
        if (x.a != nullptr) e.addend[0].row[0] = x.a + at[0].a + at[1].a + at[2].a;
        if (x.b != nullptr) e.addend[1].row[0] = x.b + at[0].b + at[1].b + at[2].b;
        end(e);
        x.result[at[0].result + at[1].result + at[2].result] = sum[0];
      }
    }
  }
}

void dot(const call& c) noexcept {
  for (int i = 0; i < c.loops; ++i) {
    if (c.extent[i] == 0 && c.operands[0].stride[i] != 0) return;
  }
  const contraction x(c);
  if (x.depth.size() == 0) return end_zeros(x, c.then);
  product each(x, static_cast<float>(c.scale), c.then, c.scratch);
  const auto addend = [](const float* data, std::ptrdiff_t at) {
    return data == nullptr ? nullptr : data + at;
  };
  for (std::ptrdiff_t i = 0, n = x.batch.size(); i < n; ++i) {
    const place_in_operands at = x.batch.at(i);
    each.run({x.left + at.left,
              x.right + at.right,
              x.result + at.result,
              {addend(x.a, at.a), addend(x.b, at.b)}});
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
