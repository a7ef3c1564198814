// The table's entries for elementwise operations.
//
// adjoint(p) adds the gradients of the operands; p is passes/pullback.hpp's. fold(s,
// n) gives a node that computes what n does, or -1; s is passes/simplify.hpp's value numbering.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/op_class.hpp"

namespace weft {

namespace detail {

struct undifferentiable_operation : elementwise_operation {
  using adjoint = no_adjoint;
};

}  // namespace detail

template <>
struct op_entry<op::copy> : elementwise_operation {
  static constexpr double flops_per_element = 0;
  static constexpr void adjoint(auto& p) { p.add(0, p.gradient()); }
  static constexpr int fold(auto& s, auto& n) { return s.is_like(n, 0) ? n.operand[0] : -1; }
};
template <>
struct op_entry<op::cast> : elementwise_operation {
  static constexpr double flops_per_element = 0;
  // From float32 to float32: no other is differentiable.
  static constexpr void adjoint(auto& p) { p.add(0, p.gradient()); }
  static constexpr int fold(auto& s, auto& n) {
    if (s.is_like(n, 0)) return n.operand[0];
    const auto& x = s.operand(n, 0);
    return x.kind == op::constant && n.axes.count == 0 ? s.constant(n, constant_value(x)) : -1;
  }
};
template <>
struct op_entry<op::negate> : elementwise_operation {
  static constexpr void adjoint(auto& p) { p.add(0, p.map(op::negate, p.gradient())); }
  static constexpr int fold(auto& s, auto& n) {
    const auto& x = s.operand(n, 0);
    if (x.kind == op::negate) return x.operand[0];
    return x.kind == op::constant ? s.constant(n, -constant_value(x)) : -1;
  }
};
template <>
struct op_entry<op::exp> : elementwise_operation {
  static constexpr void adjoint(auto& p) { p.add(0, p.times(p.gradient(), p.result())); }
};
template <>
struct op_entry<op::expm1> : elementwise_operation {
  static constexpr void adjoint(auto& p) {
    p.add(0, p.times(p.gradient(), p.map(op::add, p.result(), p.constant(1))));
  }
};
template <>
struct op_entry<op::log> : elementwise_operation {
  static constexpr void adjoint(auto& p) { p.add(0, p.map(op::divide, p.gradient(), p.x(0))); }
};
template <>
struct op_entry<op::log1p> : elementwise_operation {
  static constexpr void adjoint(auto& p) {
    p.add(0, p.map(op::divide, p.gradient(), p.map(op::add, p.x(0), p.constant(1))));
  }
};
template <>
struct op_entry<op::sqrt> : elementwise_operation {
  static constexpr void adjoint(auto& p) {
    p.add(0, p.map(op::divide, p.times(p.gradient(), p.constant(0.5)), p.result()));
  }
  static constexpr int fold(auto& s, auto& n) {
    if (!s.is_finite_constant(n, 0) || constant_value(s.operand(n, 0)) < 0) return -1;
    return s.constant(n, s.square_root(constant_value(s.operand(n, 0))));
  }
};
template <>
struct op_entry<op::tanh> : elementwise_operation {
  static constexpr void adjoint(auto& p) {
    const int y = p.result();
    p.add(0, p.times(p.gradient(), p.map(op::subtract, p.constant(1), p.times(y, y))));
  }
};
template <>
struct op_entry<op::erf> : elementwise_operation {
  static constexpr void adjoint(auto& p) {  // 2/sqrt(π) exp(-x²)
    const int slope = p.map(op::exp, p.map(op::negate, p.times(p.x(0), p.x(0))));
    p.add(0, p.times(p.gradient(), p.times(p.constant(1.1283791670955126), slope)));
  }
};
template <>
struct op_entry<op::sin> : elementwise_operation {
  static constexpr void adjoint(auto& p) {
    p.add(0, p.times(p.gradient(), p.map(op::cos, p.x(0))));
  }
};
template <>
struct op_entry<op::cos> : elementwise_operation {
  static constexpr void adjoint(auto& p) {
    p.add(0, p.map(op::negate, p.times(p.gradient(), p.map(op::sin, p.x(0)))));
  }
};
template <>
struct op_entry<op::round> : elementwise_operation {
  static constexpr void adjoint(auto&) {}  // 0, as PyTorch's
};
template <>
struct op_entry<op::sigmoid> : elementwise_operation {
  static constexpr void adjoint(auto& p) {
    const int y = p.result();
    p.add(0, p.times(p.gradient(), p.times(y, p.map(op::subtract, p.constant(1), y))));
  }
};
template <>
struct op_entry<op::relu> : elementwise_operation {
  static constexpr void adjoint(auto& p) {
    p.add(0, p.map(op::relu_adjoint, p.x(0), p.gradient()));
  }
};
template <>
struct op_entry<op::gelu> : elementwise_operation {
  static constexpr double flops_per_element = 5;  // x/2 (1 + erf(x/√2))
  static constexpr void adjoint(auto& p) {
    p.add(0, p.map(op::gelu_adjoint, p.x(0), p.gradient()));
  }
};
template <>
struct op_entry<op::gelu_tanh> : elementwise_operation {
  static constexpr double flops_per_element = 8;
  static constexpr void adjoint(auto& p) {
    p.add(0, p.map(op::gelu_tanh_adjoint, p.x(0), p.gradient()));
  }
};
template <>
struct op_entry<op::logical_not> : detail::undifferentiable_operation {};

namespace detail {

// Of arithmetic whose gradient for each operand is the result's, with a sign.
struct arithmetic_operation : elementwise_operation {
  static constexpr int fold(auto& s, auto& n) { return s.arithmetic(n); }
};

// Of the greater of two, or the smaller one. Operands that are equal share the gradient, as
// PyTorch's do.
template <bool Greatest>
struct extremum_operation : elementwise_operation {
  static constexpr void adjoint(auto& p) {
    const int half = p.times(p.gradient(), p.constant(0.5));
    const int tie = p.map(op::equal, p.x(0), p.x(1));
    const auto share = [&](int lesser, int greater) {
      const int won = p.map(op::less, lesser, greater);
      return p.map(op::where, won, p.gradient(), p.map(op::where, tie, half, p.constant(0)));
    };
    for (int j = 0; j < 2; ++j) {
      if (!p.wants(j)) continue;
      const int own = p.x(j), other = p.x(1 - j);
      p.add(j, Greatest ? share(other, own) : share(own, other));
    }
  }
};

}  // namespace detail

template <>
struct op_entry<op::add> : detail::arithmetic_operation {
  static constexpr void adjoint(auto& p) {
    for (int j = 0; j < 2; ++j)
      if (p.wants(j)) p.add(j, p.gradient());
  }
  static constexpr int fold(auto& s, auto& n) {
    return s.pads_to_concatenate(n) ? -1 : s.arithmetic(n);
  }
};
template <>
struct op_entry<op::subtract> : detail::arithmetic_operation {
  static constexpr void adjoint(auto& p) {
    if (p.wants(0)) p.add(0, p.gradient());
    if (p.wants(1)) p.add(1, p.map(op::negate, p.gradient()));
  }
};
template <>
struct op_entry<op::multiply> : detail::arithmetic_operation {
  static constexpr void adjoint(auto& p) {
    for (int j = 0; j < 2; ++j)
      if (p.wants(j)) p.add(j, p.times(p.gradient(), p.x(1 - j)));
  }
};
template <>
struct op_entry<op::divide> : detail::arithmetic_operation {
  static constexpr void adjoint(auto& p) {
    const int quotient = p.map(op::divide, p.gradient(), p.x(1));
    if (p.wants(0)) p.add(0, quotient);
    if (p.wants(1)) p.add(1, p.map(op::negate, p.times(quotient, p.result())));
  }
};
template <>
struct op_entry<op::maximum> : detail::extremum_operation<true> {};
template <>
struct op_entry<op::minimum> : detail::extremum_operation<false> {};
template <>
struct op_entry<op::pow> : elementwise_operation {
  static constexpr double flops_per_element = 3;  // exp(y log(x))
  // y x^(y - 1), and x^y log(x); 0 where 0 times an infinity would be NaN, as PyTorch's.
  static constexpr void adjoint(auto& p) {
    const int g = p.gradient(), x = p.x(0), y = p.x(1), zero = p.constant(0);
    if (p.wants(0)) {
      const int slope = p.times(y, p.map(op::pow, x, p.map(op::subtract, y, p.constant(1))));
      p.add(0, p.times(g, p.map(op::where, p.map(op::equal, y, zero), zero, slope)));
    }
    if (p.wants(1)) {
      const int slope = p.times(p.result(), p.map(op::log, x));
      const int at_zero = p.map(op::where, p.map(op::less_equal, zero, y), zero, slope);
      p.add(1, p.times(g, p.map(op::where, p.map(op::equal, x, zero), at_zero, slope)));
    }
  }
  static constexpr int fold(auto& s, auto& n) {
    if (s.is_constant(n, 1, 1) && s.is_like(n, 0)) return n.operand[0];
    if (!s.is_constant(n, 1, 2)) return -1;
    n.kind = op::multiply;
    n.operand[1] = n.operand[0];
    return -1;
  }
};
template <>
struct op_entry<op::less> : detail::undifferentiable_operation {};
template <>
struct op_entry<op::less_equal> : detail::undifferentiable_operation {};
template <>
struct op_entry<op::equal> : detail::undifferentiable_operation {};
template <>
struct op_entry<op::not_equal> : detail::undifferentiable_operation {};
template <>
struct op_entry<op::logical_and> : detail::undifferentiable_operation {};
template <>
struct op_entry<op::logical_or> : detail::undifferentiable_operation {};
// The element ids have the rate and the random stream.
template <>
struct op_entry<op::dropout> : elementwise_operation {
  static constexpr void adjoint(auto& p) {  // under the same mask
    p.add(0, p.map(op::dropout, p.gradient(), p.x(1)));
  }
  static constexpr int fold(auto& s, auto& n) {
    const double rate = dropout_rate(s.operand(n, 1));
    if (rate == 0) return n.operand[0];
    if (rate == 1) n = s.broadcast(n, s.constant(n, 0));
    return -1;
  }
};
template <>
struct op_entry<op::relu_adjoint> : detail::undifferentiable_operation {};
template <>
struct op_entry<op::gelu_adjoint> : detail::undifferentiable_operation {
  static constexpr double flops_per_element = 9;
};
template <>
struct op_entry<op::gelu_tanh_adjoint> : detail::undifferentiable_operation {
  static constexpr double flops_per_element = 14;
};
// (condition, then, else)
template <>
struct op_entry<op::where> : elementwise_operation {
  static constexpr void adjoint(auto& p) {
    const int g = p.gradient();
    if (p.wants(1)) p.add(1, p.map(op::where, p.x(0), g, p.constant(0)));
    if (p.wants(2)) p.add(2, p.map(op::where, p.x(0), p.constant(0), g));
  }
  static constexpr int fold(auto& s, auto& n) {
    return n.operand[1] == n.operand[2] && s.is_like(n, 1) ? n.operand[1] : -1;
  }
};

}  // namespace weft
#include "weft/header_end.hpp"
