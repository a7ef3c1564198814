#pragma once

#include <string>

namespace weft {

// Throws weft::error, which names the file, where it cannot be written whole.
void write_file(const std::string& file, const std::string& bytes);

}  // namespace weft
