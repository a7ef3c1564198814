// How the target that Highway has chosen lays out a packed rhs.
#include "weft/kernels/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/packed_layout.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/microkernel-inl.h"
#include "weft/kernels/targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {
namespace {

detail::packed_layout layout() {
  return {static_cast<std::uint8_t>(hn::Lanes(tag())), static_cast<std::uint8_t>(tile_vectors),
          multiplies_pairs()};
}

}  // namespace
}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::kernels {

detail::packed_layout layout_of_packed() noexcept {
  return WEFT_OF_BEST_TARGET(layout)();
}

}  // namespace weft::kernels
#endif
