// An executor on oneTBB's threads. Needs the CMake target weft::tbb, which exists where TBB is
// found.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/run/executor.hpp"

namespace weft {

// n threads including the calling one:
//
//   weft::module<encoder> net;
//   net.run_on(weft::threads(2));
//
// They are TBB's workers in an arena of their own. n is capped at TBB's max_allowed_parallelism,
// which is one thread per core unless a tbb::global_control says otherwise. Throws weft::error if n
// < 1.
executor threads(int n);

}  // namespace weft
#include "weft/header_end.hpp"
