// What packed weights are kept in.
#pragma once
#include "weft/header_begin.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include "weft/language.hpp"

namespace weft {

// What packed weights are kept in, for module::freeze. Sums are float32 in all of these.
// - bfloat16 halves the memory. A weight is rounded to the nearest one, ties to even, and so is off
//   by at most 2^-8 of itself; what it is multiplied with stays float32.
// - bfloat16_products takes the same memory, and is faster than float32 where the processor
//   multiplies bfloat16: there, what a weight is multiplied with is rounded in the same way, a
//   product is off by 2^-7 + 2^-16 of itself, and numbers below 2^-126 count as zeros. Those are
//   AMD's from Zen 4 on; Intel's with AMX, under Linux, from Sapphire Rapids on; and 64-bit Arm's
//   with BF16, if Highway is 1.2 or newer. Elsewhere it is the same as bfloat16. The first product
//   asks Linux for AMX, which then wants alternate signal stacks (sigaltstack) to have room for its
//   registers, 12 KB in all; where a thread has a smaller one, it refuses, and vectors multiply.
enum class precision : std::uint8_t { float32, bfloat16, bfloat16_products };

// The bytes of a weight that is kept in p.
constexpr std::size_t bytes_of(precision p) {
  return p == precision::float32 ? 4 : 2;
}

// A size or offset in the block of packed parameters, in bytes, from that of float32.
constexpr std::size_t packed_size(std::size_t in_float32, precision as) {
  return in_float32 / (bytes_of(precision::float32) / bytes_of(as));
}

namespace detail {

// In files of packed weights.
inline constexpr std::array precision_names{"float32", "bfloat16", "bfloat16_products"};
constexpr const char* name_of(precision p) {
  return precision_names[static_cast<std::size_t>(p)];
}

}  // namespace detail
}  // namespace weft
#include "weft/header_end.hpp"
