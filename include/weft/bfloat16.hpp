// Elements of 16 bits with the range of float.
#pragma once
#include "weft/header_begin.hpp"

#include <bit>
#include <cstdint>

#include "weft/language.hpp"

namespace weft {

// bfloat16, the upper 16 bits of a float: an element of states and of what is converted by
// weft::cast, to halve their memory. It has no arithmetic: it converts to float.
struct bfloat16 {
  std::uint16_t bits;  // the sign, 8 bits of exponent and 7 of fraction

  bfloat16() = default;
  // The nearest to x, ties to even; NaN stays NaN.
  explicit constexpr bfloat16(float x) : bits(rounded(x)) {}

  // The same number as a float.
  constexpr operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }

 private:
  static constexpr std::uint16_t rounded(float x) {
    const auto wide = std::bit_cast<std::uint32_t>(x);
    if (x != x) return static_cast<std::uint16_t>(wide >> 16 | 0x40);  // a quiet NaN
    return static_cast<std::uint16_t>((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
  }
};
static_assert(sizeof(bfloat16) == 2);

}  // namespace weft
#include "weft/header_end.hpp"
