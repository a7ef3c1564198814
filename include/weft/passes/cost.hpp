// What a run costs, known while compiling: every length at its bound.
#pragma once

#include <cstddef>

#include "weft/graph/graph.hpp"

namespace weft {

struct operation_cost {
  double flops = 0;  // floating-point operations; exp and its like count as one
  double bytes = 0;  // read and written, each operand once
};

namespace detail {

// For each element.
constexpr double elementwise_flops(op o) {
  switch (o) {
    case op::copy:
    case op::cast:
      return 0;
    case op::gelu:  // x/2 (1 + erf(x/√2))
      return 5;
    case op::gelu_tanh:
      return 8;
    case op::gelu_adjoint:
      return 9;
    case op::gelu_tanh_adjoint:
      return 14;
    default:
      return 1;
  }
}

constexpr double flops_of(const graph& g, const node& n) {
  auto const size = static_cast<double>(n.axes.extent());
  auto const operand_size = [&](int i) {
    return static_cast<double>(g.nodes[n.operand[i]].axes.extent());
  };
  switch (n.kind) {
    case op::dot: {  // a multiplication and an addition for each index of all axes
      double terms = size;
      axis_list const& left = g.nodes[n.operand[0]].axes;
      for (int a = 0; a < left.count; ++a)
        if (!n.axes.contains(left.at[a])) terms *= static_cast<double>(left.at[a]->extent);
      double const each = (n.scale != 1) + (n.operands - 2) + elementwise_flops(n.then);
      return 2 * terms + each * size;
    }
    case op::sum:
    case op::max:
      return operand_size(0);
    case op::scatter_add:
      return operand_size(0);
    case op::softmax:  // maximum, difference, exp, sum, quotient
    case op::log_softmax:
      return 5 * size;
    case op::normalize:  // sum, difference, square, sum, product
      return 5 * size;
    case op::softmax_adjoint:
    case op::log_softmax_adjoint:
      return 4 * size;
    case op::normalize_adjoint:
      return 9 * size;
    default:
      return is_elementwise(n.kind) ? elementwise_flops(n.kind) * size : 0;
  }
}

}  // namespace detail

// Of node i alone. Leaves and views cost nothing; a gather reads what it picks.
constexpr operation_cost cost_of(const graph& g, int i) {
  node const& n = g.nodes[i];
  if (is_leaf(n.kind) || is_view(n.kind)) return {};
  auto const size_of = [](const node& m) {
    return static_cast<double>(m.axes.extent()) * bytes(m.type);
  };
  operation_cost c{detail::flops_of(g, n), size_of(n)};
  for (int j = 0; j < n.operands; ++j)
    c.bytes += n.kind == op::gather && j == 0 ? size_of(n) : size_of(g.nodes[n.operand[j]]);
  return c;
}

constexpr operation_cost cost_of(const graph& g) {
  operation_cost sum;
  for (int i = 0; i < g.count; ++i) {
    operation_cost const c = cost_of(g, i);
    sum.flops += c.flops;
    sum.bytes += c.bytes;
  }
  return sum;
}

}  // namespace weft
