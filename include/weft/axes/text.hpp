// A string as a template argument: names of inputs and parameters, sentences of diagnostics.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace weft {

template <std::size_t N>
struct text {
  char chars[N]{};
  constexpr text(const char (&s)[N]) { std::copy_n(s, N, chars); }
  constexpr std::string_view view() const { return {chars, N - 1}; }
};

}  // namespace weft
