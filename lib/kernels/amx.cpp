#include "kernels/amx.hpp"

#include <cstdint>

#if WEFT_KERNELS_AMX
#include <cpuid.h>
#endif
#if WEFT_KERNELS_AMX && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace weft::kernels {

#if WEFT_KERNELS_AMX

namespace {

struct cpu_features {
  bool amx = false, avx512_bf16 = false, by_intel = false;

  cpu_features() {
    std::uint32_t a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(0, &a, &b, &c, &d)) by_intel = b == signature_INTEL_ebx;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return;
    amx = (d >> 22 & d >> 24 & 1) != 0;  // AMX-BF16 and AMX-TILE
    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) avx512_bf16 = (a >> 5 & 1) != 0;
  }
};

// In a virtual machine each of these questions takes microseconds.
const cpu_features& features() {
  static const cpu_features found;
  return found;
}

}  // namespace

// Intel's vectors multiply pairs at half the rate of multiply-adds, as many numbers in the same
// time (an Emerald Rapids: 82 and 165 GFLOP/s), AMD's at the same rate.
bool multiplies_bfloat16_pairs() noexcept {
  return features().avx512_bf16 && (features().amx || !features().by_intel);
}

#else

bool multiplies_bfloat16_pairs() noexcept {
  return false;
}

#endif

#if WEFT_KERNELS_AMX && defined(__linux__)

bool may_use_amx() noexcept {
  // Linux, Documentation/arch/x86/xstate.rst.
  constexpr long request_permission = 0x1023, tile_data = 18;
  static const bool allowed =
      features().amx && syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  return allowed;
}

#else

bool may_use_amx() noexcept {
  return false;
}

#endif

}  // namespace weft::kernels
