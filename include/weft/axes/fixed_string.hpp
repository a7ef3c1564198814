// A string as a template argument: names of inputs and parameters, texts of diagnostics.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace weft {

template <std::size_t N>
struct fixed_string {
  char chars[N]{};
  constexpr fixed_string(const char (&s)[N]) { std::copy_n(s, N, chars); }
  constexpr std::string_view view() const { return {chars, N - 1}; }
  constexpr fixed_string() = default;
};

template <std::size_t N, std::size_t M>
constexpr fixed_string<N + M - 1> operator+(const fixed_string<N>& a, const fixed_string<M>& b) {
  fixed_string<N + M - 1> both;
  std::copy_n(a.chars, N - 1, both.chars);
  std::copy_n(b.chars, M, both.chars + N - 1);
  return both;
}
template <std::size_t N, std::size_t M>
constexpr fixed_string<N + M - 1> operator+(const char (&a)[N], const fixed_string<M>& b) {
  return fixed_string<N>(a) + b;
}

}  // namespace weft
