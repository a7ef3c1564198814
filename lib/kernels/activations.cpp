// The activations that a contraction applies to tiles of its result.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/activations.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include <cstddef>

#include "kernels/epilogue-inl.h"
#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/vector_ops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {
namespace {

template <class Activation>
void activate_tile(const tile_sums& s) {
  const hn::CappedTag<float, max_dot_lanes> d;
  const std::size_t lanes = hn::Lanes(d), rows = s.rows, columns = s.columns;
  for (std::size_t i = 0; i < rows; ++i) {
    float* const to = s.row[i] + s.column;
    for (std::size_t j = 0; j < columns; j += lanes)
      hn::StoreU(Activation()(d, hn::LoadU(d, to + j)), d, to + j);
  }
}

constexpr auto activations = table_of_operations([]<op K>() -> tile_activation {
  if constexpr (has_flag(K, op_flag::epilogue) && has_vector_op<K>)
    return &activate_tile<vector_op<K>>;
  else
    return nullptr;
});

}  // namespace

tile_activation tile_activation_of(op activation) {
  return activations[activation];
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
