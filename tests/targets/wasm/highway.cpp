// What the tests call of Highway's library. There is one target, which every WebAssembly with SIMD
// has.
#include <hwy/targets.h>

namespace hwy {

int64_t SupportedTargets() {
  return HWY_TARGETS;
}

void SetSupportedTargetsForTest(int64_t) {}

}  // namespace hwy
