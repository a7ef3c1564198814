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
#include <cstring>
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

// The columns that dot_products gets at a time.
constexpr std::size_t gemv_columns = 8;
// The vectors of a sum along the depth: those of a block of sum_lanes.
constexpr std::size_t dot_parts = sum_vectors;

// How many of them are computed at once. A multiply-add has a latency of four cycles and a
// throughput of two per cycle, which takes eight accumulators, and registers hold a few more: for
// vectors of AVX-512 a single row needs eight columns, and more rows four.
constexpr std::size_t columns_at_once(std::size_t rows) {
  return std::min(rows == 1 ? gemv_columns : std::size_t{4},
                  std::bit_floor((has_32_registers ? std::size_t{24} : 12) / (rows * dot_parts)));
}

// Adds the products of n elements of each row and column, all of one vector of the block, to the
// accumulators. row[I] and column[I] belong to accumulator I: row by row, column by column, and of
// each sum the vectors of a block.
template <std::size_t Rows, std::size_t Part, bool Full, std::size_t... I, class T, class... Sums>
HWY_INLINE void add_products(std::index_sequence<I...>, const float* const* row,
                             const T* const* column, std::size_t k, std::size_t n, Sums&... sums) {
  const auto of_column = [column, k, n](std::size_t c)
                             HWY_ATTR { return load_part<Full>(column[c * dot_parts] + k, n); };
  if constexpr (Rows == 1) {
    const vec x = load_part<Full>(row[0] + k, n);
    ((sums = I % dot_parts == Part ? hn::MulAdd(x, of_column(I / dot_parts), sums) : sums), ...);
  } else {
    constexpr std::size_t columns = columns_at_once(Rows);
    const vec y0 = opaque(of_column(0)), y1 = columns > 1 ? opaque(of_column(1)) : y0;
    const vec y2 = columns > 2 ? opaque(of_column(2)) : y0;
    const vec y3 = columns > 2 ? opaque(of_column(3)) : y0;
    ((sums = I % dot_parts == Part ? hn::MulAdd(load_part<Full>(row[I] + k, n),
                                                pick<I / dot_parts % columns>(y0, y1, y2, y3), sums)
                                   : sums),
     ...);
  }
}

// The same for n elements of a block, or all of them if Full.
template <std::size_t Rows, bool Full, std::size_t... Part, class All, class T, class... Sums>
HWY_INLINE void add_block(std::index_sequence<Part...>, All all, const float* const* row,
                          const T* const* column, std::size_t k, std::size_t n, Sums&... sums) {
  const std::size_t lanes = hn::Lanes(tag());
  (add_products<Rows, Part, Full>(all, row, column, k + Part * lanes,
                                  n > Part * lanes ? n - Part * lanes : 0, sums...),
   ...);
}

// Horizontal sums, in the order of reduce_lanes.
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

// Lane i is the sum of the lanes i of all blocks of 128 bits.
template <class D>
HWY_INLINE auto sum_blocks(D, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return sum_blocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// Each four has the sums of that four of v0, v1, v2 and v3.
HWY_INLINE vec sum_fours(vec v0, vec v1, vec v2, vec v3) {
  const tag d;
  const hn::Repartition<std::uint64_t, tag> pairs;
  // The halves of the fours of x and y, each added to the other one.
  const auto add_halves = [=](vec x, vec y) HWY_ATTR {
    const auto of_x = hn::BitCast(pairs, x), of_y = hn::BitCast(pairs, y);
    return hn::Add(hn::BitCast(d, hn::OddEven(of_y, of_x)),
                   hn::Shuffle1032(hn::BitCast(d, hn::OddEven(of_x, of_y))));
  };
  const vec even = add_halves(v0, v2), odd = add_halves(v1, v3);
  return hn::Add(hn::OddEven(odd, even), hn::Shuffle2301(hn::OddEven(even, odd)));
}

// The sums of four accumulators, from the first-th on, surplus ones repeat the last.
template <std::size_t First, std::size_t... Part, class... Sums>
HWY_INLINE void store_sums(std::index_sequence<Part...>, float* to, Sums... sums) {
  constexpr std::size_t last = sizeof...(Sums) / dot_parts - 1;
  const auto add = [](vec x, vec y) HWY_ATTR { return hn::Add(x, y); };
  const vec_array<tag, sum_vectors> fours{
      sum_fours(pick<First * dot_parts + Part>(sums...),
                pick<std::min(First + 1, last) * dot_parts + Part>(sums...),
                pick<std::min(First + 2, last) * dot_parts + Part>(sums...),
                pick<std::min(First + 3, last) * dot_parts + Part>(sums...))...};
  hn::StoreU(sum_blocks(tag(), combine_halves(fours, add)), hn::CappedTag<float, 4>(), to);
}

#else

template <std::size_t First, std::size_t... Part, class... Sums>
HWY_INLINE void store_sums(std::index_sequence<Part...>, float* to, Sums... sums) {
  constexpr std::size_t last = sizeof...(Sums) / dot_parts - 1;
  const auto sum = [&]<std::size_t Entry>(std::integral_constant<std::size_t, Entry>) HWY_ATTR {
    return reduce_to_scalar(tag(),
                            vec_array<tag, sum_vectors>{pick<Entry * dot_parts + Part>(sums...)...},
                            [](vec x, vec y) HWY_ATTR { return hn::Add(x, y); });
  };
  to[0] = sum(std::integral_constant<std::size_t, First>());
  to[1] = sum(std::integral_constant<std::size_t, std::min(First + 1, last)>());
  to[2] = sum(std::integral_constant<std::size_t, std::min(First + 2, last)>());
  to[3] = sum(std::integral_constant<std::size_t, std::min(First + 3, last)>());
}

#endif

// Entry c of row r of the tile, tile[r * pitch + c], is the sum of row[r][k] * column[c][k],
// vectorized along k. Entries are stored four at a time: F counts these fours.
template <std::size_t Rows, std::size_t... F, std::size_t... I, class T, class... Sums>
HWY_INLINE void dot_products(std::index_sequence<F...> fours, std::index_sequence<I...> all,
                             const float* const* row, const T* const* column, std::size_t depth,
                             float* tile, std::size_t pitch, Sums... sums) {
  if constexpr (sizeof...(Sums) < sizeof...(I)) {
    dot_products<Rows>(fours, all, row, column, depth, tile, pitch, sums..., hn::Zero(tag()));
  } else {
    constexpr std::size_t at_once = columns_at_once(Rows);
    constexpr std::make_index_sequence<dot_parts> parts;
    // Copied to locals, so that the loop need not read the pointers again.
    const float* const rows[]{row[I / dot_parts / at_once]...};
    const T* const columns[]{column[I / dot_parts % at_once]...};
    std::size_t k = 0;
    for (; k + sum_lanes <= depth; k += sum_lanes)
      add_block<Rows, true>(parts, all, rows, columns, k, sum_lanes, sums...);
    if (k < depth) add_block<Rows, false>(parts, all, rows, columns, k, depth - k, sums...);
    if constexpr (at_once >= 4) {
      (store_sums<4 * F>(parts, tile + F * (Rows == 1 ? 4 : pitch), sums...), ...);
    } else {
      float entries[4 * sizeof...(F)];
      (store_sums<4 * F>(parts, entries + 4 * F, sums...), ...);
      for (std::size_t r = 0; r < Rows; ++r)
        std::memcpy(tile + r * pitch, entries + r * at_once, at_once * sizeof(float));
    }
  }
}

template <std::size_t Rows, class T>
HWY_NOINLINE std::size_t dot_products(const float* const* row, const T* const* column,
                                      std::size_t columns, std::size_t depth, float* tile,
                                      std::size_t pitch = max_tile_columns) {
  constexpr std::size_t at_once = columns_at_once(Rows), entries = Rows * at_once;
  for (std::size_t c = 0; c < columns; c += at_once)
    dot_products<Rows>(std::make_index_sequence<(entries + 3) / 4>(),
                       std::make_index_sequence<entries * dot_parts>(), row, column + c, depth,
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
