#include "support/golden_file.hpp"

namespace weft::testing {

std::string golden_file(const std::string& name) {
  return WEFT_TEST_DATA "/" + name;
}

}  // namespace weft::testing
