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

// Whether the operating system saves the tile registers when it switches threads. Only Linux's way
// to allow a process to use them is known here.
bool saves_tiles() {
#if defined(__linux__)
  std::uint32_t low = 0, high = 0;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low >> 17 & 3) == 3;
#else
  return false;
#endif
}

struct cpu_features {
  bool amx = false, avx512_bf16 = false, avx512_vnni = false, by_intel = false;

  cpu_features() {
    std::uint32_t a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(0, &a, &b, &c, &d)) by_intel = b == signature_INTEL_ebx;
    const bool saves_state = __get_cpuid(1, &a, &b, &c, &d) && (c >> 27 & 1) != 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return;
    amx = saves_state && (d >> 22 & d >> 24 & 1) != 0 && saves_tiles();  // AMX-BF16 and AMX-TILE
    avx512_vnni = (c >> 11 & 1) != 0;
    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) avx512_bf16 = (a >> 5 & 1) != 0;
  }
};

// In a virtual machine each of these questions takes microseconds.
const cpu_features& features() {
  static const cpu_features found;
  return found;
}

}  // namespace

// Intel's vectors do a quarter as many of these instructions as multiply-adds, and so half as many
// products in the same time (an Emerald Rapids: 82 and 165 GFLOP/s); AMD's do as many of both.
bool multiplies_bfloat16_pairs() noexcept {
  return features().avx512_bf16 && (features().amx || !features().by_intel);
}

bool multiplies_int8() noexcept {
  return features().avx512_vnni;
}

#else

bool multiplies_bfloat16_pairs() noexcept {
  return false;
}

bool multiplies_int8() noexcept {
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
