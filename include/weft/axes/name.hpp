// The name of a type, while compiling: axes are called in messages what the user calls them.
#pragma once

#include <string_view>

namespace weft {

// The unqualified name of T: "HeadDim" for struct model::HeadDim.
template <class T>
constexpr std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("T = ") + 4);
  std::size_t end = 0;
  std::size_t begin = 0;
  for (int depth = 0; end < text.size(); ++end) {
    char const c = text[end];
    if (depth == 0 && (c == ';' || c == ']')) break;
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if (depth == 0 && c == ':') begin = end + 1;
  }
  return text.substr(begin, end - begin);
}

}  // namespace weft
