// A string as a template argument: names of inputs and parameters, texts of diagnostics. Patterns
// of names.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <string_view>

#include "weft/language.hpp"

namespace weft {

// A string of N - 1 characters as a template argument: "weight" in s.param<"weight", Embed>() is
// one.
template <std::size_t N>
struct fixed_string {
  char chars[N]{};  // the characters, and a null
  // A string literal.
  constexpr fixed_string(const char (&s)[N]) { std::string_view(s, N).copy(chars, N); }
  // The characters without the null.
  constexpr std::string_view view() const { return {chars, N - 1}; }
  // N nulls.
  constexpr fixed_string() = default;
};

// The characters of a, followed by those of b.
template <std::size_t N, std::size_t M>
constexpr fixed_string<N + M - 1> operator+(const fixed_string<N>& a, const fixed_string<M>& b) {
  fixed_string<N + M - 1> both;
  a.view().copy(both.chars, N - 1);
  b.view().copy(both.chars + N - 1, M - 1);
  return both;
}
// The same of a literal and a fixed_string.
template <std::size_t N, std::size_t M>
constexpr fixed_string<N + M - 1> operator+(const char (&a)[N], const fixed_string<M>& b) {
  return fixed_string<N>(a) + b;
}

// Whether a pattern stands for the whole of a name: * is any characters, dots included, ? is one,
// as for Python's fnmatch, but for its brackets. "layers.*.q_proj.weight" is one for all layers.
constexpr bool matches(std::string_view pattern, std::string_view name) {
  constexpr std::size_t none = std::string_view::npos;
  std::size_t p = 0, after_star = none, begin = 0;  // the last * has what lies before `begin`
  for (std::size_t n = 0; n < name.size();) {
    if (p < pattern.size() && pattern[p] == '*') {
      after_star = ++p;
      begin = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else {
      if (after_star == none) return false;
      p = after_star;
      n = ++begin;
    }
  }
  return pattern.find_first_not_of('*', p) == none;
}

}  // namespace weft
#include "weft/header_end.hpp"
