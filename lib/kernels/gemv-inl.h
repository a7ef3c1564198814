// gemv, and contractions with few rows (skinny m): they read the rhs once, line by line.
#if defined(WEFT_KERNELS_GEMV_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_GEMV_INL_H_
#undef WEFT_KERNELS_GEMV_INL_H_
#else
#define WEFT_KERNELS_GEMV_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/cast-inl.h"
#include "kernels/microkernel-inl.h"
#include "weft/kernels/vec_array-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// The most rows that are computed at a time.
constexpr std::size_t rows_at_once = has_32_registers ? 4 : 2;

// n lanes, or all of them if Full; bfloat16 becomes float.
template <bool Full>
HWY_INLINE vec load_part(const float* from, std::size_t n) {
  return Full ? hn::LoadU(tag(), from) : load_up_to(tag(), from, n);
}
template <bool Full>
HWY_INLINE vec load_part(const half* from, std::size_t n) {
  const hn::Rebind<half, tag> d;
  const auto bits = Full ? hn::LoadU(d, from) : load_up_to(d, from, n);
  return hn::BitCast(tag(), hn::ShiftLeft<16>(hn::PromoteTo(hn::RebindToUnsigned<tag>(), bits)));
}
template <bool Full>
HWY_INLINE void store_part(vec v, float* to, std::size_t n) {
  Full ? hn::StoreU(v, tag(), to) : store_n(v, tag(), to, n);
}

// The columns that dot_products gets at a time, and those that it computes at once. A multiply-add
// has a latency of four cycles and a throughput of two per cycle, which takes eight accumulators.
constexpr std::size_t gemv_columns = 8;
constexpr std::size_t columns_at_once(std::size_t rows) {
  return rows == 1 && sum_vectors == 1 ? gemv_columns : 4;
}
// The vectors of a block of sum_lanes that are added at once: all of a single row. Of more rows,
// registers do not hold the sums of all; one vector of each block is added after another.
constexpr std::size_t vectors_at_once(std::size_t rows) {
  return rows == 1 ? sum_vectors : 1;
}

// Adds the products of n elements of each row and column, all of one vector, to the accumulators:
// row by row, then column by column, each those of the vectors that are added at once. row[I] and
// column[I] belong to accumulator I.
template <std::size_t Rows, std::size_t Vector, bool Full, std::size_t... I, class T, class... Sums>
HWY_INLINE void add_products(std::index_sequence<I...>, const float* const* row,
                             const T* const* column, std::size_t k, std::size_t n, Sums&... sums) {
  constexpr std::size_t vectors = vectors_at_once(Rows);
  const auto of_column = [column, k, n](std::size_t c)
                             HWY_ATTR { return load_part<Full>(column[c * vectors] + k, n); };
  if constexpr (Rows == 1) {
    const vec x = load_part<Full>(row[0] + k, n);
    ((sums = I % vectors == Vector ? hn::MulAdd(x, of_column(I / vectors), sums) : sums), ...);
  } else {
    const vec y0 = opaque(of_column(0)), y1 = opaque(of_column(1));
    const vec y2 = opaque(of_column(2)), y3 = opaque(of_column(3));
    ((sums = hn::MulAdd(load_part<Full>(row[I] + k, n), pick<I % 4>(y0, y1, y2, y3), sums)), ...);
  }
}

#if HWY_TARGET == HWY_SCALAR  // a lane is its own sum

HWY_INLINE vec sum_fours(vec v0, vec, vec, vec) {
  return v0;
}
HWY_INLINE vec sum_blocks(tag, vec v) {
  return v;
}

#else

// The sums of the fours of four vectors, v0's in lane 0 of each four.
HWY_INLINE vec sum_fours(vec v0, vec v1, vec v2, vec v3) {
  const tag d;
  const hn::Repartition<std::uint64_t, tag> halves;
  // The halves of the fours of x, and of those of y, added to each other.
  const auto add_halves = [=](vec x, vec y) HWY_ATTR {
    const auto outer = hn::OddEven(hn::BitCast(halves, y), hn::BitCast(halves, x));
    return hn::Add(hn::BitCast(d, outer), hn::CombineShiftRightBytes<8>(d, y, x));
  };
  const vec v01 = add_halves(v0, v1), v23 = add_halves(v2, v3);
  return hn::Add(even_by_block(v01, v23), odd_by_block(v01, v23));
}

// Lane i is the sum of the lanes i of all fours.
template <class D>
HWY_INLINE auto sum_blocks(D, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return sum_blocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

#endif

// Of four accumulators, of which each is `step` after the one before; of one lane, that of one.
constexpr std::size_t summed_at_once = HWY_TARGET == HWY_SCALAR ? 1 : 4;
template <std::size_t First, std::size_t Step, class... Sums>
HWY_INLINE vec sum_fours(Sums... sums) {
  constexpr std::size_t step = summed_at_once == 1 ? 0 : Step;
  return sum_fours(pick<First>(sums...), pick<First + step>(sums...),
                   pick<First + 2 * step>(sums...), pick<First + 3 * step>(sums...));
}

// A part of the depth: elements [begin, end), of each block those of the vectors from `vector` on.
struct depth_part {
  std::size_t begin, end, vector;
  bool is_last;
};

// Adds the products of this part to sums, which are 0 or in `memory`. Puts them there again; of the
// last part, the sums of their fours. V counts the vectors, F the fours of each.
template <std::size_t Rows, bool First, std::size_t... V, std::size_t... F, std::size_t... I,
          class T, class... Sums>
HWY_INLINE void add_part(std::index_sequence<V...> vectors, std::index_sequence<F...> fours,
                         std::index_sequence<I...> all, const float* const* row,
                         const T* const* column, const depth_part& part, float* memory,
                         Sums... sums) {
  const tag d;
  const std::size_t lanes = hn::Lanes(d);
  if constexpr (sizeof...(Sums) < sizeof...(I)) {
    const vec next = First ? hn::Zero(d) : hn::LoadU(d, memory + sizeof...(Sums) * lanes);
    add_part<Rows, First>(vectors, fours, all, row, column, part, memory, sums..., next);
  } else {
    constexpr std::size_t at_once = columns_at_once(Rows), count = sizeof...(V);
    const std::size_t offset = part.vector * lanes;
    // Copied to locals, so that the loop need not read the pointers again.
    const float* const rows[]{row[I / count / at_once]...};
    const T* const columns[]{column[I / count % at_once]...};
    std::size_t k = part.begin + offset;
    for (; k + sum_lanes <= part.end + offset; k += sum_lanes)
      (add_products<Rows, V, true>(all, rows, columns, k + V * lanes, lanes, sums...), ...);
    if (!part.is_last) {
      (hn::StoreU(sums, d, memory + I * lanes), ...);
      return;
    }
    if (k < part.end + offset) {
      const auto left = [=](std::size_t first) {
        return std::max(k + first, part.end) - (k + first);
      };
      (add_products<Rows, V, false>(all, rows, columns, k + V * lanes, left(V * lanes), sums...),
       ...);
    }
    const auto store = [&](std::size_t v, std::size_t f, vec sum) HWY_ATTR {
      hn::StoreU(sum, d, memory + (v * sizeof...(F) + f) * lanes);
    };
    const auto store_vector =
        [&]<std::size_t Vector>(std::integral_constant<std::size_t, Vector>) HWY_ATTR {
          (store(Vector, F, sum_fours<F * summed_at_once * count + Vector, count>(sums...)), ...);
        };
    (store_vector(std::integral_constant<std::size_t, V>()), ...);
  }
}

// Entry c of row r of the tile, tile[r * pitch + c], is the sum of row[r][k] * column[c][k],
// vectorized along k, and added in the order of reduce_lanes. Where not all vectors of a block are
// added at once, each reads the same cache lines, which have to stay in L1. Entries are stored four
// at a time: F counts these fours.
template <std::size_t Rows, std::size_t... F, class Vectors, class All, class T>
HWY_INLINE void dot_products(Vectors vectors, std::index_sequence<F...> fours, All all,
                             const float* const* row, const T* const* column, std::size_t depth,
                             float* tile, std::size_t pitch) {
  constexpr std::size_t at_once = columns_at_once(Rows), count = vectors_at_once(Rows),
                        depth_in_l1 = 512, of_vector = sizeof...(F) * hn::MaxLanes(tag());
  const tag d;
  alignas(64) float memory[sum_vectors / count][All::size() * hn::MaxLanes(tag())];
  const std::size_t end = count == sum_vectors ? depth : std::min(depth, depth_in_l1);
  for (std::size_t v = 0; v < sum_vectors; v += count)
    add_part<Rows, true>(vectors, fours, all, row, column, {0, end, v, end == depth},
                         memory[v / count]);
  if constexpr (count < sum_vectors) {
    for (depth_part part{end, 0, 0, false}; part.begin < depth; part.begin = part.end) {
      part.end = std::min(part.begin + depth_in_l1, depth);
      part.is_last = part.end == depth;
      for (part.vector = 0; part.vector < sum_vectors; ++part.vector)
        add_part<Rows, false>(vectors, fours, all, row, column, part, memory[part.vector]);
    }
  }
  const auto store = [&](std::size_t f) HWY_ATTR {
    const auto vector = [&](int j) HWY_ATTR {
      const auto v = static_cast<std::size_t>(j);
      return hn::LoadU(d, memory[v / count] + v % count * of_vector + f * hn::Lanes(d));
    };
    const vec sum = combine_halves(vec_array<tag, sum_vectors>::of(vector),
                                   [](vec x, vec y) HWY_ATTR { return hn::Add(x, y); });
    const std::size_t entry = f * summed_at_once;
    hn::StoreU(sum_blocks(d, sum), hn::CappedTag<float, 4>(),
               tile + entry / at_once * pitch + entry % at_once);
  };
  (store(F), ...);
}

template <std::size_t Rows, class T>
HWY_NOINLINE std::size_t dot_products(const float* const* row, const T* const* column,
                                      std::size_t columns, std::size_t depth, float* tile,
                                      std::size_t pitch = max_tile_columns) {
  constexpr std::size_t at_once = columns_at_once(Rows), vectors = vectors_at_once(Rows);
  for (std::size_t c = 0; c < columns; c += at_once)
    dot_products<Rows>(std::make_index_sequence<vectors>(),
                       std::make_index_sequence<Rows * at_once / summed_at_once>(),
                       std::make_index_sequence<Rows * at_once * vectors>(), row, column + c, depth,
                       tile + c, pitch);
  return Rows;
}

// Computes up to `Rows` of `rows` rows and returns how many. Surplus columns repeat the last one.
template <std::size_t Rows = rows_at_once>
std::size_t dot_products(const float* const* row, std::size_t rows, const float* const* column,
                         std::size_t columns, std::size_t depth, float* tile) {
  if constexpr (Rows > 1) {
    if (rows < Rows) return dot_products<Rows - 1>(row, rows, column, columns, depth, tile);
  }
  return dot_products<Rows>(row, column, columns, depth, tile);
}

// Rows of the lhs, and lines of the rhs, of float or bfloat16, each contiguous along the columns.
template <class T = float>
struct gemv_operands {
  const float* const* lhs;  // row r's element at depth k is lhs[r][k * lhs_step]
  std::ptrdiff_t lhs_step;
  const T* rhs;  // line k begins at rhs + k * rhs_step
  std::ptrdiff_t rhs_step;
  std::size_t depth, columns;
  float* const* result;
};

// sum plus factor * line for each line. `all` holds the factors, row by row, and then the lines.
template <std::size_t Rows, std::size_t Row, std::size_t... L, class... All>
HWY_INLINE vec axpy_to(std::index_sequence<L...>, vec sum, All... all) {
  constexpr std::size_t lines = sizeof...(L);
  ((sum = hn::MulAdd(pick<Row * lines + L>(all...), pick<Rows * lines + L>(all...), sum)), ...);
  return sum;
}

// Updates n columns from the j-th on.
template <bool Add, bool Full, std::size_t... R, class Lines, class... All>
HWY_INLINE void axpy_at(std::index_sequence<R...>, Lines lines, float* const* to, std::size_t j,
                        std::size_t n, All... all) {
  (store_part<Full>(axpy_to<sizeof...(R), R>(
                        lines, Add ? load_part<Full>(to[R] + j, n) : hn::Zero(tag()), all...),
                    to[R] + j, n),
   ...);
}

// The axpy form: adds lines from the k-th on, times their factors, to the result, or overwrites it
// unless Add. Each line is read once for all rows.
template <bool Add, std::size_t... R, std::size_t... L, class T, class... Factors>
HWY_INLINE void axpy_lines(std::index_sequence<R...> rows, std::index_sequence<L...> lines,
                           const gemv_operands<T>& p, std::ptrdiff_t k, Factors... factors) {
  constexpr std::size_t done = sizeof...(Factors);
  const tag d;
  if constexpr (done < sizeof...(R) * sizeof...(L)) {
    constexpr auto line = static_cast<std::ptrdiff_t>(done % sizeof...(L));
    const float* const lhs = p.lhs[done / sizeof...(L)];
    axpy_lines<Add>(rows, lines, p, k, factors..., hn::Set(d, lhs[(k + line) * p.lhs_step]));
  } else {
    const std::size_t lanes = hn::Lanes(d);
    // Copied to locals: a store of a vector may alias p, whose members would be reloaded.
    const std::size_t columns = p.columns;
    const std::ptrdiff_t step = p.rhs_step;
    const T* from = p.rhs + k * step;
    float* const to[]{p.result[R]...};
    std::size_t j = 0;
    for (; j + lanes <= columns; j += lanes, from += lanes)
      axpy_at<Add, true>(rows, lines, to, j, lanes, factors...,
                         load_part<true>(from + static_cast<std::ptrdiff_t>(L) * step, lanes)...);
    if (const std::size_t n = columns - j; n != 0)
      axpy_at<Add, false>(rows, lines, to, j, n, factors...,
                          load_part<false>(from + static_cast<std::ptrdiff_t>(L) * step, n)...);
  }
}

// The factors of a few lines stay in registers. More lines at a time are more streams than the
// caches can follow.
template <std::size_t Rows, class T = float>
HWY_NOINLINE std::size_t axpy_lines(const gemv_operands<T>& p) {
  constexpr std::size_t lines = std::min<std::size_t>((has_32_registers ? 16 : 8) / Rows, 8);
  const std::make_index_sequence<Rows> rows;
  const std::make_index_sequence<lines> all;
  const std::make_index_sequence<1> one;
  constexpr auto step = static_cast<std::ptrdiff_t>(lines);
  const auto depth = static_cast<std::ptrdiff_t>(p.depth);
  std::ptrdiff_t k = depth < step ? 1 : step;
  depth < step ? axpy_lines<false>(rows, one, p, 0) : axpy_lines<false>(rows, all, p, 0);
  for (; k + step <= depth; k += step) axpy_lines<true>(rows, all, p, k);
  for (; k < depth; ++k) axpy_lines<true>(rows, one, p, k);
  return Rows;
}

// Computes up to `Rows` of `rows` rows and returns how many.
template <std::size_t Rows = rows_at_once>
std::size_t axpy_lines(const gemv_operands<>& p, std::size_t rows) {
  if constexpr (Rows > 1) {
    if (rows < Rows) return axpy_lines<Rows - 1>(p, rows);
  }
  return axpy_lines<Rows>(p);
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
