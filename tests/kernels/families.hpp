// Results of the targets of a family, those with fused multiply-add or those without, have the same
// bits. A NaN is a NaN: which of two operands it has its sign from, IEEE 754 leaves open.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "kernels/arrays.hpp"
#include "weft/kernels/family.hpp"

namespace weft::kernels {

// The results of the first target of each family.
class results_of_families {
 public:
  // How those of the target that is dispatched to differ from these.
  std::string differences(std::vector<float> result) {
    std::replace_if(
        result.begin(), result.end(), [](float x) { return std::isnan(x); },
        std::numeric_limits<float>::quiet_NaN());
    std::vector<float>& first = first_[static_cast<std::size_t>(family())];
    if (first.empty()) first = result;
    return different_bits(result, first);
  }

 private:
  std::vector<float> first_[2];
};

}  // namespace weft::kernels
