// Expressions that need no operand. They join the graph of the tensor that they are used with.
#pragma once

#include <cstdint>

#include "weft/graph/tensor.hpp"

namespace weft {

// A number, without axes.
template <class T>
requires is_element<T>
constexpr auto constant(T value) {
  node n{.kind = op::constant};
  n.scalar = static_cast<double>(value);
  return append<T, shape<>>(n);
}

// 0, 1, 2, … along an axis: int32 [A].
template <an_axis A>
constexpr auto positions() {
  return append<std::int32_t, shape<A>>(node{.kind = op::positions});
}

// The product of the axes' lengths in this run: float, without axes.
template <an_axis... Axes>
constexpr auto length() {
  node n{.kind = op::length};
  n.named = axes_of(shape<Axes...>{});
  return append<float, shape<>>(n);
}

}  // namespace weft
