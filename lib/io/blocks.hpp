// The block formats of GGUF: groups of elements of few bits that share scales. The layouts and the
// formulas are those of ggml (https://github.com/ggml-org/ggml, src/ggml-common.h and
// src/ggml-quants.c). Every product below is exact in float32, as the scales are float16 times at
// most 8 bits, so at most one rounding is left and each element has one possible value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "half.hpp"

namespace weft::detail {

// What a file has of each block of `size` elements, `bytes` bytes without alignment.
using block_bytes = const std::uint8_t*;

// A float16 of a block, little-endian.
inline float half_at(block_bytes b) {
  return from_float16(static_cast<std::uint16_t>(b[0] | b[1] << 8));
}

// Blocks of 32 elements: a scale, in some formats a minimum, in some a fifth bit of each element,
// and the low 4 bits of elements i and i + 16 in byte i.
template <bool Minimum, bool FifthBit>
struct small_block {
  static constexpr std::size_t size = 32, bytes = 2 + 2 * Minimum + 4 * FifthBit + 16;

  static void decode(block_bytes b, float* to) {
    const float scale = half_at(b);
    constexpr int middle = Minimum ? 0 : FifthBit ? 16 : 8;
    const block_bytes high = b + 2 + 2 * Minimum, low = high + 4 * FifthBit;
    for (unsigned i = 0; i < 32; ++i) {
      int q = i < 16 ? low[i] & 15 : low[i - 16] >> 4;
      if (FifthBit) q |= (high[i / 8] >> i % 8 & 1) << 4;
      to[i] = scale * static_cast<float>(q - middle);
      if (Minimum) to[i] += half_at(b + 2);
    }
  }
};

// Q8_0: a scale, and 32 signed bytes.
struct bytes_block {
  static constexpr std::size_t size = 32, bytes = 2 + 32;

  static void decode(block_bytes b, float* to) {
    const float scale = half_at(b);
    for (std::size_t i = 0; i < size; ++i)
      to[i] = scale * static_cast<float>(static_cast<std::int8_t>(b[2 + i]));
  }
};

// Q4_K and Q5_K: 256 elements in 8 groups, each with a scale and a minimum of 6 bits, which are
// multiples of the block's two float16.
template <bool FifthBit>
struct grouped_block {
  static constexpr std::size_t size = 256, bytes = 4 + 12 + 32 * FifthBit + 128;

  static void decode(block_bytes b, float* to) {
    const float scale = half_at(b), minimum = half_at(b + 2);
    const block_bytes six = b + 4, high = b + 16, low = high + 32 * FifthBit;
    for (unsigned g = 0; g < 8; ++g) {
      // The 6 bits of the first four groups are in one byte; the others have 4 there, and their two
      // high bits in the upper ones of the first groups' bytes.
      const int s = g < 4 ? six[g] & 63 : (six[g + 4] & 15) | six[g - 4] >> 6 << 4;
      const int m = g < 4 ? six[g + 4] & 63 : six[g + 4] >> 4 | six[g] >> 6 << 4;
      const float of_group = scale * static_cast<float>(s), off = minimum * static_cast<float>(m);
      for (unsigned i = 0; i < 32; ++i) {
        const int pair = low[g / 2 * 32 + i];
        int q = g % 2 == 0 ? pair & 15 : pair >> 4;
        if (FifthBit) q |= (high[i] >> g & 1) << 4;
        to[g * 32 + i] = of_group * static_cast<float>(q) - off;
      }
    }
  }
};

// Q6_K: 256 elements in 16 groups with a scale of 8 bits each, in two halves of 128: the low 4 bits
// of elements i and i + 64 of a half in byte i, two high bits of elements i, i + 32, i + 64 and i +
// 96 in byte i; the block's float16 is last.
struct six_bit_block {
  static constexpr std::size_t size = 256, bytes = 128 + 64 + 16 + 2;

  static void decode(block_bytes b, float* to) {
    const float scale = half_at(b + 208);
    for (unsigned e = 0; e < 256; ++e) {
      const unsigned half = e / 128, i = e % 128;
      const int pair = b[half * 64 + i % 64];
      const int low = i < 64 ? pair & 15 : pair >> 4;
      const int high = b[128 + half * 32 + i % 32] >> i / 32 * 2 & 3;
      const float of_group = scale * static_cast<float>(static_cast<std::int8_t>(b[192 + e / 16]));
      to[e] = of_group * static_cast<float>((low | high << 4) - 32);
    }
  }
};

}  // namespace weft::detail
