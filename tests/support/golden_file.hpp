// What tests/golden has.
#pragma once

#include <string>

namespace weft::testing {

// The path of a file there.
std::string golden_file(const std::string& name);

}  // namespace weft::testing
