// What a core can do at most: the limits that weft::profile and the benchmarks compare with.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>

#include "weft/language.hpp"

namespace weft::kernels {

// Returns seconds; only differences are used.
using timer = double (*)() noexcept;

// Floating-point operations per second of a core that only executes float multiply-adds in
// registers, with the best SIMD target: the median of five samples of a quarter of a millisecond.
double peak_flops(timer now) noexcept;

// Bytes per second of a core that only reads these n floats again and again, with the best SIMD
// target: the median of seven samples, each of at least one pass and 20 us. Their number decides
// which level of the memory hierarchy is measured.
double read_bandwidth(const float* data, std::size_t n, timer now) noexcept;

}  // namespace weft::kernels
#include "weft/header_end.hpp"
