// The order of axes in memory, where the user does not see it.
#pragma once

#include "weft/graph/graph.hpp"

namespace weft {

// An intermediate that elementwise operations use gets its axes in the order in which the first of
// them walks through it, so that both go through memory in steps of one: a causal mask that was
// written positions<KeyPos>() <= positions<Pos>() is read row by row of the scores, and bias +
// dot(x, w) is a product with its bias. Outputs keep their order.
constexpr graph arrange(graph g) {
  int user[max_nodes]{};    // the first user's node and one
  bool fixed[max_nodes]{};  // an output, or used by what goes by the order of axes
  for (int i = 0; i < g.output_count; ++i) fixed[g.outputs[i].node] = true;
  for (int i = g.count - 1; i >= 0; --i) {
    node& n = g.nodes[i];
    if ((is_elementwise(n.kind) || n.kind == op::dot) && !fixed[i] && user[i] > 0) {
      axis_list const& wanted = g.nodes[user[i] - 1].axes;
      axis_list order{};
      for (int a = 0; a < wanted.count; ++a)
        if (n.axes.contains(wanted.at[a])) order.push(wanted.at[a]);
      if (order.count == n.axes.count) n.axes = order;
    }
    for (int j = 0; j < n.operands; ++j) {
      if (is_elementwise(n.kind))
        user[n.operand[j]] = i + 1;
      else
        fixed[n.operand[j]] = true;
    }
  }
  return g;
}

}  // namespace weft
