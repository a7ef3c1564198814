// What a contraction does with its sums: then(scale * s + a + b).
#if defined(WEFT_KERNELS_DOT_END_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_DOT_END_INL_H_
#undef WEFT_KERNELS_DOT_END_INL_H_
#else
#define WEFT_KERNELS_DOT_END_INL_H_
#endif

#include <cstddef>

#include "weft/kernels/activation-inl.h"
#include "weft/kernels/dot_blocking.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The rows of an addend: an element for each of the sums, and memory for whole vectors of them; or
// one for all of a row.
struct addend_rows {
  const float* row[max_tile_rows];
  bool broadcast;
};

// What a tile's sums are scaled by, and what is added to them. It is made for each tile, so that
// nothing is written to it that nobody reads.
struct tile_end {
  float scale;
  int addends;
  addend_rows addend[2];
};

// A tile's sums in memory, with room for whole vectors: row r from row[r] + column on.
struct tile_sums {
  float* const* row;
  std::ptrdiff_t column;
  std::size_t rows, columns;
};

HWY_NOINLINE inline void end_tile(const tile_sums& s, const tile_end& e) {
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

template <class Then>
HWY_NOINLINE void activate_tile(const tile_sums& s) {
  const hn::CappedTag<float, max_dot_lanes> d;
  const std::size_t lanes = hn::Lanes(d), rows = s.rows, columns = s.columns;
  for (std::size_t i = 0; i < rows; ++i) {
    float* const to = s.row[i] + s.column;
    for (std::size_t j = 0; j < columns; j += lanes)
      hn::StoreU(Then()(d, hn::LoadU(d, to + j)), d, to + j);
  }
}

using tile_activation = void (*)(const tile_sums&);

// Null where the sums stay as they are.
inline tile_activation tile_activation_of(op epilogue) {
  switch (epilogue) {
    case op::relu:
      return &activate_tile<activation::relu>;
    case op::gelu:
      return &activate_tile<activation::gelu>;
    case op::gelu_tanh:
      return &activate_tile<activation::gelu_tanh>;
    case op::tanh:
      return &activate_tile<activation::tanh>;
    case op::sigmoid:
      return &activate_tile<activation::sigmoid>;
    default:
      return nullptr;
  }
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
