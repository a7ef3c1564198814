// Read bandwidth of a core: the reference for matrix-vector products.
#pragma once

#include <cstddef>

namespace bench {

// Bytes per second of one core that only reads `bytes` bytes again and again, with the best SIMD
// target: the median of a few passes now. The number of bytes decides which level of the memory
// hierarchy is measured.
double read_bandwidth(std::size_t bytes);

}  // namespace bench
