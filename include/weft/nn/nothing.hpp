// The identity of + and &&: the absent part of a layer.
#pragma once

#include "weft/graph/tensor.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/expect.hpp"

namespace weft::nn {

// x + nothing is x, and m && nothing is m.
struct nothing {
  friend constexpr nothing operator&&(nothing, nothing) { return {}; }
  friend constexpr nothing operator+(nothing, nothing) { return {}; }
  template <expression X>
  friend constexpr X operator&&(nothing, const X& x) {
    return x;
  }
  template <expression X>
  friend constexpr X operator&&(const X& x, nothing) {
    return x;
  }
  template <expression X>
  friend constexpr X operator+(nothing, const X& x) {
    return x;
  }
  template <expression X>
  friend constexpr X operator+(const X& x, nothing) {
    return x;
  }
};

namespace detail {

// x + part. A part with an axis that x does not have would broadcast the layer's result, and does
// not compile.
template <expression X, class Part>
constexpr auto add_part(const X& x, const Part& part) {
  return expect<shape_t<X>>(x + part);
}

}  // namespace detail

}  // namespace weft::nn
