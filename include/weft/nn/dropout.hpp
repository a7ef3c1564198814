// Optional dropout.
#pragma once

#include "weft/ops/dropout.hpp"

namespace weft::nn::detail {

// weft::dropout of x; at rate 0 x itself, so that a layer without dropout draws no random bits.
template <expression X>
constexpr auto dropped(const X& x, double rate) {
  return rate == 0 ? x : dropout(x, rate);
}

}  // namespace weft::nn::detail
