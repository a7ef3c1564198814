// Counter-based random numbers: Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as
// easy as 1, 2, 3", section 4.3), a bijection of 128-bit counters under a 64-bit key. Draws do not
// depend on each other, so any thread may compute any of them.
#pragma once
#include "weft/header_begin.hpp"

#include <array>
#include <cstdint>

#include "weft/graph/random.hpp"
#include "weft/kernels/call.hpp"

namespace weft::kernels {

namespace philox {

inline constexpr int rounds = 10;
inline constexpr std::uint32_t multiplier[]{0xD2511F53, 0xCD9E8D57};
inline constexpr std::uint32_t weyl[]{0x9E3779B9, 0xBB67AE85};  // increments of the key per round

constexpr std::array<std::uint32_t, 4> block(std::array<std::uint32_t, 4> counter,
                                             std::array<std::uint32_t, 2> key) {
  auto& c = counter;
  for (int r = 0; r < rounds; ++r) {
    const std::uint64_t p0 = std::uint64_t{multiplier[0]} * c[0];
    const std::uint64_t p1 = std::uint64_t{multiplier[1]} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key[0] += weyl[0];
    key[1] += weyl[1];
  }
  return c;
}

}  // namespace philox

// The 32 random bits of the element with id `element`: four consecutive elements share a counter,
// (element / 4, stream, step), with the seed as the key.
constexpr std::uint32_t random_word(const random_state& from, std::uint32_t stream,
                                    std::uint32_t element) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  return philox::block({element / 4, stream, low(from.step), low(from.step >> 32)},
                       {low(from.seed), low(from.seed >> 32)})[element % 4];
}

// See drop_threshold in graph/random.hpp.
constexpr bool is_dropped(std::uint32_t word, std::uint32_t threshold) {
  return word >> 8 < threshold;
}
// The factor of elements that are not dropped, 1 / (1 - rate); 0 if all are dropped.
constexpr float kept_scale(std::uint32_t threshold) {
  return threshold == 1u << 24 ? 0 : static_cast<float>(0x1p24 / (0x1p24 - threshold));
}

}  // namespace weft::kernels
#include "weft/header_end.hpp"
