// A scan in a graph: the nodes of its body are in the same list, marked with their region.
//
// scan_slice    (x)             in the body: x without the scanned axis, at the current step
// carry         (initial)       in the body: the carry at the beginning of a step
// yield         (carry, value)  in the body: sets the carry of the next step
// scan_collect  (value)         outside: the values of all steps, along an additional axis
// scan_result   (carry)         outside: the carry after the last step
//
// initial and value may be scalars, which are broadcast. All other nodes are in the body of their
// operands, so loop-invariant nodes are outside. A node outside that is listed between nodes of a
// body does not depend on them.
#pragma once

#include "weft/graph/graph.hpp"

namespace weft {

// The region whose loop executes node i; 0 if none.
constexpr int loop_of(const graph& g, int i) {
  const node& n = g.nodes[i];
  return n.kind == op::scan_collect ? g.nodes[n.operand[0]].region : n.region;
}

}  // namespace weft
