// The bits of results, to compare those of targets, and of before and after a change that has to
// keep them.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::testing {

// A hash of values, of which NaN have to be the same number.
std::uint64_t hash_of(const std::vector<std::vector<double>>& values);

// Appends a line to the file that the environment variable WEFT_BITS names, if it does: the test
// case, the SIMD target and the values' hash. What a process writes comes in the order of its runs;
// sort the files before comparing them.
void record_bits(const std::vector<std::vector<double>>& values);

}  // namespace weft::testing
