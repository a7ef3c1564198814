// Edge tiles, which memory does not hold as full vectors, are staged in the scratch; and products
// of no depth.
#if defined(WEFT_KERNELS_EDGE_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_EDGE_TILE_INL_H_
#undef WEFT_KERNELS_EDGE_TILE_INL_H_
#else
#define WEFT_KERNELS_EDGE_TILE_INL_H_
#endif

#include <cstddef>

#include "kernels/dot_loops.hpp"
#include "kernels/epilogue-inl.h"
#include "kernels/microkernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// A tile's elements in the result or an addend: that of row i, column j is at
// row[first_row + i] + column[first_column + j].
template <class T>
struct tile_elements {
  T* data;
  const offset_list &row, &column;
  std::size_t first_row, first_column, rows, columns;
  bool contiguous;  // unit stride along a row
};

// Copies an edge tile to rows that have room for full vectors.
HWY_INLINE void load_edge(const tile_elements<const float>& from, float* const* to) {
  const tag d;
  const std::size_t lanes = hn::Lanes(d), columns = from.columns;
  const offset_list column = from.column.from(from.first_column);
  for (std::size_t i = 0; i < from.rows; ++i) {
    const float* const row = from.data + from.row[from.first_row + i];
    float* const line = to[i];
    if (from.contiguous) {
      const float* const first = row + column[0];
      std::size_t j = 0;
      for (; j + lanes <= columns; j += lanes) hn::StoreU(hn::LoadU(d, first + j), d, line + j);
      if (j < columns) hn::StoreU(load_n(d, first + j, columns - j), d, line + j);
    } else {
      for (std::size_t j = 0; j < columns; ++j) line[j] = row[column[j]];
    }
  }
}

// Copies an edge tile from such rows to memory.
HWY_INLINE void store_edge(const float* const* from, const tile_elements<float>& to) {
  const tag d;
  const std::size_t lanes = hn::Lanes(d), columns = to.columns;
  const offset_list column = to.column.from(to.first_column);
  for (std::size_t i = 0; i < to.rows; ++i) {
    const float* const line = from[i];
    float* const row = to.data + to.row[to.first_row + i];
    if (to.contiguous) {
      float* const first = row + column[0];
      std::size_t j = 0;
      for (; j + lanes <= columns; j += lanes) hn::StoreU(hn::LoadU(d, line + j), d, first + j);
      if (j < columns) store_n(hn::LoadU(d, line + j), d, first + j, columns - j);
    } else {
      for (std::size_t j = 0; j < columns; ++j) row[column[j]] = line[j];
    }
  }
}

// A contraction of depth 0: the epilogue of zeros. lhs and rhs may have no memory.
inline void epilogue_of_zeros(const contraction& x, op activation) {
  const tile_activation activate = tile_activation_of(activation);
  for (std::ptrdiff_t i = 0; i < x.batch.points(); ++i) {
    for (std::ptrdiff_t j = 0; j < x.rows.points(); ++j) {
      for (std::ptrdiff_t k = 0; k < x.columns.points(); ++k) {
        const operand_offsets at[]{offsets_at(x.batch, i), offsets_at(x.rows, j),
                                   offsets_at(x.columns, k)};
        float sum[max_dot_lanes]{};
        float* const row[]{sum};
        if (x.a != nullptr) sum[0] += x.a[at[0].in[of_a] + at[1].in[of_a] + at[2].in[of_a]];
        if (x.b != nullptr) sum[0] += x.b[at[0].in[of_b] + at[1].in[of_b] + at[2].in[of_b]];
        if (activate != nullptr) activate({row, 0, 1, 1});
        x.result[at[0].in[of_result] + at[1].in[of_result] + at[2].in[of_result]] = sum[0];
      }
    }
  }
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
