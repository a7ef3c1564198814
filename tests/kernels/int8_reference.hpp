// precision::int8_products by its definition.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace weft::kernels {

// Numbers as integers times a scale: that of the largest by 127, rounded up to 16 significant bits.
struct int8_line {
  float scale = 0;
  std::vector<int> element;

  explicit int8_line(std::span<const float> values) : element(values.size()) {
    float most = 0;
    bool finite = true;
    for (const float x : values) {
      finite = finite && std::isfinite(x);
      most = std::max(most, std::abs(x));
    }
    if (!finite) {
      scale = std::numeric_limits<float>::quiet_NaN();
      return;
    }
    if (most / 127 < std::numeric_limits<float>::min()) return;
    const int exponent = std::ilogb(most / 127) - 15;
    scale = static_cast<float>(
        std::ldexp(std::ceil(std::ldexp(static_cast<double>(most / 127), -exponent)), exponent));
    for (std::size_t i = 0; i < values.size(); ++i)
      element[i] = static_cast<int>(std::nearbyint(values[i] * (1 / scale)));
  }
};

inline void round_to_int8(std::span<float> values) {
  const int8_line rounded(values);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = rounded.scale * static_cast<float>(rounded.element[i]);
}

}  // namespace weft::kernels
