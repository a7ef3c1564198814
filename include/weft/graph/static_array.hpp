// Tables of a size that is known while compiling, and views of them.
#pragma once

#include <concepts>
#include <cstddef>

namespace weft {

// Elements of a table, whatever its size. For these std::span would do, but its constructors look
// at what they are given as at a range: a program has a table of 14 types, and compilers took a
// tenth longer for a model of one layer.
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

// N elements, also none. A plain array inside: compilers evaluate it much faster than std::array.
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

// The first N elements.
template <std::size_t N, class T>
constexpr static_array<T, N> take(const T* from) {
  static_array<T, N> t;
  for (std::size_t i = 0; i < N; ++i) t.at[i] = from[i];
  return t;
}

}  // namespace weft
