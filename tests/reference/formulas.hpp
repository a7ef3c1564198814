// The formulas of elementwise operations.
#pragma once

#include "weft/graph/op.hpp"

namespace weft::reference {

// The values that the tests draw for an operand: [low, high).
struct interval {
  double low, high;
};

// of(m, x, ...) is an element of the result, from one of each operand: in double, with m's
// functions, or in int64, of which the low 32 bits are the result. domain(operand) is where the
// operation is finite and differentiable.
template <op>
struct formula;
struct anywhere {
  static constexpr interval domain(int /*operand*/) { return {-4, 4}; }
};

template <>
struct formula<op::copy> : anywhere {
  static auto of(auto&, auto x) { return x; }
};
template <>
struct formula<op::negate> : anywhere {
  static auto of(auto&, auto x) { return -x; }
};
template <>
struct formula<op::exp> : anywhere {
  static auto of(auto& m, auto x) { return m.exp(x); }
};
template <>
struct formula<op::expm1> : anywhere {
  static auto of(auto& m, auto x) { return m.expm1(x); }
};
template <>
struct formula<op::log1p> {
  static auto of(auto& m, auto x) { return m.log1p(x); }
  static constexpr interval domain(int) { return {-0.9, 8}; }
};
template <>
struct formula<op::round> {
  static auto of(auto& m, auto x) { return m.round(x); }
  static constexpr interval domain(int) { return {-1.45, -0.55}; }
};
template <>
struct formula<op::log> {
  static auto of(auto& m, auto x) { return m.log(x); }
  static constexpr interval domain(int) { return {0.1, 8}; }
};
template <>
struct formula<op::sqrt> {
  static auto of(auto& m, auto x) { return m.sqrt(x); }
  static constexpr interval domain(int) { return {0.1, 8}; }
};
template <>
struct formula<op::tanh> : anywhere {
  static auto of(auto& m, auto x) { return m.tanh(x); }
};
template <>
struct formula<op::erf> : anywhere {
  static auto of(auto& m, auto x) { return m.erf(x); }
};
template <>
struct formula<op::sin> : anywhere {
  static auto of(auto& m, auto x) { return m.sin(x); }
};
template <>
struct formula<op::cos> : anywhere {
  static auto of(auto& m, auto x) { return m.cos(x); }
};
template <>
struct formula<op::sigmoid> : anywhere {
  static auto of(auto& m, auto x) { return 1 / (1 + m.exp(-x)); }
};
template <>
struct formula<op::relu> : anywhere {
  static auto of(auto&, auto x) { return x <= 0 ? 0 : x; }
};
template <>
struct formula<op::gelu> : anywhere {
  static auto of(auto& m, auto x) { return x * m.normal(x); }
};
template <>
struct formula<op::gelu_tanh> : anywhere {
  static auto of(auto& m, auto x) { return x / 2 * (1 + m.tanh(m.gelu_inner(x))); }
};
template <>
struct formula<op::logical_not> : anywhere {
  static auto of(auto&, auto x) { return x == 0; }
};
template <>
struct formula<op::add> : anywhere {
  static auto of(auto&, auto x, auto y) { return x + y; }
};
template <>
struct formula<op::subtract> : anywhere {
  static auto of(auto&, auto x, auto y) { return x - y; }
};
template <>
struct formula<op::multiply> : anywhere {
  static auto of(auto&, auto x, auto y) { return x * y; }
};
template <>
struct formula<op::divide> {
  static auto of(auto&, auto x, auto y) { return x / y; }
  static constexpr interval domain(int operand) {
    return operand == 0 ? interval{-4, 4} : interval{0.5, 4};
  }
};
template <>
struct formula<op::maximum> : anywhere {
  static auto of(auto& m, auto x, auto y) { return m.maximum(x, y); }
};
template <>
struct formula<op::minimum> : anywhere {
  static auto of(auto& m, auto x, auto y) { return m.minimum(x, y); }
};
template <>
struct formula<op::pow> {
  static auto of(auto& m, auto x, auto y) { return m.pow(x, y); }
  static constexpr interval domain(int operand) {
    return operand == 0 ? interval{0.25, 4} : interval{-2, 3};
  }
};
template <>
struct formula<op::less> : anywhere {
  static auto of(auto&, auto x, auto y) { return x < y; }
};
template <>
struct formula<op::less_equal> : anywhere {
  static auto of(auto&, auto x, auto y) { return x <= y; }
};
template <>
struct formula<op::equal> : anywhere {
  static auto of(auto&, auto x, auto y) { return x == y; }
};
template <>
struct formula<op::not_equal> : anywhere {
  static auto of(auto&, auto x, auto y) { return x != y; }
};
template <>
struct formula<op::logical_and> : anywhere {
  static auto of(auto&, auto x, auto y) { return x != 0 && y != 0; }
};
template <>
struct formula<op::logical_or> : anywhere {
  static auto of(auto&, auto x, auto y) { return x != 0 || y != 0; }
};
template <>
struct formula<op::relu_adjoint> : anywhere {
  static auto of(auto&, auto x, auto g) { return x > 0 ? g : 0; }
};
template <>
struct formula<op::gelu_adjoint> : anywhere {
  static auto of(auto& m, auto x, auto g) { return g * (m.normal(x) + x * m.normal_density(x)); }
};
template <>
struct formula<op::gelu_tanh_adjoint> : anywhere {
  static auto of(auto& m, auto x, auto g) { return g * m.gelu_tanh_slope(x); }
};
template <>
struct formula<op::where> : anywhere {
  static auto of(auto&, auto c, auto x, auto y) { return c != 0 ? x : y; }
};

}  // namespace weft::reference
