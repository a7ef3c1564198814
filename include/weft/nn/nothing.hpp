// What a part of a layer adds where it adds nothing.
#pragma once

#include "weft/graph/tensor.hpp"

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

}  // namespace weft::nn
