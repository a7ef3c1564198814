#pragma once

#include "weft/kernels/call.hpp"

namespace weft::kernels {

// The contraction kernel of the target that Highway has chosen.
void (*dot_kernel() noexcept)(const call&) noexcept;

}  // namespace weft::kernels
