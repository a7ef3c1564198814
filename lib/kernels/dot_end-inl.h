// What a contraction does with its sums: then(scale * s + a + b).
#if defined(WEFT_KERNELS_DOT_END_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_DOT_END_INL_H_
#undef WEFT_KERNELS_DOT_END_INL_H_
#else
#define WEFT_KERNELS_DOT_END_INL_H_
#endif

#include <algorithm>
#include <cstddef>

#include "weft/kernels/activation-inl.h"
#include "weft/kernels/dot_blocking.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The rows of an addend: an element for each of the sums, and memory for whole vectors of them; or
// one for all of a row.
struct addend_rows {
  const float* row[max_tile_rows]{};  // null where there is no addend
  bool broadcast = false;
};

// The sums of a tile, replaced by what they end as. There is memory for whole vectors of them.
struct tile_end {
  std::size_t rows, columns;
  float* sums[max_tile_rows];
  addend_rows addend[2];
  float scale;
};

template <class Then>
HWY_NOINLINE void end_tile(const tile_end& e) {
  const hn::CappedTag<float, max_dot_lanes> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto scale = hn::Set(d, e.scale);
  for (std::size_t i = 0; i < e.rows; ++i) {
    for (std::size_t j = 0; j < e.columns; j += lanes) {
      auto v = hn::Mul(hn::LoadU(d, e.sums[i] + j), scale);
      for (const auto& addend : e.addend) {
        const float* from = addend.row[i];
        if (from == nullptr) continue;
        v = hn::Add(v, addend.broadcast ? hn::Set(d, *from) : hn::LoadU(d, from + j));
      }
      hn::StoreU(Then()(d, v), d, e.sums[i] + j);
    }
  }
}

using tile_end_function = void (*)(const tile_end&);

inline tile_end_function tile_end_of(op then) {
  switch (then) {
    case op::relu:
      return &end_tile<activation::relu>;
    case op::gelu:
      return &end_tile<activation::gelu>;
    case op::gelu_tanh:
      return &end_tile<activation::gelu_tanh>;
    case op::tanh:
      return &end_tile<activation::tanh>;
    case op::sigmoid:
      return &end_tile<activation::sigmoid>;
    default:
      return &end_tile<activation::identity>;
  }
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
