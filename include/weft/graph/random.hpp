// What a dropout's rate means to the kernels.
#pragma once
#include "weft/header_begin.hpp"

#include <cstdint>

#include "weft/language.hpp"

namespace weft {

// A rate is rounded to a multiple of 2^-24: an element is dropped if the upper 24 of its bits are
// less than rate * 2^24.
constexpr std::uint32_t drop_threshold(double rate) {
  return static_cast<std::uint32_t>(rate * 0x1p24 + 0.5);
}

}  // namespace weft
#include "weft/header_end.hpp"
