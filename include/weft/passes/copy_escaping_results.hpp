// Copies outputs that alias inputs, parameters or states.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/graph.hpp"

namespace weft {

// A result that is an input, a parameter or a state, or a view of one, becomes a copy: it must not
// change, or be freed, with its source. So does the new value of a state that aliases the old value
// of a state, which that state's update may overwrite.
constexpr graph copy_escaping_results(graph g) {
  for (int i = 0; i < g.output_count; ++i) {
    output& o = g.outputs[i];
    if (o.kind == output_kind::gradient) continue;
    int root = o.node;
    while (is_view(g.nodes[root].kind)) root = g.nodes[root].operand[0];
    const bool given = g.nodes[root].kind == op::input || g.nodes[root].kind == op::parameter;
    if (g.nodes[root].kind != op::state && !(given && o.kind == output_kind::result)) continue;
    node copy = make_node(op::copy);
    copy.type = g.nodes[o.node].type;
    copy.axes = g.nodes[o.node].axes;
    copy.operands = 1;
    copy.operand[0] = o.node;
    o.node = g.emit(copy);
  }
  if (g.rejected) return rejected_graph(g);
  return g;
}

}  // namespace weft
#include "weft/header_end.hpp"
