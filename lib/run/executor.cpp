#include "weft/run/executor.hpp"

#include <string>
#include <utility>

#include "weft/run/error.hpp"

namespace weft {

executor::executor(int width, std::function<void(int n, job f)> run)
    : width_(width), run_(std::move(run)) {
  if (width < 1)
    throw error("executor: " + std::to_string(width) + " threads, and at least 1 is needed");
  if (!run_) throw error("executor: without a function that runs");
}

}  // namespace weft
