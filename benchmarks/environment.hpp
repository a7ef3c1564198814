// The surroundings that libraries read when they are loaded.
#pragma once

namespace bench {

// Starts this program anew where the environment would hold a library back: OPENBLAS_CORETYPE and
// OPENBLAS_L2_SIZE make OpenBLAS and what rests on it half as fast, and OpenMP is to have as many
// threads as the case. Otherwise returns.
void clean_environment(char** argv, int threads);

// Cores differ in clock and cache, and a move empties the caches: this program stays on the last
// core that it may use, as do others that it takes turns with.
void stay_on_one_core();

}  // namespace bench
