// The two families of SIMD targets: within each, results have the same bits.
#pragma once
#include "weft/header_begin.hpp"

#include <cstdint>
#include <string_view>

#include "weft/language.hpp"

namespace weft {

// Whether a product and a sum are rounded once, together, or each by itself: see "One result on
// every processor" in the manual.
enum class target_family : std::uint8_t {
  fused,    // fused multiply-add: AVX2 and AVX-512 on x86-64, NEON on 64-bit Arm, POWER's vectors
  separate  // SSSE3 and SSE4 on x86-64, WebAssembly, and one lane at a time on any processor
};

// That of the SIMD target that runs use: the best one that this machine and weft's build have.
target_family family() noexcept;
// That target's name, such as "AVX2", as Highway has it.
std::string_view target_name() noexcept;

}  // namespace weft
#include "weft/header_end.hpp"
