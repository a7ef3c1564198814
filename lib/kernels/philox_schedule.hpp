// The state that a dropout draws random words from: see weft/kernels/philox.hpp.
#pragma once

#include <cstdint>

#include "weft/kernels/philox.hpp"

namespace weft::kernels {

// What all counters of a dropout share: the key of each round, and the results of the first rounds
// for the words that are equal in all of them.
struct philox_schedule {
  philox_schedule() = default;
  philox_schedule(const random_state& from, std::uint32_t stream) {
    const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    const auto high = [=](std::uint64_t x) { return low(x >> 32); };
    std::uint32_t k[]{low(from.seed), high(from.seed)};
    for (auto& round : key) {
      round[0] = k[0];
      round[1] = k[1];
      k[0] += philox::weyl[0];
      k[1] += philox::weyl[1];
    }
    // Word 0 differs between counters; after one round 2 and 3 do, after two all but 3.
    const std::uint64_t p1 = std::uint64_t{philox::multiplier[1]} * low(from.step);
    const std::uint64_t p0 = std::uint64_t{philox::multiplier[0]} * (high(p1) ^ stream ^ key[0][0]);
    third[0] = high(from.step) ^ key[0][1];
    third[1] = low(p1) ^ key[1][0];
    third[2] = high(p0) ^ key[1][1];
    third[3] = low(p0) ^ key[2][1];
  }

  std::uint32_t key[philox::rounds][2];
  std::uint32_t third[4];
};

}  // namespace weft::kernels
