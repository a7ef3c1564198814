// Peak floating-point throughput of a core: the reference for contractions.
#pragma once

namespace bench {

// Floating-point operations per second of one core that only executes float multiply-adds in
// registers, with the best SIMD target: the median of about a millisecond now. The clock drifts
// with heat and neighbours, so it is measured beside each case.
double peak();

// The name of the best SIMD target.
const char* target();

}  // namespace bench
