// Text of a file in an error message, which is one line and short.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace chat {

// The first `most` bytes of a text, in whole characters, and "..." if there are more. Control
// characters, such as line breaks, are blanks.
inline std::string one_line(std::string_view text, std::size_t most) {
  std::size_t size = std::min(text.size(), most);
  if (size < text.size())
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  std::string line(text.substr(0, size));
  std::ranges::replace_if(
      line, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, ' ');
  return size < text.size() ? line + "..." : line;
}

inline std::string quoted(std::string_view text) {
  return "'" + one_line(text, 60) + "'";
}

}  // namespace chat
