// Runs a test's checks on every SIMD target.
#pragma once

#include <boost/test/unit_test.hpp>

#include "weft/kernels/kernels.hpp"
#include "weft/kernels/targets.hpp"

namespace weft::kernels {

#if defined(HWY_COMPILE_ONLY_STATIC) && defined(__AVX2__) && !defined(__AVX512F__)
static_assert(HWY_STATIC_TARGET == HWY_AVX2,
              "a build for AVX2 alone tests an older target: Highway's AVX2 also needs -maes");
#endif

// Calls check with the kernel table of each target that is compiled in and that this CPU supports.
template <class F>
void on_every_target(F&& check) {
  for (std::int64_t left = targets() & HWY_TARGETS; left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    use_targets(target);
    BOOST_TEST_CONTEXT("target " << hwy::TargetName(target)) {
      check(dispatch());
    }
  }
  use_targets(0);
}

}  // namespace weft::kernels
