// Fusion groups: elementwise operations that are executed as one instruction. All nodes of a group
// but the last are marked as `fused`; the mark does not change what they compute.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/graph.hpp"

namespace weft {

struct fusion_group {
  int nodes[max_fused_ops];  // in execution order
  int count;
  int inputs[max_fused_inputs];  // the distinct nodes that it reads
  int input_count;

  constexpr int find_node(int id) const {
    for (int i = 0; i < count; ++i)
      if (nodes[i] == id) return i;
    return -1;
  }
  constexpr int find_input(int id) const {
    for (int i = 0; i < input_count; ++i)
      if (inputs[i] == id) return i;
    return -1;
  }
};

// The group whose last node is `end`, an elementwise node that is not fused.
constexpr fusion_group fusion_group_of(const graph& g, int end) {
  fusion_group c{};
  c.nodes[c.count++] = end;
  for (int i = 0; i < c.count; ++i) {
    const node& n = g.nodes[c.nodes[i]];
    for (int j = 0; j < n.operands; ++j)
      if (g.nodes[n.operand[j]].fused && c.find_node(n.operand[j]) < 0)
        c.nodes[c.count++] = n.operand[j];
  }
  for (int i = 1; i < c.count; ++i)  // insertion sort
    for (int j = i; j > 0 && c.nodes[j] < c.nodes[j - 1]; --j) {
      const int before = c.nodes[j - 1];
      c.nodes[j - 1] = c.nodes[j];
      c.nodes[j] = before;
    }
  for (int i = 0; i < c.count; ++i) {
    const node& n = g.nodes[c.nodes[i]];
    for (int j = 0; j < n.operands; ++j)
      if (!g.nodes[n.operand[j]].fused && c.find_input(n.operand[j]) < 0)
        c.inputs[c.input_count++] = n.operand[j];
  }
  return c;
}

// Calls f with each node that the instruction of node i reads. Node i must not be fused.
template <class F>
constexpr void for_each_read(const graph& g, int i, F f) {
  const node& n = g.nodes[i];
  if (is_elementwise(n.kind)) {
    const fusion_group c = fusion_group_of(g, i);
    for (int j = 0; j < c.input_count; ++j) f(c.inputs[j]);
  } else {
    for (int j = 0; j < n.operands; ++j) f(n.operand[j]);
  }
}

}  // namespace weft
#include "weft/header_end.hpp"
