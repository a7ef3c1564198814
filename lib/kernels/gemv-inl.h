// gemv, and contractions with few rows (skinny m): they read the rhs once, line by line.
#if defined(WEFT_KERNELS_GEMV_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_GEMV_INL_H_
#undef WEFT_KERNELS_GEMV_INL_H_
#else
#define WEFT_KERNELS_GEMV_INL_H_
#endif

#include <algorithm>
#include <bit>
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
constexpr std::size_t rows_at_once = has_32_registers && sum_vectors == 1 ? 4 : 2;

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

// The columns that dot_products gets at a time, and those that it computes at once, with an
// accumulator for each vector of a block of sum_lanes; four registers are left for the factors. A
// multiply-add has a latency of four cycles and a throughput of two per cycle, which takes eight
// accumulators.
constexpr std::size_t gemv_columns = 8;
constexpr std::size_t columns_at_once(std::size_t rows) {
  constexpr std::size_t accumulators = (has_32_registers ? 32 : 16) - 4;
  return rows == 1 && sum_vectors == 1
             ? gemv_columns
             : std::min<std::size_t>(std::bit_floor(accumulators / rows / sum_vectors), 4);
}

// Adds the products of n elements of each row and column, all of vector `Vector` of a block, to the
// accumulators: row by row, then column by column, each those of the vectors of a block. row[I] and
// column[I] belong to accumulator I.
template <std::size_t Rows, std::size_t Vector, bool Full, std::size_t... I, class T, class... Sums>
HWY_INLINE void add_products(std::index_sequence<I...>, const float* const* row,
                             const T* const* column, std::size_t k, std::size_t n, Sums&... sums) {
  constexpr std::size_t columns = columns_at_once(Rows);
  const auto of_column = [column, k, n](std::size_t c) HWY_ATTR {
    return load_part<Full>(column[std::min(c, columns - 1) * sum_vectors] + k, n);
  };
  // Kept in a register, unless there are too few: else each multiply-add reads it again.
  constexpr bool rows_fit = sizeof...(I) + columns + Rows <= (has_32_registers ? 32 : 16);
  const auto of_row = [row, k, n](std::size_t r) HWY_ATTR {
    const vec x = load_part<Full>(row[std::min(r, Rows - 1) * columns * sum_vectors] + k, n);
    return rows_fit ? opaque(x) : x;
  };
  const vec x0 = of_row(0);
  if constexpr (Rows == 1) {
    ((sums = I % sum_vectors == Vector ? hn::MulAdd(x0, of_column(I / sum_vectors), sums) : sums),
     ...);
  } else {
    const vec x1 = of_row(1), x2 = Rows > 2 ? of_row(2) : x1, x3 = Rows > 3 ? of_row(3) : x1;
    const vec y0 = opaque(of_column(0)), y1 = columns > 1 ? opaque(of_column(1)) : y0;
    const vec y2 = columns > 2 ? opaque(of_column(2)) : y0;
    const vec y3 = columns > 3 ? opaque(of_column(3)) : y0;
    ((sums = I % sum_vectors == Vector
                 ? hn::MulAdd(pick<I / sum_vectors / columns>(x0, x1, x2, x3),
                              pick<I / sum_vectors % columns>(y0, y1, y2, y3), sums)
                 : sums),
     ...);
  }
}

// The sum of the vectors of a block, accumulators `Entry * Vectors` to that of the next entry, in
// the order of combine_halves.
template <std::size_t First, std::size_t Vectors = sum_vectors, std::size_t Step = 1, class... Sums>
HWY_INLINE vec sum_of_block(Sums... sums) {
  if constexpr (First >= sizeof...(Sums))
    return hn::Zero(tag());
  else if constexpr (Vectors == 1)
    return pick<First>(sums...);
  else
    return hn::Add(sum_of_block<First, Vectors / 2, 2 * Step>(sums...),
                   sum_of_block<First + Step, Vectors / 2, 2 * Step>(sums...));
}

// 0, 4, 8, … below `entries`: the first of each four, whose lanes are summed at once; of one lane,
// of each.
template <std::size_t step, std::size_t... F>
constexpr auto firsts_of(std::index_sequence<F...>) {
  return std::index_sequence<F * step...>();
}
template <std::size_t entries>
constexpr auto sums_at_once() {
  constexpr std::size_t at_once = HWY_TARGET == HWY_SCALAR ? 1 : 4;
  return firsts_of<at_once>(std::make_index_sequence<(entries + at_once - 1) / at_once>());
}

// Entry c of row r of the tile, tile[r * pitch + c], is the sum of row[r][k] * column[c][k],
// vectorized along k, and added in the order of reduce_lanes. V counts the vectors of a block, F
// the sums of lanes that are computed at once, I the accumulators.
template <std::size_t Rows, std::size_t... V, std::size_t... F, std::size_t... I, class T,
          class... Sums>
HWY_INLINE void dot_products(std::index_sequence<V...> vectors, std::index_sequence<F...> sums_of,
                             std::index_sequence<I...> all, const float* const* row,
                             const T* const* column, std::size_t depth, float* tile,
                             std::size_t pitch, Sums... sums) {
  const tag d;
  if constexpr (sizeof...(Sums) < sizeof...(I)) {
    dot_products<Rows>(vectors, sums_of, all, row, column, depth, tile, pitch, sums...,
                       hn::Zero(d));
  } else {
    constexpr std::size_t at_once = columns_at_once(Rows);
    const std::size_t lanes = hn::Lanes(d);
    // Copied to locals, so that the loop need not read the pointers again.
    const float* const rows[]{row[I / sum_vectors / at_once]...};
    const T* const columns[]{column[I / sum_vectors % at_once]...};
    std::size_t k = 0;
    for (; k + sum_lanes <= depth; k += sum_lanes)
      (add_products<Rows, V, true>(all, rows, columns, k + V * lanes, lanes, sums...), ...);
    if (k < depth) {
      const auto left = [=](std::size_t first) { return std::max(k + first, depth) - (k + first); };
      (add_products<Rows, V, false>(all, rows, columns, k + V * lanes, left(V * lanes), sums...),
       ...);
    }
    const auto store = [&](std::size_t entry, auto sum) HWY_ATTR {
      const auto at = [=](std::size_t e) { return tile + e / at_once * pitch + e % at_once; };
      const hn::DFromV<decltype(sum)> of_sums;
      constexpr std::size_t count = hn::MaxLanes(hn::DFromV<decltype(sum)>());
      if constexpr (at_once % count == 0) {
        hn::StoreU(sum, of_sums, at(entry));
      } else {
        alignas(16) float entries[count];
        hn::Store(sum, of_sums, entries);
        for (std::size_t e = 0; e < count && entry + e < Rows * at_once; e += at_once)
          std::copy_n(entries + e, at_once, at(entry + e));
      }
    };
    (store(F, sums_of_lanes(d, sum_of_block<F * sum_vectors>(sums...),
                            sum_of_block<(F + 1) * sum_vectors>(sums...),
                            sum_of_block<(F + 2) * sum_vectors>(sums...),
                            sum_of_block<(F + 3) * sum_vectors>(sums...))),
     ...);
  }
}

template <std::size_t Rows, class T>
HWY_NOINLINE std::size_t dot_products(const float* const* row, const T* const* column,
                                      std::size_t columns, std::size_t depth, float* tile,
                                      std::size_t pitch = max_tile_columns) {
  constexpr std::size_t at_once = columns_at_once(Rows);
  for (std::size_t c = 0; c < columns; c += at_once)
    dot_products<Rows>(std::make_index_sequence<sum_vectors>(), sums_at_once<Rows * at_once>(),
                       std::make_index_sequence<Rows * at_once * sum_vectors>(), row, column + c,
                       depth, tile + c, pitch);
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
