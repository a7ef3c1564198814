// The gradients that a differentiation has collected so far, and the nodes that it appends.
#pragma once

#include "weft/graph/graph.hpp"
#include "weft/passes/rematerialize.hpp"

namespace weft::detail {

class gradient_graph {
 public:
  explicit constexpr gradient_graph(graph& g) : g_(g), body_(g) {
    for (bool again = true; again;) {
      again = false;
      for (int i = 0; i < g.count; ++i) {
        const node& n = g_.nodes[i];
        depends_[i] = depends_[i] || n.kind == op::parameter;
        for (int j = 0; j < n.operands; ++j) depends_[i] = depends_[i] || depends_[n.operand[j]];
        depends_[i] = depends_[i] && n.type == dtype::float32;
        if (n.kind != op::yield || !depends_[i] || depends_[n.operand[0]]) continue;
        depends_[n.operand[0]] = again = true;
      }
    }
  }

  // The gradient for node i; zeros of its shape where the loss does not depend on it.
  constexpr int gradient(int i) {
    if (gradient_[i] > 0) return gradient_[i] - 1;
    return elementwise(op::copy, g_.nodes[i].axes, constant(0));
  }

 protected:
  friend class pullback;

  // ---- appending nodes

  constexpr int constant(double value) {
    node n = make_node(op::constant);
    constant_value(n) = value;
    return g_.emit(n);
  }

  template <class... Ids>
  constexpr int emit(node n, const axis_list& axes, Ids... operands) {
    n.axes = axes;
    n.operands = 0;
    ((n.operand[n.operands++] = operands), ...);
    return g_.emit(n);
  }
  template <class... Ids>
  constexpr int elementwise(op kind, const axis_list& axes, Ids... operands) {
    node n = make_node(kind);
    if (is_comparison(kind)) n.type = dtype::boolean;
    return emit(n, axes, operands...);
  }

  // Node id summed over the axes that `axes` lacks.
  constexpr int sum_to(const axis_list& axes, int id) {
    if (g_.nodes[id].axes == axes) return id;
    node n = make_node(op::sum);
    for (int i = 0; i < g_.nodes[id].axes.count; ++i)
      if (!axes.contains(g_.nodes[id].axes.at[i])) reduced_axes(n).push(g_.nodes[id].axes.at[i]);
    return emit(n, axes, id);
  }

  // Adds `id` to the gradient for node `to`, summed over the axes along which `to` was broadcast.
  constexpr void accumulate(int to, int id) {
    if (body_.open() && g_.nodes[to].region == 0) return capture(to, id);
    const int g = sum_to(g_.nodes[to].axes, id);
    gradient_[to] =
        1 + (gradient_[to] > 0 ? elementwise(op::add, g_.nodes[to].axes, gradient_[to] - 1, g) : g);
  }

  // Forward value id where gradients are being emitted: inside a scan's adjoint, its replay.
  constexpr int value(int id) { return body_.open() ? body_.value(id) : id; }

  // ---- scans

  // A contribution to the gradient for a node outside a body: `a`, or the contraction of a and b.
  // It is emitted after the body, whose values it reads.
  struct deferred_term {
    int to, a, b;  // b: id + 1; 0: none
  };
  // The sum of one step's gradients for an outer node; in the end the carry that accumulates it.
  struct closure_gradient {
    int to, sum;
  };
  constexpr void defer(const deferred_term& l) { deferred_[deferred_count_++] = l; }
  // A step's gradient for a node outside. If it has to be reduced within the step too, all steps
  // are collected and reduced once, after the scan; else a carry of the adjoint accumulates it.
  constexpr void capture(int to, int id) {
    if (!(g_.nodes[id].axes == g_.nodes[to].axes) && g_.nodes[id].axes.count < max_rank)
      return defer({to, body_.stack(id), 0});
    const int g = sum_to(g_.nodes[to].axes, id);
    for (int i = 0; i < captured_count_; ++i)
      if (captured_[i].to == to) {
        captured_[i].sum = elementwise(op::add, g_.nodes[to].axes, captured_[i].sum, g);
        return;
      }
    captured_[captured_count_++] = {to, g};
  }

  // The gradient for `to`, an operand from outside the scan that is contracted with `other`, as one
  // contraction over all steps instead of a small one in each. False where this does not apply.
  constexpr bool defer_contraction(int to, int other, int g) {
    if (!body_.open() || g_.nodes[to].region != 0) return false;
    if (g_.nodes[other].axes.count == max_rank || g_.nodes[g].axes.count == max_rank) return false;
    const int values = body_.values(other);
    defer({to, body_.stack(g), values + 1});
    return true;
  }

  graph& g_;
  forward_replay body_;
  bool depends_[max_nodes]{};
  int gradient_[max_nodes]{};  // id + 1; 0: none
  int final_[max_nodes]{};     // likewise, for a carry's value after the last step
  closure_gradient captured_[max_nodes]{};
  int captured_count_ = 0;
  deferred_term deferred_[max_nodes]{};
  int deferred_count_ = 0;
};

}  // namespace weft::detail
