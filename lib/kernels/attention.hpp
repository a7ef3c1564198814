#pragma once

#include "weft/kernels/attention.hpp"

namespace weft::kernels {

// The kernel of the target that Highway has chosen.
void (*attention_kernel() noexcept)(const attention_call&) noexcept;

}  // namespace weft::kernels
