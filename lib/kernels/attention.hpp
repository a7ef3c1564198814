#pragma once

#include "weft/kernels/attention.hpp"

namespace weft::kernels {

// The forward attention kernel for the SIMD target that Highway dispatches to.
void (*attention_kernel() noexcept)(const attention_call&) noexcept;

}  // namespace weft::kernels
