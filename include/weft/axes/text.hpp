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
  constexpr text() = default;
};

template <std::size_t N, std::size_t M>
constexpr text<N + M - 1> operator+(const text<N>& a, const text<M>& b) {
  text<N + M - 1> both;
  std::copy_n(a.chars, N - 1, both.chars);
  std::copy_n(b.chars, M, both.chars + N - 1);
  return both;
}
template <std::size_t N, std::size_t M>
constexpr text<N + M - 1> operator+(const char (&a)[N], const text<M>& b) {
  return text<N>(a) + b;
}

}  // namespace weft
