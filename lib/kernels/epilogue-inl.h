// The epilogue of a contraction: activation(scale * s + a + b) of each sum s.
#if defined(WEFT_KERNELS_EPILOGUE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_EPILOGUE_INL_H_
#undef WEFT_KERNELS_EPILOGUE_INL_H_
#else
#define WEFT_KERNELS_EPILOGUE_INL_H_
#endif

#include <cstddef>

#include "weft/graph/op_table.hpp"
#include "weft/kernels/dot_blocking.hpp"
#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// The rows of an addend: an element for each sum, in memory for full vectors; or one, broadcast
// over the row.
struct addend_rows {
  const float* row[max_tile_rows];
  bool broadcast;
};

// The scale and the addends of a tile's sums. There are no initializers: one is made for each tile,
// and most members are not read.
struct epilogue {
  float scale;
  int addends;
  addend_rows addend[2];
};

// A tile's sums in memory, with room for full vectors: row r starts at row[r] + column.
struct tile_sums {
  float* const* row;
  std::ptrdiff_t column;
  std::size_t rows, columns;
};

HWY_NOINLINE inline void apply_epilogue(const tile_sums& s, const epilogue& e) {
  const hn::CappedTag<float, max_dot_lanes> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto scale = hn::Set(d, e.scale);
  for (std::size_t i = 0; i < s.rows; ++i) {
    float* const to = s.row[i] + s.column;
    for (std::size_t j = 0; j < s.columns; j += lanes) {
      auto v = hn::Mul(hn::LoadU(d, to + j), scale);
      for (int a = 0; a < e.addends; ++a) {
        const float* from = e.addend[a].row[i];
        v = hn::Add(v, e.addend[a].broadcast ? hn::Set(d, *from) : hn::LoadU(d, from + j));
      }
      hn::StoreU(v, d, to + j);
    }
  }
}

// Applies an activation to a tile.
using tile_activation = void (*)(const tile_sums&);
// That of an operation; null if it is none. Defined in activations.cpp, so that a change of a
// vector_op does not compile the contraction.
tile_activation tile_activation_of(op activation);

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
