// Rounding to int8.
#pragma once
#include "weft/header_begin.hpp"

#include <bit>
#include <cstdint>
#include <limits>

#include "weft/language.hpp"

namespace weft::detail {

// Numbers whose largest magnitude has these bits are q * scale, with q = x * inverse rounded to
// nearest: of magnitude 127 at most. The scale is rounded up to 16 significant bits, so that each
// q * scale is a float, which is rounded to the same q and scale again. With NaN or an infinity,
// whose bits are the largest, the scale is NaN; of numbers so small that it is subnormal, and its
// inverse may be infinite, it is zero. In both cases all q are zero, and so is the inverse.
struct int8_rounding {
  float scale = 0, inverse = 0;

  explicit int8_rounding(std::uint32_t most) {
    if (most >= 0x7f800000u) {
      scale = std::numeric_limits<float>::quiet_NaN();
    } else if (const auto x = std::bit_cast<float>(most);
               x / 127 >= std::numeric_limits<float>::min()) {
      scale = std::bit_cast<float>((std::bit_cast<std::uint32_t>(x / 127) + 0xff) & ~0xffu);
      inverse = 1 / scale;
    }
  }

  // The sum of this and a number of magnitude below 2^22 is rounded to an integer, ties to even,
  // whose lowest bits are those of the sum.
  static constexpr float magic = 0x1.8p23f;
  std::int8_t operator()(float x) const {
    if (inverse == 0) return 0;
    return static_cast<std::int8_t>(std::bit_cast<std::int32_t>(x * inverse + magic));
  }
};

}  // namespace weft::detail
#include "weft/header_end.hpp"
