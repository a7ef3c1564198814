#include "weft/run/threads.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <memory>

namespace weft {

executor threads(int n) {
  using tbb::global_control;
  const auto most = global_control::active_value(global_control::max_allowed_parallelism);
  const int width = std::min(n, static_cast<int>(most));
  const auto arena = std::make_shared<tbb::task_arena>(width);  // it starts with its first job
  return {width, [arena](int count, job f) {
            arena->execute([&] { tbb::parallel_for(0, count, f, tbb::simple_partitioner()); });
          }};
}

}  // namespace weft
