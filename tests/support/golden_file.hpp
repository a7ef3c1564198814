// Files of tests/golden.
#pragma once

#include <string>

namespace weft::testing {

// The path of a file in tests/golden.
std::string golden_file(const std::string& name);

}  // namespace weft::testing
