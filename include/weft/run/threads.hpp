// Threads of oneTBB to run on. Needs the CMake target weft::tbb, which is there where TBB is.
#pragma once

#include "weft/run/executor.hpp"

namespace weft {

// n threads, the calling one among them, or as many as the machine has:
//
//   weft::module<encoder> net;
//   net.run_on(weft::threads(2));
//
// They are TBB's workers in an arena of their own. There are no more than TBB allows, which is one
// for each core unless a tbb::global_control says otherwise. Throws weft::error for less than one.
executor threads(int n);

}  // namespace weft
