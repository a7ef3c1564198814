// Type names at compile time, so that messages name axes as the user declared them.
#pragma once
#include "weft/header_begin.hpp"

#include <string_view>

#include "weft/language.hpp"

namespace weft {

// The unqualified name of T: "HeadDim" for struct model::HeadDim.
template <class T>
constexpr std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("T = ") + 4);
  std::size_t end = 0;
  std::size_t begin = 0;
  for (int depth = 0; end < text.size(); ++end) {
    const char c = text[end];
    if (depth == 0 && (c == ';' || c == ']')) break;
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if (depth == 0 && c == ':') begin = end + 1;
  }
  return text.substr(begin, end - begin);
}

// Whether T, or a type in its name such as a template argument, belongs to an unnamed namespace and
// so to one translation unit.
template <class T>
constexpr bool in_unnamed_namespace() {
  const std::string_view text = __PRETTY_FUNCTION__;
  return text.find("{anonymous}") != text.npos || text.find("(anonymous namespace)") != text.npos;
}

}  // namespace weft
#include "weft/header_end.hpp"
