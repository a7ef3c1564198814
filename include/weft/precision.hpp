// What packed weights are kept in.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft {

// Products and sums are float32 in either. bfloat16 halves the memory; a weight is rounded to the
// nearest one, ties to even, and so is off by at most 2^-8 of itself.
enum class precision : std::uint8_t { float32, bfloat16 };

constexpr std::size_t bytes_of(precision p) {
  return p == precision::float32 ? 4 : 2;
}

}  // namespace weft
