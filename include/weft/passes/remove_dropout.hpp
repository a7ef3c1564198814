// Removal of dropout and of what stops gradients, for inference.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/graph.hpp"

namespace weft {

// Users of a dropout, or of what stops a gradient, read its operand instead. The nodes themselves
// stay, as dead code.
constexpr graph remove_dropout(graph g) {
  const auto kept = [&](int id) {
    while (g.nodes[id].kind == op::dropout || g.nodes[id].kind == op::stop_gradient)
      id = g.nodes[id].operand[0];
    return id;
  };
  for (int i = 0; i < g.count; ++i)
    for (int j = 0; j < g.nodes[i].operands; ++j)
      g.nodes[i].operand[j] = kept(g.nodes[i].operand[j]);
  for (int i = 0; i < g.output_count; ++i) g.outputs[i].node = kept(g.outputs[i].node);
  return g;
}

}  // namespace weft
#include "weft/header_end.hpp"
