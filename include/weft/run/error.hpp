// The exception type of the library.
#pragma once
#include "weft/header_begin.hpp"

#include <stdexcept>

#include "weft/language.hpp"

namespace weft {

// Thrown where a run, a file or an argument does not fit the model. what() says what was expected,
// what was found, and where.
struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace weft
#include "weft/header_end.hpp"
