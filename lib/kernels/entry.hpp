// The entry point of each kernel file: its function for the SIMD target that Highway has chosen.
#pragma once

#include "weft/kernels/kernels.hpp"

namespace weft::kernels {

using kernel = void (*)(const call&) noexcept;

kernel elementwise_kernel() noexcept;
kernel reduce_kernel() noexcept;
kernel rowwise_kernel() noexcept;
void (*attention_adjoint_kernel() noexcept)(const attention_call&) noexcept;
kernel gather_kernel() noexcept;
kernel scatter_add_kernel() noexcept;
kernel write_kernel() noexcept;
kernel rotate_kernel() noexcept;
kernel rotate_adjoint_kernel() noexcept;
kernel positions_kernel() noexcept;
kernel zero_kernel() noexcept;

void (*sgd_kernel() noexcept)(const sgd_step&) noexcept;
void (*adamw_kernel() noexcept)(const adamw_step&) noexcept;
double (*sum_of_squares_kernel() noexcept)(const float*, std::size_t) noexcept;

}  // namespace weft::kernels
