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

#include "weft/kernels/dot_blocking.hpp"
#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// A matrix in memory. Its columns become the rows of the transposed one.
struct matrix {
  const float* data;
  std::ptrdiff_t row, column;  // strides
  std::size_t rows, columns;
};

// How a row of the transposed matrix is written: exactly, or in full vectors, whose padding is some
// of the elements or zeros.
enum class row_end { exact, filled };

template <class D>
HWY_INLINE void store_up_to(D d, hn::Vec<D> v, float* to, std::size_t count) {
  if (count >= hn::Lanes(d))
    hn::StoreU(v, d, to);
  else
    store_n(v, d, to, count);
}

// The element of row i and column k times the factor goes to to[k * pitch + i].
template <row_end End, class D>
void transpose_elements(D d, const matrix& m, float factor, float* to, std::ptrdiff_t pitch) {
  const float* from = m.data;
  const std::size_t end = End == row_end::filled ? round_up(m.rows, hn::Lanes(d)) : m.rows;
  for (std::size_t k = 0; k < m.columns; ++k, from += m.column, to += pitch) {
    for (std::size_t i = 0; i < m.rows; ++i)
      to[i] = factor * from[static_cast<std::ptrdiff_t>(i) * m.row];
    std::fill(to + m.rows, to + end, 0.0f);
  }
}

// Stores n elements of a vector, or all of them if rows are padded.
template <row_end End, class D>
HWY_INLINE void store_last(D d, hn::Vec<D> v, float* to, std::size_t n) {
  if constexpr (End == row_end::filled)
    hn::StoreU(v, d, to);
  else
    store_n(v, d, to, n);
}

// The same for unit stride from row to row.
template <row_end End, class D>
void transpose_column_major(D d, const matrix& m, float factor, float* to, std::ptrdiff_t pitch) {
  const std::size_t lanes = hn::Lanes(d);
  const auto f = hn::Set(d, factor);
  const float* from = m.data;
  for (std::size_t k = 0; k < m.columns; ++k, from += m.column, to += pitch) {
    std::size_t i = 0;
    for (; i + lanes <= m.rows; i += lanes)
      hn::StoreU(hn::Mul(f, hn::LoadU(d, from + i)), d, to + i);
    if (const std::size_t remaining = m.rows - i; remaining != 0)
      store_last<End>(d, hn::Mul(f, load_n(d, from + i, remaining)), to + i, remaining);
  }
}

// Vectors of a size unknown at compile time are not combined from halves.
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

// A vector of one or more runs of `Run` contiguous elements: run r starts at at(r).
template <std::size_t Lanes, std::size_t Run, std::size_t First = 0, class F>
HWY_INLINE auto load_runs(F at) {
  const hn::CappedTag<float, Lanes> d;
  if constexpr (Lanes <= Run) {
    return hn::LoadU(d, at(First));
  } else {
    return hn::Combine(d, load_runs<Lanes / 2, Run, First + Lanes / 2 / Run>(at),
                       load_runs<Lanes / 2, Run, First>(at));
  }
}

// Four columns of each block of 128 bits, whose rows are v0 to v3.
template <class V>
struct four_columns {
  V c0, c1, c2, c3;
};
template <class D, class V = hn::Vec<D>>
HWY_INLINE four_columns<V> transpose_blocks(D d, V v0, V v1, V v2, V v3) {
#if HWY_TARGET == HWY_AVX2
  // Intel's cores do two of these in a cycle, but only one that interleaves floats.
  if constexpr (hn::MaxLanes(D()) == 8) {
    const V even01 = even_by_block(v0, v1), even23 = even_by_block(v2, v3);
    const V odd01 = odd_by_block(v0, v1), odd23 = odd_by_block(v2, v3);
    return {even_by_block(even01, even23), even_by_block(odd01, odd23),
            odd_by_block(even01, even23), odd_by_block(odd01, odd23)};
  }
#endif
  const hn::Repartition<std::uint64_t, D> pairs;
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, v0, v1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, v2, v3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, v0, v1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, v2, v3));
  return {hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)),
          hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)),
          hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)),
          hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23))};
}

// Transposes as many rows as a vector has lanes, with contiguous columns: at(i) points to row i,
// next(n) advances by n columns, and put takes column after column. Every block of 128 bits is
// transposed by itself. A block has four columns of four rows; if vectors have two blocks or more,
// two of a row are loaded together, and then exchanged with those of the rows four below.
template <class D, class F, class N, class G>
HWY_INLINE void transpose_strip(D d, std::size_t columns, F at, N next, G put) {
  constexpr std::size_t lanes = hn::MaxLanes(D());
  std::size_t k = 0;
  if constexpr (lanes >= 8) {
    for (; k + 8 <= columns; k += 8) {
      const auto every_eighth = [at](std::size_t j) HWY_ATTR {
        return load_runs<lanes, 8>([&](std::size_t r) HWY_ATTR { return at(8 * r + j); });
      };
      const auto a =
          transpose_blocks(d, every_eighth(0), every_eighth(1), every_eighth(2), every_eighth(3));
      const auto b =
          transpose_blocks(d, every_eighth(4), every_eighth(5), every_eighth(6), every_eighth(7));
      next(8);
      put(interleave_even_blocks(d, a.c0, b.c0));
      put(interleave_even_blocks(d, a.c1, b.c1));
      put(interleave_even_blocks(d, a.c2, b.c2));
      put(interleave_even_blocks(d, a.c3, b.c3));
      put(interleave_odd_blocks(d, a.c0, b.c0));
      put(interleave_odd_blocks(d, a.c1, b.c1));
      put(interleave_odd_blocks(d, a.c2, b.c2));
      put(interleave_odd_blocks(d, a.c3, b.c3));
    }
  }
  for (; k < columns; k += 4) {
    const auto every_fourth = [at](std::size_t j) HWY_ATTR {
      return load_runs<lanes, 4>([&](std::size_t r) HWY_ATTR { return at(4 * r + j); });
    };
    const auto a =
        transpose_blocks(d, every_fourth(0), every_fourth(1), every_fourth(2), every_fourth(3));
    next(4);
    put(a.c0);
    put(a.c1);
    put(a.c2);
    put(a.c3);
  }
}

template <row_end End, class D>
void transpose_row_major(D d, const matrix& m, float factor, float* to, std::ptrdiff_t pitch) {
  constexpr std::size_t lanes = hn::MaxLanes(D()), blocks = lanes / 4;
  const auto f = hn::Set(d, factor);
  // Copied to locals: through a reference, they would be reloaded after each store.
  const std::ptrdiff_t next_row = m.row;
  const std::size_t rows = m.rows, full = m.columns / 4 * 4;
  const auto done = static_cast<std::ptrdiff_t>(full);
  const matrix tail{m.data + done, m.row, m.column, m.rows, m.columns - full};
  transpose_elements<End>(d, tail, factor, to + done * pitch, pitch);
  // A pointer to every fourth row, so that all of them fit in registers.
  const float* from = m.data;
  for (std::size_t strips = rows / lanes; strips > 0; --strips) {
    const float* row[blocks];
    for (auto& r : row) {
      r = from;
      from += 4 * next_row;
    }
    float* column = to;
    transpose_strip(
        d, full,
        [&row, next_row](std::size_t j) {
          return row[j / 4] + static_cast<std::ptrdiff_t>(j % 4) * next_row;
        },
        [&row](std::size_t n) {
          for (auto& r : row) r += n;
        },
        [=, &column](auto v) HWY_ATTR {
          hn::StoreU(hn::Mul(f, v), d, column);
          column += pitch;
        });
    to += lanes;
  }
  // Remainder: surplus pointers repeat the last row; their lanes are discarded or padding.
  if (const std::size_t remaining = rows % lanes; remaining != 0) {
    const float* row[lanes];
    for (std::size_t j = 0; j < lanes; ++j) {
      row[j] = from;
      if (j + 1 < remaining) from += next_row;
    }
    float* column = to;
    std::size_t k = 0;
    transpose_strip(
        d, full, [&row, &k](std::size_t j) { return row[j] + k; }, [&k](std::size_t n) { k += n; },
        [=, &column](auto v) HWY_ATTR {
          store_last<End>(d, hn::Mul(f, v), column, remaining);
          column += pitch;
        });
  }
}

#else

template <row_end End, class D>
void transpose_row_major(D d, const matrix& m, float factor, float* to, std::ptrdiff_t pitch) {
  transpose_elements<End>(d, m, factor, to, pitch);
}

#endif

template <row_end End = row_end::exact, class D>
void transpose(D d, const matrix& m, float factor, float* to, std::ptrdiff_t pitch) {
  if (m.column == 1)
    transpose_row_major<End>(d, m, factor, to, pitch);
  else if (m.row == 1)
    transpose_column_major<End>(d, m, factor, to, pitch);
  else
    transpose_elements<End>(d, m, factor, to, pitch);
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
