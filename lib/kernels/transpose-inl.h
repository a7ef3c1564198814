// Transposing float matrices.
#if defined(WEFT_KERNELS_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_TRANSPOSE_INL_H_
#undef WEFT_KERNELS_TRANSPOSE_INL_H_
#else
#define WEFT_KERNELS_TRANSPOSE_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A matrix in memory. Its columns become the rows of the transposed one.
struct matrix {
  const float* data;
  std::ptrdiff_t row, column;  // strides
  std::size_t rows, columns;
};

// What a column is multiplied by: data[step * column].
struct column_factors {
  const float* data;
  std::ptrdiff_t step;
};

template <class D>
HWY_INLINE void store_up_to(D d, hn::Vec<D> v, float* to, std::size_t count) {
  if (count >= hn::Lanes(d))
    hn::StoreU(v, d, to);
  else
    store_n(v, d, to, count);
}

// The element of row i and column k times factor k goes to to[k * pitch + i].
inline void transpose_elements(const matrix& m, const column_factors& factor, float* to,
                               std::ptrdiff_t pitch) {
  const float* from = m.data;
  const float* by = factor.data;
  for (std::size_t k = 0; k < m.columns; ++k, from += m.column, by += factor.step, to += pitch)
    for (std::size_t i = 0; i < m.rows; ++i)
      to[i] = *by * from[static_cast<std::ptrdiff_t>(i) * m.row];
}

// The same where the rows lie side by side.
template <class D>
void transpose_adjacent_rows(D d, const matrix& m, const column_factors& factor, float* to,
                             std::ptrdiff_t pitch) {
  const std::size_t lanes = hn::Lanes(d);
  const float* from = m.data;
  const float* by = factor.data;
  for (std::size_t k = 0; k < m.columns; ++k, from += m.column, by += factor.step, to += pitch) {
    const auto f = hn::Set(d, *by);
    std::size_t i = 0;
    for (; i + lanes <= m.rows; i += lanes)
      hn::StoreU(hn::Mul(f, hn::LoadU(d, from + i)), d, to + i);
    if (const std::size_t left = m.rows - i; left != 0)
      store_n(hn::Mul(f, load_n(d, from + i, left)), d, to + i, left);
  }
}

// A vector without a size that the compiler knows is not put together from halves.
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

// A vector of blocks of 128 bits: block b has the four elements from at(b) on.
template <std::size_t Lanes, std::size_t First = 0, class F>
HWY_INLINE auto load_blocks(F at) {
  const hn::CappedTag<float, Lanes> d;
  if constexpr (Lanes <= 4) {
    return hn::LoadU(d, at(First));
  } else {
    return hn::Combine(d, load_blocks<Lanes / 2, First + Lanes / 8>(at),
                       load_blocks<Lanes / 2, First>(at));
  }
}

// As many rows as a vector has lanes, or fewer, of columns that lie side by side: at(b, j, k) is
// column k of row 4 b + j. Every block of 128 bits is transposed by itself.
template <class D, class F>
HWY_INLINE void transpose_strip(D d, std::size_t rows, std::size_t columns, F at,
                                column_factors factor, float* to, std::ptrdiff_t pitch) {
  constexpr std::size_t lanes = hn::MaxLanes(D());
  const hn::Repartition<std::uint64_t, D> pairs;
  const float* by = factor.data;
  for (std::size_t k = 0; k < columns; k += 4) {
    const auto every_fourth = [&](std::size_t j) HWY_ATTR {
      return load_blocks<lanes>([&](std::size_t b) HWY_ATTR { return at(b, j, k); });
    };
    const auto v0 = every_fourth(0), v1 = every_fourth(1);
    const auto v2 = every_fourth(2), v3 = every_fourth(3);
    const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, v0, v1));
    const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, v2, v3));
    const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, v0, v1));
    const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, v2, v3));
    const auto put = [&](auto v) HWY_ATTR {
      store_up_to(d, hn::Mul(hn::Set(d, *by), hn::BitCast(d, v)), to, rows);
      by += factor.step;
      to += pitch;
    };
    put(hn::InterleaveLower(pairs, low01, low23));
    put(hn::InterleaveUpper(pairs, low01, low23));
    put(hn::InterleaveLower(pairs, high01, high23));
    put(hn::InterleaveUpper(pairs, high01, high23));
  }
}

template <class D>
void transpose_adjacent_columns(D d, matrix m, column_factors factor, float* to,
                                std::ptrdiff_t pitch) {
  constexpr std::size_t lanes = hn::MaxLanes(D()), blocks = lanes / 4;
  const std::size_t whole = m.columns / 4 * 4;
  std::size_t i = 0;
  // A pointer to every fourth row, so that there are registers for all of them.
  for (; i + lanes <= m.rows; i += lanes) {
    const float* row[blocks];
    for (std::size_t b = 0; b < blocks; ++b)
      row[b] = m.data + static_cast<std::ptrdiff_t>(i + 4 * b) * m.row;
    const auto at = [&row, pitch = m.row](std::size_t b, std::size_t j, std::size_t k) {
      return row[b] + static_cast<std::ptrdiff_t>(j) * pitch + k;
    };
    transpose_strip(d, lanes, whole, at, factor, to + i, pitch);
  }
  // Where fewer rows are left, the last one stands in for the others.
  if (const std::size_t left = m.rows - i; left != 0) {
    const auto at = [&m, i](std::size_t b, std::size_t j, std::size_t k) {
      return m.data + static_cast<std::ptrdiff_t>(std::min(i + 4 * b + j, m.rows - 1)) * m.row + k;
    };
    transpose_strip(d, left, whole, at, factor, to + i, pitch);
  }
  const auto done = static_cast<std::ptrdiff_t>(whole);
  m.data += done;
  m.columns -= whole;
  transpose_elements(m, {factor.data + done * factor.step, factor.step}, to + done * pitch, pitch);
}

#else

template <class D>
void transpose_adjacent_columns(D, const matrix& m, const column_factors& factor, float* to,
                                std::ptrdiff_t pitch) {
  transpose_elements(m, factor, to, pitch);
}

#endif

template <class D>
void transpose(D d, const matrix& m, const column_factors& factor, float* to,
               std::ptrdiff_t pitch) {
  if (m.column == 1)
    transpose_adjacent_columns(d, m, factor, to, pitch);
  else if (m.row == 1)
    transpose_adjacent_rows(d, m, factor, to, pitch);
  else
    transpose_elements(m, factor, to, pitch);
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
