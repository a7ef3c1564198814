// What a part of a layer adds where it adds nothing.
#pragma once

#include "weft/graph/tensor.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/expect.hpp"

namespace weft::nn {

// x + nothing is x, m && nothing is m.
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

// x + part, where the part of a layer has no axis that x has not: it would widen the layer's
// result.
template <expression X, class Part>
constexpr auto add_part(const X& x, const Part& part) {
  return expect<shape_t<X>>(x + part);
}

}  // namespace detail

}  // namespace weft::nn
