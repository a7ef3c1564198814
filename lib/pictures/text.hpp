// Decoding of UTF-8 that may be invalid.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft {

struct code_point {
  std::string_view bytes;  // of one code point, or one invalid byte
  bool printable;          // valid and no control character
};

std::vector<code_point> code_points(std::string_view text);

// The text with U+FFFD for invalid bytes and control characters.
std::string printable(std::string_view text);

}  // namespace weft
