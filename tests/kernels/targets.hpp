// Runs a test's checks on every SIMD target.
#pragma once

#include <hwy/targets.h>

#include <boost/test/unit_test.hpp>

#include "weft/kernels/kernels.hpp"

namespace weft::kernels {

#if defined(HWY_COMPILE_ONLY_STATIC) && defined(__AVX2__) && !defined(__AVX512F__)
static_assert(HWY_STATIC_TARGET == HWY_AVX2,
              "a build for AVX2 alone tests an older target: Highway's AVX2 also needs -maes");
#endif

// Calls check with the kernel table of each target that is compiled in and that this CPU supports.
template <class F>
void on_every_target(F&& check) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    BOOST_TEST_CONTEXT("target " << hwy::TargetName(target)) {
      check(dispatch());
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace weft::kernels
