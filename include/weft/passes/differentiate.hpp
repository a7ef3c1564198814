// Reverse-mode differentiation, from graph to graph.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/fault.hpp"
#include "weft/graph/graph.hpp"
#include "weft/graph/ops.hpp"
#include "weft/passes/eliminate_dead_code.hpp"
#include "weft/passes/pullback.hpp"

namespace weft {

// Not constexpr: reached while compiling, they are errors that print their names.
inline void this_operation_has_no_second_derivative() {
  detail::fault("differentiate: this operation has no second derivative");
}
inline void only_a_result_without_axes_can_be_differentiated() {
  detail::fault("differentiate: only a result without axes can be differentiated");
}

namespace detail {

template <op K>
constexpr void apply_adjoint(pullback& p) {
  if constexpr (requires { typename op_entry<K>::adjoint; })
    this_operation_has_no_second_derivative();
  else if constexpr (has_entry<K>)
    op_entry<K>::adjoint(p);
}
inline constexpr auto adjoints = table_of_operations([]<op K>() { return &apply_adjoint<K>; });

class differentiator : public gradient_graph {
 public:
  using gradient_graph::gradient_graph;

  // Appends the nodes that compute the gradient of the scalar `loss` with respect to every node
  // that depends on a parameter that is not held.
  constexpr void run(int loss) {
    accumulate(loss, constant(1));
    for (int i = loss; i >= 0 && !g_.rejected; --i) {
      if (loop_of(g_, i) > 0)
        i = scan_pullback(i);
      else
        propagate(i);
    }
  }

 private:
  constexpr void propagate(int i) {
    if (!depends_[i] || gradient_[i] == 0 || g_.nodes[i].operands == 0) return;
    pullback p(*this, i);
    adjoints[g_.nodes[i].kind](p);
  }

  // The pullback of the scan whose body's last node is `end`; returns the body's first node. The
  // adjoint is a scan in the other direction; its carries are the gradients for the carries.
  constexpr int scan_pullback(int end) {
    const int body = loop_of(g_, end);
    int first = end;
    bool wanted = false;
    for (; first >= 0 && loop_of(g_, first) == body; --first)
      wanted = wanted || (depends_[first] && (gradient_[first] > 0 || final_[first] > 0));
    ++first;
    if (!wanted) return first;

    body_.begin(body);
    int carry_gradient[max_nodes]{};  // the adjoint's carry
    for (int i = first; i <= end; ++i)
      if (g_.nodes[i].kind == op::carry && depends_[i])
        carry_gradient[i] =
            body_.carry(g_.nodes[i].axes, final_[i] > 0 ? final_[i] - 1 : constant(0));
    for (int i = end; i >= first && !g_.rejected; --i) {
      const node n = g_.nodes[i];
      if (n.kind == op::yield) {
        if (depends_[n.operand[1]]) accumulate(n.operand[1], carry_gradient[n.operand[0]]);
      } else if (n.kind == op::scan_collect) {
        if (depends_[i] && gradient_[i] > 0)
          accumulate(n.operand[0], body_.element(gradient_[i] - 1, scanned_axis(n)));
      } else if (n.kind != op::carry) {
        propagate(i);
      }
    }
    for (int i = first; i <= end; ++i)
      if (carry_gradient[i] > 0)
        body_.end_step(carry_gradient[i], gradient_[i] > 0 ? gradient_[i] - 1 : constant(0));
    for (int i = 0; i < captured_count_; ++i) {
      const int to = captured_[i].to, sum = captured_[i].sum;
      const int total = body_.carry(g_.nodes[to].axes, constant(0));
      body_.end_step(total, elementwise(op::add, g_.nodes[to].axes, total, sum));
      captured_[i].sum = total;
    }
    body_.end();

    for (int i = first; i <= end; ++i)
      if (carry_gradient[i] > 0 && depends_[g_.nodes[i].operand[0]])
        accumulate(g_.nodes[i].operand[0],
                   emit(make_node(op::scan_result), g_.nodes[i].axes, carry_gradient[i]));
    for (int i = 0; i < captured_count_; ++i) {
      const int to = captured_[i].to, total = captured_[i].sum;
      accumulate(to, emit(make_node(op::scan_result), g_.nodes[to].axes, total));
    }
    captured_count_ = 0;
    for (int i = 0; i < deferred_count_; ++i) {
      const auto [to, a, b] = deferred_[i];
      accumulate(to, b > 0 ? emit(make_node(op::dot), g_.nodes[to].axes, a, b - 1) : a);
    }
    deferred_count_ = 0;
    return first;
  }
};

}  // namespace detail

// Reverse mode: g with further outputs, the gradient of its output number `loss`, which must have
// no axes, for every parameter that is not held, in the parameters' order and each of its
// parameter's shape.
constexpr graph differentiate(graph g, int loss) {
  if (g.nodes[g.outputs[loss].node].axes.count != 0)
    only_a_result_without_axes_can_be_differentiated();
  detail::differentiator reverse(g);
  reverse.run(g.outputs[loss].node);
  if (g.rejected) return rejected_graph(g);
  for (int i = 0; i < g.parameter_count; ++i) {
    if (g.parameters[i].held) continue;
    output o{};
    o.kind = output_kind::gradient;
    o.name = g.parameters[i].name;
    o.node = reverse.gradient(g.parameters[i].node);
    o.leaf = i;
    g.outputs[g.output_count++] = o;
  }
  return g.region_count > 0 ? eliminate_dead_code(g) : g;
}

}  // namespace weft
#include "weft/header_end.hpp"
