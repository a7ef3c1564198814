// Dropout that may be none.
#pragma once

#include "weft/ops/dropout.hpp"

namespace weft::nn::detail {

// What weft::dropout leaves of x; at rate 0 x itself, so that a layer without dropout draws no
// numbers.
template <expression X>
constexpr auto dropped(const X& x, double rate) {
  return rate == 0 ? x : dropout(x, rate);
}

}  // namespace weft::nn::detail
