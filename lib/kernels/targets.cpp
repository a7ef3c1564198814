#include "weft/kernels/targets.hpp"

#if HWY_ARCH_X86 && !HWY_COMPILER_MSVC
#include <cpuid.h>
#endif

#include <atomic>

namespace weft::kernels {

namespace {

std::int64_t of_this_machine() {
#if HWY_ARCH_X86 && !HWY_COMPILER_MSVC
  // What Highway asks for. What clang 14 cannot ask for (F16C, LZCNT, VAES) comes with the others.
#define WEFT_HAS(feature) (__builtin_cpu_supports(feature) != 0)
  __builtin_cpu_init();
  const bool ssse3 = WEFT_HAS("ssse3");
  const bool sse4 = ssse3 && WEFT_HAS("sse4.2") && WEFT_HAS("pclmul") && WEFT_HAS("aes");
  const bool avx2 = sse4 && WEFT_HAS("avx2") && WEFT_HAS("fma") && WEFT_HAS("bmi2");
  const bool avx3 = avx2 && WEFT_HAS("avx512f") && WEFT_HAS("avx512vl") && WEFT_HAS("avx512dq") &&
                    WEFT_HAS("avx512bw");
  const bool avx3_dl = avx3 && WEFT_HAS("avx512vbmi2") && WEFT_HAS("avx512vnni") &&
                       WEFT_HAS("avx512bitalg") && WEFT_HAS("avx512vpopcntdq") &&
                       WEFT_HAS("vpclmulqdq") && WEFT_HAS("gfni");
  const auto if_there = [](bool is_there, std::int64_t target) { return is_there ? target : 0; };
  std::int64_t found = HWY_SCALAR | HWY_EMU128 | if_there(ssse3, HWY_SSSE3) |
                       if_there(sse4, HWY_SSE4) | if_there(avx2, HWY_AVX2) |
                       if_there(avx3, HWY_AVX3) | if_there(avx3_dl, HWY_AVX3_DL);
#ifdef HWY_AVX3_SPR  // Highway 1.0.5
  // clang 14 cannot ask for float16, either.
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool float16 = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d >> 23 & 1) != 0;
  const bool bfloat16 = avx3_dl && WEFT_HAS("avx512bf16");
  found |= HWY_SSE2 | if_there(bfloat16 && __builtin_cpu_is("amd"), HWY_AVX3_ZEN4) |
           if_there(bfloat16 && float16, HWY_AVX3_SPR);
#endif
  return found;
#else
  return HWY_SUPPORTED_TARGETS;
#endif
}

std::atomic<std::int64_t> in_use{0};

}  // namespace

std::int64_t targets() noexcept {
  if (in_use == 0) in_use = of_this_machine();
  return in_use;
}

void use_targets(std::int64_t only) noexcept {
  in_use = only;
}

}  // namespace weft::kernels
