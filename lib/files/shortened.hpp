#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weft::detail {

// Cuts a text from a file, which can be long, to its first `most` bytes and "..." for a message.
inline std::string shortened(std::string_view text, std::size_t most = 100) {
  return text.size() <= most ? std::string(text) : std::string(text.substr(0, most)) + "...";
}

}  // namespace weft::detail
