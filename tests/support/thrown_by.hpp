#pragma once

#include <string>

#include "weft/run/error.hpp"

namespace weft::testing {

// The message of the error that f throws; empty if it throws none.
template <class F>
std::string thrown_by(F f) {
  try {
    f();
  } catch (error const& e) {
    return e.what();
  }
  return "";
}

}  // namespace weft::testing
