// Fuses the gradients for a normalisation's gain and bias into the pass over its rows that computes
// the gradient for its operand: see graph/attributes.hpp.
#pragma once

#include "weft/graph/graph.hpp"
#include "weft/passes/eliminate_dead_code.hpp"
#include "weft/passes/fuse_rowwise.hpp"

namespace weft::detail {

class norm_parameter_gradient_fuser {
 public:
  explicit constexpr norm_parameter_gradient_fuser(const graph& h) : h_(h) {
    for (int i = 0; i < h.count; ++i) {
      const node& n = h.nodes[i];
      for (int j = 0; j < n.operands; ++j) read_[n.operand[j]] = true;
    }
    for (int i = 0; i < h.count; ++i) {
      const node& n = h.nodes[i];
      // A sum that another node reads may be needed before the adjoint.
      if (n.kind != op::sum || n.type != dtype::float32 || read_[i]) continue;
      if (n.operands == 1) bias_[n.operand[0]] = i + 1;
      if (n.operands == 2)
        for (int j = 0; j < 2; ++j)
          if (is_normalization(h.nodes[n.operand[1 - j]].kind)) gain_[n.operand[j]] = i + 1;
    }
  }

  // Whether anything was fused; then `result` is the new graph.
  constexpr bool run(graph& result) {
    bool any = false;
    for (int i = 0; i < h_.count; ++i) {
      if (!wants_parameter_gradients(i)) continue;
      any = true;
      const int g = h_.nodes[i].operand[1];
      moved_[gain_[g] - 1] = true;
      if (bias_[g] > 0 && is_sum_of_rows(h_.nodes[bias_[g] - 1], h_.nodes[i]))
        moved_[bias_[g] - 1] = true;
    }
    if (any) result = moved();
    return any;
  }

 private:
  // Whether `sum` reduces over all rows of the adjoint.
  static constexpr bool is_sum_of_rows(const node& sum, const node& adjoint) {
    return sum.axes == row_axes_in_order(adjoint) && same_schedule(sum, adjoint);
  }

  // Whether node i is a normalisation's adjoint whose gain's gradient is computed too.
  constexpr bool wants_parameter_gradients(int i) const {
    const node& n = h_.nodes[i];
    if (!is_adjoint_of_normalization(n.kind) || n.operands < 3 || n.region != 0) return false;
    if (n.axes.count == max_rank || row_axes(n).bounded()) return false;
    if (gain_[n.operand[1]] == 0) return false;
    const node& sum = h_.nodes[gain_[n.operand[1]] - 1];
    if (!is_sum_of_rows(sum, n)) return false;
    for (int j = 0; j < 2; ++j) {
      const node& normal = h_.nodes[sum.operand[j]];
      if (normal.kind == normalization_of_adjoint(n.kind) && normal.operands == 1 &&
          normal.operand[0] == n.operand[0] && row_axes(normal) == row_axes(n) &&
          epsilon_of(normal) == epsilon_of(n) && sum.operand[1 - j] == n.operand[1])
        return true;
    }
    return false;
  }

  constexpr graph moved() const {
    graph to_graph = empty_like(h_);
    int to[max_nodes]{};
    for (int i = 0; i < h_.count; ++i) {
      if (moved_[i]) continue;
      node n = h_.nodes[i];
      const bool sums = wants_parameter_gradients(i);
      if (sums) mark(n, role::partial_sums);
      for (int j = 0; j < n.operands; ++j) n.operand[j] = to[n.operand[j]];
      to[i] = to_graph.emit(n);
      if (!sums) continue;
      const int g = h_.nodes[i].operand[1];
      for (int which = 0; which < 2; ++which) {
        const int sum = (which == 0 ? gain_[g] : bias_[g]) - 1;
        if (sum < 0 || !moved_[sum]) continue;
        node s = make_node(op::norm_parameter_gradient);
        s.axes = h_.nodes[sum].axes;
        norm_parameter(s) = which;
        add_operand(s, role::x, to[i]);
        to[sum] = to_graph.emit(s);
      }
    }
    remap_interface(to_graph, h_, to, nullptr);
    return to_graph;
  }

  const graph& h_;
  bool read_[max_nodes]{};                     // by any node
  int gain_[max_nodes]{}, bias_[max_nodes]{};  // of g: the sum's id + 1; 0: none
  bool moved_[max_nodes]{};
};

// Afterwards the product with the gain may be the only user of normalize(x), which then takes gain
// and bias. False, and h unchanged, where there is nothing to fuse.
constexpr bool fuse_norm_parameter_gradients(graph& h) {
  graph with_sums;
  if (!norm_parameter_gradient_fuser(h).run(with_sums)) return false;
  h = with_sums;
  int uses[max_nodes]{};
  for (int i = 0; i < h.count; ++i)
    for (int j = 0; j < h.nodes[i].operands; ++j) ++uses[h.nodes[i].operand[j]];
  for (int i = 0; i < h.output_count; ++i) ++uses[h.outputs[i].node];
  for (int i = 0; i < h.count; ++i) {
    node& n = h.nodes[i];
    if (n.kind != op::add && n.kind != op::multiply) continue;
    for (int j = 0; j < 2; ++j)
      if (uses[n.operand[j]] == 1 && same_schedule(h.nodes[n.operand[j]], n) &&
          fold_affine(h, n, j))
        break;
  }
  return true;
}

}  // namespace weft::detail
