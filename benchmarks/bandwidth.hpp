// How fast a core reads: the measure that a matrix times a vector is held to.
#pragma once

#include <cstddef>

namespace bench {

// Bytes per second of one core that does nothing but read so many bytes again and again, with the
// best SIMD target: the median of a few rounds now. What level of the memory that is depends on
// their number.
double read_bandwidth(std::size_t bytes);

}  // namespace bench
