// The table's entries for reductions and rowwise operations. adjoint and fold as in
// ops_elementwise.hpp.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/op_class.hpp"

namespace weft {

template <>
struct op_entry<op::sum> : reduction_operation {
  static constexpr void adjoint(auto& p) {
    p.add(0, p.map_over(p.axes_of(0), op::copy, p.gradient()));
  }
  static constexpr int fold(auto& s, auto& n) {
    const auto& axes = s.operand(n, 0).axes;
    if (axes == n.axes) return n.operand[0];
    if (same_axes_in_any_order(axes, n.axes)) n = s.broadcast(n, n.operand[0]);
    return -1;
  }
};
template <>
struct op_entry<op::max> : reduction_operation {
  static constexpr void adjoint(auto& p) {  // equal elements share the gradient, as torch.amax's
    const auto whole = p.axes_of(0);
    const int one = p.map_over(whole, op::where, p.map_over(whole, op::equal, p.x(0), p.result()),
                               p.constant(1), p.constant(0));
    const int count = p.sum_to(p.axes(), one);
    p.add(0, p.map_over(whole, op::multiply, one, p.map(op::divide, p.gradient(), count)));
  }
};

namespace detail {

// node::scale multiplies x.
template <op Adjoint>
struct softmax_operation : rowwise_operation {
  static constexpr double flops(const auto&, const auto& n) {
    return (5 + (n.scale != 1)) * static_cast<double>(n.axes.extent());
  }
  static constexpr void adjoint(auto& p) { p.add(0, p.rowwise(Adjoint, p.result())); }
};
// y is the result.
struct softmax_adjoint_operation : rowwise_operation {
  using adjoint = no_adjoint;
  static constexpr double flops(const auto&, const auto& n) {
    return 4 * static_cast<double>(n.axes.extent());
  }
};
template <op Adjoint, int Flops>
struct normalize_operation : rowwise_operation {
  static constexpr double flops(const auto&, const auto& n) {
    return (Flops + n.operands - 1) * static_cast<double>(n.axes.extent());
  }
  static constexpr void adjoint(auto& p) { p.add(0, p.rowwise(Adjoint, p.x(0))); }
};
// The partial sums are of the gradients of gain and bias, see graph/attributes.hpp.
template <int Flops>
struct normalize_adjoint_operation : rowwise_operation {
  using adjoint = no_adjoint;
  static constexpr double flops(const auto&, const auto& n) {
    const int sums = has_partial_sums(n) ? 3 : 0;
    return (Flops + n.operands - 2 + sums) * static_cast<double>(n.axes.extent());
  }
};

}  // namespace detail

// Maximum, difference, exp, sum and quotient.
template <>
struct op_entry<op::softmax> : detail::softmax_operation<op::softmax_adjoint> {};
template <>
struct op_entry<op::log_softmax> : detail::softmax_operation<op::log_softmax_adjoint> {};
// Sum, difference, square, sum and product.
template <>
struct op_entry<op::normalize> : detail::normalize_operation<op::normalize_adjoint, 5> {};
// Square, sum and product.
template <>
struct op_entry<op::rms_normalize> : detail::normalize_operation<op::rms_normalize_adjoint, 3> {};
template <>
struct op_entry<op::softmax_adjoint> : detail::softmax_adjoint_operation {};
// With indices, g has one element a row, at the index.
template <>
struct op_entry<op::log_softmax_adjoint> : detail::softmax_adjoint_operation {};
template <>
struct op_entry<op::normalize_adjoint> : detail::normalize_adjoint_operation<9> {};
template <>
struct op_entry<op::rms_normalize_adjoint> : detail::normalize_adjoint_operation<7> {};

namespace detail {

// Each is the other's adjoint.
template <op Adjoint>
struct cumulative_operation : rowwise_operation {
  static constexpr double flops(const auto&, const auto& n) {
    return static_cast<double>(n.axes.extent());
  }
  static constexpr void adjoint(auto& p) {
    p.add(0, p.emit(p.like(Adjoint), p.axes(), p.gradient()));
  }
};

}  // namespace detail
template <>
struct op_entry<op::cumulative_sum> : detail::cumulative_operation<op::reverse_cumulative_sum> {};
template <>
struct op_entry<op::reverse_cumulative_sum> : detail::cumulative_operation<op::cumulative_sum> {};

// The indices of the greatest elements along ranked_axis, the greatest first, along selected_axis.
template <>
struct op_entry<op::top_k> {
  using adjoint = no_adjoint;
  static constexpr double flops(const auto& g, const auto& n) {  // one comparison an element
    return static_cast<double>(g.nodes[n.operand[0]].axes.extent());
  }
  static constexpr void lower(auto& ctx, int id) { lower_top_k(ctx, id); }
};

// Of a normalization's adjoint: the sum of its partial sums, for the gain or for the bias.
template <>
struct op_entry<op::norm_parameter_gradient> {
  using adjoint = no_adjoint;
  static constexpr double flops(const auto& g, const auto& n) {
    return static_cast<double>(partial_count(g.nodes[n.operand[0]])) *
           static_cast<double>(n.axes.extent());
  }
  static constexpr void lower(auto& ctx, int id) { lower_norm_parameter_gradient(ctx, id); }
};

}  // namespace weft
#include "weft/header_end.hpp"
