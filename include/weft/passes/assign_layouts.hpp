// Layout assignment: the memory order of intermediates' axes. Outputs keep their declared order.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/graph.hpp"
#include "weft/passes/eliminate_dead_code.hpp"

namespace weft {

namespace detail {

// Whether operand j has to keep its layout.
constexpr bool has_fixed_layout(op o, int j) {
  return !has_flag(o, op_flag::any_operands) && !(has_flag(o, op_flag::any_indices) && j > 0);
}

// The axis order in which node n iterates over operand j: the result's. The operand of scatter_add
// has its index axes where the result has the indexed axis; an operand of concatenate has its own
// axis where the result has the concatenated one.
constexpr axis_list visits(const graph& g, const node& n, int j) {
  if (n.kind != op::scatter_add && n.kind != op::concatenate) return n.axes;
  const axis_list& from = g.nodes[n.operand[n.kind == op::concatenate ? j : 0]].axes;
  axis_list order{};
  for (int a = 0; a < n.axes.count; ++a) {
    if (n.kind == op::scatter_add ? n.axes.at[a] != indexed_axis(n) : from.contains(n.axes.at[a])) {
      order.push(n.axes.at[a]);
      continue;
    }
    for (int b = 0; b < from.count; ++b)
      if (!n.axes.contains(from.at[b])) order.push(from.at[b]);
  }
  return order;
}

// Whether node id is a copy that only changed the layout and no longer does.
constexpr bool is_identity_copy(const graph& g, int id) {
  const node& copy = g.nodes[id];
  return copy.kind == op::copy && g.nodes[copy.operand[0]].axes == copy.axes;
}

// Copy propagation: users of an identity copy read its operand. False if there is none.
constexpr bool propagate_copies(graph& g) {
  bool any = false;
  const auto pass_by = [&](int& id) {
    if (!is_identity_copy(g, id)) return;
    id = g.nodes[id].operand[0];
    any = true;
  };
  for (int i = 0; i < g.count; ++i)
    for (int j = 0; j < g.nodes[i].operands; ++j) pass_by(g.nodes[i].operand[j]);
  for (int i = 0; i < g.output_count; ++i)
    if (g.outputs[i].kind == output_kind::result) pass_by(g.outputs[i].node);
  return any;
}

}  // namespace detail

// Layout assignment: an intermediate that may have any layout takes the axis order in which its
// first user iterates over it, so that both access it with unit stride. The causal mask
// positions<KeyPos>() <= positions<Pos>() is laid out like the scores that it masks, a bias
// gathered by distance like the scores that it is added to, and bias + dot(x, w) becomes a dot with
// that bias. Outputs keep their order.
constexpr graph assign_layouts(graph g) {
  int user[max_nodes]{};    // the first user's id + 1; 0: none
  int place[max_nodes]{};   // the operand's index in that user
  bool fixed[max_nodes]{};  // an output, or an operand with a fixed layout
  for (int i = 0; i < g.output_count; ++i) fixed[g.outputs[i].node] = true;
  for (int i = g.count - 1; i >= 0; --i) {
    node& n = g.nodes[i];
    if (has_flag(n.kind, op_flag::any_result) && !fixed[i] && user[i] > 0) {
      const axis_list wanted = detail::visits(g, g.nodes[user[i] - 1], place[i]);
      axis_list order{};
      for (int a = 0; a < wanted.count; ++a)
        if (n.axes.contains(wanted.at[a])) order.push(wanted.at[a]);
      if (order.count == n.axes.count) n.axes = order;
    }
    for (int j = 0; j < n.operands; ++j) {
      const int from = n.operand[j];
      if (detail::has_fixed_layout(n.kind, j)) {
        fixed[from] = true;
      } else {
        user[from] = i + 1;
        place[from] = j;
      }
    }
  }
  if (detail::propagate_copies(g)) g = eliminate_dead_code(g);
  return g;
}

}  // namespace weft
#include "weft/header_end.hpp"
