// Results of the targets of a family, those with fused multiply-add or those without, have the same
// bits. A NaN is a NaN: which of two operands it has its sign from, IEEE 754 leaves open.
#pragma once

#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kernels/arrays.hpp"
#include "kernels/check.hpp"

namespace weft::kernels {

// Whether the target that is dispatched to has no fused multiply-add.
inline bool rounds_products() {
  constexpr std::int64_t targets =
      HWY_SSE4 | HWY_SSSE3 | HWY_WASM | HWY_WASM_EMU256 | HWY_EMU128 | HWY_SCALAR;
  const std::int64_t supported = hwy::SupportedTargets();
  return (supported & -supported & targets) != 0;
}

// The results of the first target of each family.
class results_of_families {
 public:
  // How those of the target that is dispatched to differ from these.
  std::string differences(std::vector<float> result) {
    std::replace_if(
        result.begin(), result.end(), [](float x) { return std::isnan(x); },
        std::numeric_limits<float>::quiet_NaN());
    std::vector<float>& first = first_[rounds_products()];
    if (first.empty()) first = result;
    return different_bits(result, first);
  }

 private:
  std::vector<float> first_[2];
};

// Checks that the targets of a family give a call the same bits.
inline void check_families(kernel k, owning_call<> c, const array<float>& result,
                           const std::string& what) {
  results_of_families same;
  on_every_target([&](const table& kernels) {
    array<float> mine = result;
    c.operands[0].data = mine.as_operand().data;
    run(kernels.of(k), c);
    const std::string different = same.differences(mine.memory);
    BOOST_TEST(different == "", what << ": " << different);
  });
}

}  // namespace weft::kernels
