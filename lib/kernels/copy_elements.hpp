// Copies elements between strided and contiguous memory.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "kernels/loop_nest.hpp"
#include "weft/graph/op.hpp"

namespace weft::kernels {

// Copies n elements of `size` bytes; strides are in elements.
template <std::size_t size>
HWY_INLINE void copy_strided(std::ptrdiff_t n, std::byte* to, std::ptrdiff_t to_stride,
                             const std::byte* from, std::ptrdiff_t from_stride) {
  constexpr auto bytes = static_cast<std::ptrdiff_t>(size);
  for_each_element(n, [=](std::ptrdiff_t i) {
    std::memcpy(to + i * to_stride * bytes, from + i * from_stride * bytes, size);
  });
}

// Copies where one of the strides is 1. Not inline: rows that need no copy would pay for its setup.
HWY_NOINLINE inline void copy_elements(dtype type, std::ptrdiff_t n, std::byte* to,
                                       std::ptrdiff_t to_stride, const std::byte* from,
                                       std::ptrdiff_t from_stride) {
  const auto copy = [=]<std::size_t size>(std::integral_constant<std::size_t, size>) {
    to_stride == 1 ? copy_strided<size>(n, to, 1, from, from_stride)
                   : copy_strided<size>(n, to, to_stride, from, 1);
  };
  if (bytes(type) == 1) return copy(std::integral_constant<std::size_t, 1>());
  if (bytes(type) == 2) return copy(std::integral_constant<std::size_t, 2>());
  copy(std::integral_constant<std::size_t, 4>());
}

}  // namespace weft::kernels
