// The table's entries for contraction, fused attention and rotation. adjoint as in
// ops_elementwise.hpp.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/op_class.hpp"

namespace weft {

// The sum over the axes that the result lacks, times node::scale, plus the addends, through
// node::epilogue.
template <>
struct op_entry<op::dot> {
  static constexpr double flops(const auto& g, const auto& n) {
    double terms = static_cast<double>(n.axes.extent());
    const double size = terms;
    const auto& left = g.nodes[n.operand[0]].axes;
    for (int a = 0; a < left.count; ++a)
      if (!n.axes.contains(left.at[a])) terms *= static_cast<double>(left.at[a]->extent);
    const double each = (n.scale != 1) + (n.operands - 2) + flops_per_element_of(n.epilogue);
    return 2 * terms + each * size;
  }
  // Within a scan, the gradient for an operand from outside is one contraction over all steps.
  static constexpr void adjoint(auto& p) {
    for (int j = 0; j < 2; ++j)
      if (p.wants(j) && !p.defer_contraction(j))
        p.add(j, j == 0 ? p.contract(p.axes_of(0), p.gradient(), p.x(1))
                        : p.contract(p.axes_of(1), p.x(0), p.gradient()));
  }
  static constexpr void lower(auto& ctx, int id) { lower_dot(ctx, id); }
};

// See attention_slots.hpp for the operands, and kernels/attention.hpp for the formulas.
template <>
struct op_entry<op::attention> {
  static constexpr double flops(const auto& g, const auto& n) {
    return attention_flops(g, n, 1, 1);
  }
  static constexpr void adjoint(auto& p) { p.add_attention_gradients(); }
  static constexpr void lower(auto& ctx, int id) { lower_attention(ctx, id); }
};
template <>
struct op_entry<op::attention_adjoint> {
  using adjoint = no_adjoint;
  static constexpr double flops(const auto& g, const auto& n) {
    return attention_flops(g, n, 3, 2);
  }
  static constexpr void lower(auto& ctx, int id) { lower_attention(ctx, id); }
};

// See ops/rotate.hpp for the formula. Six operations a pair.
template <>
struct op_entry<op::rotate> {
  static constexpr double flops(const auto&, const auto& n) {
    return 3 * static_cast<double>(n.axes.extent());
  }
  static constexpr void adjoint(auto& p) { p.add_rotation_gradients(); }
  static constexpr void lower(auto& ctx, int id) { lower_rotation(ctx, id); }
};
// For the cosine, or for the sine, as rotation_factor says.
template <>
struct op_entry<op::rotate_adjoint> {
  using adjoint = no_adjoint;
  static constexpr double flops(const auto&, const auto& n) {
    return 3 * static_cast<double>(n.axes.extent());
  }
  static constexpr void lower(auto& ctx, int id) { lower_rotation(ctx, id); }
};

}  // namespace weft
#include "weft/header_end.hpp"
