// The rounding mode in which weft computes: to nearest, whatever the calling thread's is, since the
// bounds of exp, sine and others are those of that mode. In another, a sine is wrong by 1 %.
#pragma once
#include "weft/header_begin.hpp"

#if !defined(__SSE__) && !defined(__wasm__)
#include <cfenv>

#include "weft/language.hpp"
#endif

namespace weft::detail {

// Rounds to nearest while it lives, and restores the thread's mode.
class rounding_to_nearest {
 public:
#if defined(__SSE__)  // <cfenv> sees the mode of the x87 unit alone
  rounding_to_nearest() noexcept : before_(__builtin_ia32_stmxcsr()) {
    if (before_ & mode) __builtin_ia32_ldmxcsr(before_ & ~mode);
  }
  ~rounding_to_nearest() {
    if (before_ & mode) __builtin_ia32_ldmxcsr(before_);
  }

 private:
  static constexpr unsigned mode = 3U << 13;  // the field RC of MXCSR
  unsigned before_;
#elif defined(__wasm__)  // has no other mode
  rounding_to_nearest() noexcept {}
  ~rounding_to_nearest() {}

 private:
#else
  rounding_to_nearest() noexcept : before_(std::fegetround()) {
    if (before_ != FE_TONEAREST) std::fesetround(FE_TONEAREST);
  }
  ~rounding_to_nearest() {
    if (before_ != FE_TONEAREST) std::fesetround(before_);
  }

 private:
  int before_;
#endif
  rounding_to_nearest(const rounding_to_nearest&) = delete;
  rounding_to_nearest& operator=(const rounding_to_nearest&) = delete;
};

}  // namespace weft::detail
#include "weft/header_end.hpp"
