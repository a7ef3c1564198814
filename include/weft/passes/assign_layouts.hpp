// The order of axes in memory, where the user does not see it.
#pragma once

#include "weft/graph/graph.hpp"
#include "weft/passes/eliminate_dead_code.hpp"

namespace weft {

namespace detail {

// Is any order of its result's axes as good to the operation?
constexpr bool any_output_layout(op o) {
  return is_elementwise(o) || o == op::dot || o == op::gather || o == op::scatter_add;
}

// Does operand j have to keep its order?
constexpr bool fixed_operand_layout(op o, int j) {
  if (o == op::gather) return j == 0;
  return !is_elementwise(o) && o != op::scatter_add && o != op::concatenate;
}

// The axes that node n walks through operand j by, in their order: those of what scatter_add puts
// into a table stand where the table has the indexed axis, and the axis of a part where the whole
// has what it is put together to.
constexpr axis_list visits(const graph& g, const node& n, int j) {
  if (n.kind != op::scatter_add && n.kind != op::concatenate) return n.axes;
  axis_list const& from = g.nodes[n.operand[n.kind == op::concatenate ? j : 0]].axes;
  axis_list order{};
  for (int a = 0; a < n.axes.count; ++a) {
    if (n.kind == op::scatter_add ? n.axes.at[a] != n.named.at[0] : from.contains(n.axes.at[a])) {
      order.push(n.axes.at[a]);
      continue;
    }
    for (int b = 0; b < from.count; ++b)
      if (!n.axes.contains(from.at[b])) order.push(from.at[b]);
  }
  return order;
}

// Is it a copy that only gave another order, and now gives the same?
constexpr bool is_identity_copy(const graph& g, int id) {
  node const& copy = g.nodes[id];
  return copy.kind == op::copy && g.nodes[copy.operand[0]].axes == copy.axes;
}

// Who uses such a copy uses what it copies; false where there is none.
constexpr bool propagate_copies(graph& g) {
  bool any = false;
  auto const pass_by = [&](int& id) {
    if (!is_identity_copy(g, id)) return;
    id = g.nodes[id].operand[0];
    any = true;
  };
  for (int i = 0; i < g.count; ++i)
    for (int j = 0; j < g.nodes[i].operands; ++j) pass_by(g.nodes[i].operand[j]);
  for (int i = 0; i < g.output_count; ++i)
    if (g.outputs[i].kind == role::result) pass_by(g.outputs[i].node);
  return any;
}

}  // namespace detail

// An intermediate that is used element by element gets its axes in the order in which the first of
// its users walks through it, so that both go through memory in steps of one: a causal mask that
// was written positions<KeyPos>() <= positions<Pos>() is read row by row of the scores, what is
// picked by distance lies as the scores that it is added to, and bias + dot(x, w) is a product with
// its bias. Outputs keep their order.
constexpr graph assign_layouts(graph g) {
  int user[max_nodes]{};    // the first user's node and one
  int place[max_nodes]{};   // among that one's operands
  bool fixed[max_nodes]{};  // an output, or used by what goes by the order of axes
  for (int i = 0; i < g.output_count; ++i) fixed[g.outputs[i].node] = true;
  for (int i = g.count - 1; i >= 0; --i) {
    node& n = g.nodes[i];
    if (detail::any_output_layout(n.kind) && !fixed[i] && user[i] > 0) {
      axis_list const wanted = detail::visits(g, g.nodes[user[i] - 1], place[i]);
      axis_list order{};
      for (int a = 0; a < wanted.count; ++a)
        if (n.axes.contains(wanted.at[a])) order.push(wanted.at[a]);
      if (order.count == n.axes.count) n.axes = order;
    }
    for (int j = 0; j < n.operands; ++j) {
      int const from = n.operand[j];
      if (detail::fixed_operand_layout(n.kind, j)) {
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
