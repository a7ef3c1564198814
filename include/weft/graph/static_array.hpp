// Arrays whose size is known at compile time, and views of them.
#pragma once
#include "weft/header_begin.hpp"

#include <concepts>
#include <cstddef>

#include "weft/language.hpp"

namespace weft {

// A view of an array of any size. Not std::span, whose constructors check their arguments for being
// ranges: a program has arrays of 14 types, and a model of one layer took a tenth longer to
// compile.
template <class T>
struct array_view {
  const T* first = nullptr;
  std::size_t count = 0;

  constexpr std::size_t size() const { return count; }
  template <std::integral I>
  constexpr const T& operator[](I i) const {
    return first[i];
  }
  constexpr const T* begin() const { return first; }
  constexpr const T* end() const { return first + count; }
};

// N elements; N may be 0. Compilers evaluate its plain array much faster than std::array.
template <class T, std::size_t N>
struct static_array {
  T at[N == 0 ? 1 : N]{};

  static constexpr std::size_t size() { return N; }
  template <std::integral I>
  constexpr const T& operator[](I i) const {
    return at[i];
  }
  constexpr array_view<T> view() const { return {at, N}; }
  constexpr const T* begin() const { return at; }
  constexpr const T* end() const { return at + N; }
};

// A copy of the first N elements.
template <std::size_t N, class T>
constexpr static_array<T, N> take(const T* from) {
  static_array<T, N> t;
  for (std::size_t i = 0; i < N; ++i) t.at[i] = from[i];
  return t;
}

}  // namespace weft
#include "weft/header_end.hpp"
