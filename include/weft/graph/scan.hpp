// How a scan stands in a graph: its body is nodes of the same list, marked with their region.
//
// element  (x)              in the body: x without the scan's axis, at the current step
// carry    (initial)        in the body: what is handed from step to step, at the step's beginning
// next     (carry, value)   ends a step: the carry of the next one; both also from a number
// stack    (value)          outside: the values of all steps, along an axis more
// last     (carry)          outside: the carry after the last step
//
// All other nodes are in the body that their operands are in: what does not depend on the step is
// outside. A node outside that stands between those of a body in the list does not depend on them.
#pragma once

#include "weft/graph/graph.hpp"

namespace weft {

// The region whose loop carries out node i; 0 for none.
constexpr int loop_of(const graph& g, int i) {
  node const& n = g.nodes[i];
  return n.kind == op::scan_collect ? g.nodes[n.operand[0]].region : n.region;
}

}  // namespace weft
