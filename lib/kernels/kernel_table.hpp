// The entry point of each kernel file: its function for the SIMD target that Highway has chosen.
#pragma once

#include "weft/kernels/kernels.hpp"

namespace weft::kernels {

#define WEFT_KERNEL(name) kernel_function name##_kernel() noexcept;
WEFT_KERNELS(WEFT_KERNEL)
#undef WEFT_KERNEL
packed_layout layout_of_packed() noexcept;
void (*attention_adjoint_kernel() noexcept)(const attention_call&) noexcept;

void (*sgd_kernel() noexcept)(const sgd_step&) noexcept;
void (*adamw_kernel() noexcept)(const adamw_step&) noexcept;
double (*sum_of_squares_kernel() noexcept)(const float*, std::size_t) noexcept;

}  // namespace weft::kernels
