// The SIMD targets that kernels and generated code are chosen among.
#pragma once
#include "weft/header_begin.hpp"

#include <hwy/targets.h>

#include <cstdint>

#include "weft/language.hpp"

namespace weft::kernels {

// Those that this machine runs, as bits of Highway's, or those of use_targets. On x86 not Highway's
// function: its library takes 3 ms to start (1.0.3), and Debian has none to link statically.
std::int64_t targets() noexcept;
// For tests: these from now on, which the machine runs; 0: all of them.
void use_targets(std::int64_t only) noexcept;

// Of functions in the order of Highway's tables, that for the best target. Inlined: which targets
// there are depends on the file.
template <class F>
HWY_INLINE F of_best_target(const F (&of)[HWY_MAX_DYNAMIC_TARGETS + 2]) {
  hwy::ChosenTarget chosen;
  chosen.Update(targets());
  return of[chosen.GetIndex()];
}

}  // namespace weft::kernels

// The function `name` for the best target, after HWY_AFTER_NAMESPACE, as HWY_DYNAMIC_DISPATCH.
#if (HWY_TARGETS & (HWY_TARGETS - 1)) == 0
#define WEFT_OF_BEST_TARGET(name) (&HWY_STATIC_DISPATCH(name))
#else
#define WEFT_OF_BEST_TARGET(name)                                         \
  (::weft::kernels::of_best_target<decltype(&HWY_STATIC_DISPATCH(name))>( \
      {nullptr, HWY_CHOOSE_TARGET_LIST(name), HWY_CHOOSE_FALLBACK(name)}))
#endif
#include "weft/header_end.hpp"
