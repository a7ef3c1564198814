#pragma once

#include <cstddef>

#include "weft/kernels/call.hpp"

namespace weft::kernels {

// The contraction kernel of the target that Highway has chosen.
void (*dot_kernel() noexcept)(const call&) noexcept;
void (*pack_dot_kernel() noexcept)(const call&, std::byte*) noexcept;

}  // namespace weft::kernels
