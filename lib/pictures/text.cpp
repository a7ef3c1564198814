#include "text.hpp"

#include <boost/locale/utf.hpp>

#include "weft/pictures/labels.hpp"

namespace weft {

std::vector<code_point> code_points(std::string_view text) {
  namespace utf = boost::locale::utf;
  std::vector<code_point> all;
  while (!text.empty()) {
    auto at = text.begin();
    const utf::code_point c = utf::utf_traits<char>::decode(at, text.end());
    const bool valid = utf::is_valid_codepoint(c);
    // The decoder reads past an invalid byte, to what may be valid.
    const std::size_t size = valid ? static_cast<std::size_t>(at - text.begin()) : 1;
    const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
    all.push_back({text.substr(0, size), valid && !control});
    text.remove_prefix(size);
  }
  return all;
}

std::string printable(std::string_view text) {
  std::string result;
  for (const code_point& c : code_points(text)) result += c.printable ? c.bytes : "\uFFFD";
  return result;
}

std::vector<std::string> indices(std::size_t count) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < count; ++i) labels.push_back(std::to_string(i));
  return labels;
}

std::vector<std::string> characters(std::string_view text) {
  std::vector<std::string> labels;
  for (const code_point& c : code_points(text)) labels.emplace_back(c.bytes);
  return labels;
}

}  // namespace weft
