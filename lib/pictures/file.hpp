#pragma once

#include <string>

namespace weft {

// Writes a file. Throws weft::error with its name where it cannot be written completely.
void write_file(const std::string& file, const std::string& bytes);

}  // namespace weft
