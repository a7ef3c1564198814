// Attention reads keys and values of 16 bits as they are.
#pragma once

#include "weft/graph/graph.hpp"
#include "weft/passes/eliminate_dead_code.hpp"

namespace weft {

// Where keys or values of an attention are converted from bfloat16, as those of a cache are, it
// reads what they are converted from: its kernel converts a block of them at a time. Not for
// training, since the adjoint reads float32 only.
constexpr graph read_narrow_keys(graph g) {
  for (int i = 0; i < g.count; ++i) {
    node& n = g.nodes[i];
    if (n.kind != op::attention) continue;
    for_each_operand(n, [&](const slot& s, int& id) {
      const node& from = g.nodes[id];
      if (s.narrow && from.kind == op::cast && g.nodes[from.operand[0]].type == dtype::bfloat16 &&
          g.nodes[from.operand[0]].axes == from.axes)
        id = from.operand[0];
    });
  }
  return eliminate_dead_code(g);
}

}  // namespace weft
