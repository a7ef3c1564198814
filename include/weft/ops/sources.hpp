// Expressions without operands. They join the graph of the tensor that they are combined with.
#pragma once
#include "weft/header_begin.hpp"

#include <cstdint>

#include "weft/graph/reject.hpp"
#include "weft/graph/tensor.hpp"

namespace weft {

// A scalar constant of dtype T: float, int32, bool or bfloat16, without axes.
template <class T>
requires is_dtype<T>
constexpr auto constant(T value) {
  node n = make_node(op::constant);
  constant_value(n) = static_cast<double>(value);
  return append<T, shape<>>(n);
}
template <class T>
requires(!is_dtype<T>) WEFT_REJECT(
    (rule::elements), constant(T),
    (elements,
     "constant: the number is float, std::int32_t, bool or weft::bfloat16, as in constant(1.0f)"))

// 0, 1, 2, … along an axis: int32 [A] (torch.arange).
template <axis_like A>
constexpr auto positions() {
  return append<std::int32_t, shape<A>>(make_node(op::positions));
}
template <class A>
requires(!axis_like<A>)
    WEFT_REJECT((rule::not_an_axis), positions(),
                (not_an_axis, "positions: name an axis, as in positions<Pos>()"))

// The product of the axes' lengths in this run, 1 for no axes: float, without axes.
template <class... Axes>
requires((axis_like<Axes> && ...)) constexpr auto length() {
  return append<float, shape<>>(make_node(op::length, axes_of(shape<Axes...>{})));
}
template <class... Axes>
requires(!(axis_like<Axes> && ...))
    WEFT_REJECT((rule::not_an_axis), length(),
                (not_an_axis, "length: name axes, as in length<Batch, Pos>()"))

}  // namespace weft
#include "weft/header_end.hpp"
