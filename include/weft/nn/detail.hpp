// What layers share: the absent term of a sum, zeros of a shape, optional dropout.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/tensor.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/convert.hpp"
#include "weft/ops/dropout.hpp"
#include "weft/ops/expect.hpp"

namespace weft::nn {

// The identity of + and &&: x + no_term{} is x, and m && no_term{} is m.
struct no_term {
  friend constexpr no_term operator&&(no_term, no_term) { return {}; }
  friend constexpr no_term operator+(no_term, no_term) { return {}; }
  template <expression X>
  friend constexpr X operator&&(no_term, const X& x) {
    return x;
  }
  template <expression X>
  friend constexpr X operator&&(const X& x, no_term) {
    return x;
  }
  template <expression X>
  friend constexpr X operator+(no_term, const X& x) {
    return x;
  }
  template <expression X>
  friend constexpr X operator+(const X& x, no_term) {
    return x;
  }
};

namespace detail {

// x + term. A term with an axis that x does not have would broadcast the layer's result, and does
// not compile.
template <expression X, class Term>
constexpr auto add_term(const X& x, const Term& term) {
  return expect<shape_t<X>>(x + term);
}

// float zeros of a shape.
template <class... Axes>
constexpr auto zeros(shape<Axes...>) {
  return broadcast<Axes...>(constant(0.0f));
}

// weft::dropout of x; at rate 0 x itself, so that a layer without dropout draws no random bits.
template <expression X>
constexpr auto dropped(const X& x, double rate) {
  return rate == 0 ? x : dropout(x, rate);
}

}  // namespace detail

}  // namespace weft::nn
#include "weft/header_end.hpp"
