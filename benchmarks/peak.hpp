// What a core can do at most: the measure that the contractions are held to.
#pragma once

namespace bench {

// Floating-point operations per second of one core that does nothing but multiply and add floats
// in registers, with the best SIMD target: the median of about a millisecond now. The clock drifts
// with heat and neighbours, so it is measured beside each case.
double peak();

// The name of that SIMD target.
const char* target();

}  // namespace bench
