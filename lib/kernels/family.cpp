#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/family.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "weft/kernels/family.hpp"
#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {
namespace {

target_family family_of_target() {
  return HWY_NATIVE_FMA ? target_family::fused : target_family::separate;
}
const char* name_of_target() {
  return hwy::TargetName(HWY_TARGET);
}

}  // namespace
}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft {

target_family family() noexcept {
  using namespace kernels;
  return WEFT_OF_BEST_TARGET(family_of_target)();
}
std::string_view target_name() noexcept {
  using namespace kernels;
  return WEFT_OF_BEST_TARGET(name_of_target)();
}

}  // namespace weft
#endif
