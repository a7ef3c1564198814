// Elements of 16 bits with the precision of 11: float16, IEEE 754 binary16.
#pragma once
#include "weft/header_begin.hpp"

#include <bit>
#include <cstdint>

#include "weft/language.hpp"

namespace weft {

// The number that 16 bits stand for: float has all of them.
constexpr float from_float16(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  const std::uint32_t exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  if (exponent == 0) {  // zero or subnormal: a multiple of 2^-24
    const float size = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -size : size;
  }
  const std::uint32_t wide = exponent == 0x1f ? 0xff : exponent + 112;  // the biases: 127 and 15
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

// The bits of the nearest to x, ties to even; NaN stays NaN.
constexpr std::uint16_t to_float16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const std::uint32_t size = bits & 0x7fffffff;
  std::uint32_t half = 0;
  if (size > 0x7f800000) {  // NaN
    half = 0x7e00 | (size >> 13 & 0x3ff);
  } else if (size >= 0x477ff000) {  // 65520 and above round to infinity
    half = 0x7c00;
  } else if (size < 0x38800000) {
    // Subnormal float16, multiples of 2^-24: floats in [1/2, 1) have the same spacing, so adding
    // 1/2 rounds correctly.
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + 0.5f) - 0x3f000000;
  } else {
    half = (size - (std::uint32_t{112} << 23) + 0xfff + (size >> 13 & 1)) >> 13;
  }
  return static_cast<std::uint16_t>(sign | half);
}

}  // namespace weft
#include "weft/header_end.hpp"
