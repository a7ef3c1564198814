// UTF-8 as it comes, which may not be UTF-8.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft {

struct code_point {
  std::string_view bytes;  // one that is wrong, or all of a code point
  bool printable;          // neither wrong nor a control character
};

std::vector<code_point> code_points(std::string_view text);

// The text with U+FFFD for what cannot be printed.
std::string printable(std::string_view text);

}  // namespace weft
