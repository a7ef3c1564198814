// What is thrown where a run, a file or an argument is not what the model needs.
#pragma once

#include <stdexcept>

namespace weft {

// Says what was expected, what came, and where.
struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace weft
