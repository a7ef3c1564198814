// Denormals: numbers below 2^-126, with which some processors compute for tens of times as long.
#pragma once
#include "weft/header_begin.hpp"

#include <cstdint>

#include "weft/language.hpp"

namespace weft {

// While it lives, the calling thread takes denormals for zeros, and makes zeros of those that it
// computes: FTZ and DAZ of x86, FZ of aarch64, nothing on other processors. So do the threads of
// run_on in its runs. Nothing in weft does this by itself: results have the same bits on all
// processors of a family without it, and with it but for numbers below 2^-126.
//
//   const weft::flush_denormals guard;  // around the loop of a thread that must not wait
class [[nodiscard]] flush_denormals {
#if defined(__SSE__)
  static constexpr std::uint64_t flush = 0x8040;  // FTZ and DAZ of MXCSR
#else
  static constexpr std::uint64_t flush = std::uint64_t{1} << 24;  // FZ of FPCR
#endif

 public:
  // From here on; or as the control word of another thread says.
  explicit flush_denormals(std::uint64_t as = flush) noexcept : before_(control()) {
    set(as);
  }
  ~flush_denormals() {
    set(before_);
  }
  flush_denormals(const flush_denormals&) = delete;
  flush_denormals& operator=(const flush_denormals&) = delete;

  // The control word of the calling thread; 0 on other processors.
  static std::uint64_t control() noexcept {
    std::uint64_t word = 0;
#if defined(__SSE__)
    word = __builtin_ia32_stmxcsr();
#elif defined(__aarch64__)
    asm volatile("mrs %0, fpcr" : "=r"(word));
#endif
    return word;
  }

 private:
  static void set(std::uint64_t as) noexcept {
    const std::uint64_t now = control(), next = (now & ~flush) | (as & flush);
    if (next == now) return;
#if defined(__SSE__)
    __builtin_ia32_ldmxcsr(static_cast<unsigned>(next));
#elif defined(__aarch64__)
    asm volatile("msr fpcr, %0" : : "r"(next));
#endif
  }

  std::uint64_t before_;
};

}  // namespace weft
#include "weft/header_end.hpp"
