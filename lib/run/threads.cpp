#include "weft/run/threads.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <memory>

namespace weft {

executor threads(int n) {
  using tbb::global_control;
  auto const most = global_control::active_value(global_control::max_allowed_parallelism);
  int const width = std::min(n, static_cast<int>(most));
  auto const arena = std::make_shared<tbb::task_arena>(width);  // it starts with its first job
  return {width, [arena](int count, job f) {
            arena->execute([&] { tbb::parallel_for(0, count, f, tbb::simple_partitioner()); });
          }};
}

}  // namespace weft
