// The bits of results, to compare before and after a change that has to keep them.
#pragma once

#include <vector>

namespace weft::testing {

// Appends a line to the file that the environment variable WEFT_BITS names, if it does: the test
// case, the SIMD target and a hash of the values, of which NaN have to be the same number. What a
// process writes comes in the order of its runs; sort the files before comparing them.
void record_bits(const std::vector<std::vector<double>>& values);

}  // namespace weft::testing
