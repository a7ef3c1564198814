// The process environment of the benchmarks.
#pragma once

namespace bench {

// Re-executes this program with a clean environment where variables would slow a library down:
// OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE make OpenBLAS and its users half as fast. Also sets the
// number of OpenMP threads to that of the case. Returns if nothing has to change.
void clean_environment(char** argv, int threads);

// Pins this process to the last core that it may use, as do other programs that it alternates with:
// cores differ in clock and cache, and migration empties the caches.
void stay_on_one_core();

}  // namespace bench
