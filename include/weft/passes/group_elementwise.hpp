// Elementwise operations form fusion groups, one instruction each: intermediates stay in L1.
#pragma once

#include "weft/graph/fusion_group.hpp"

namespace weft {

namespace detail {

class elementwise_grouper {
 public:
  explicit constexpr elementwise_grouper(graph& g) : g_(g) {}

  // In reverse order, so that all users of a node are assigned to groups before it.
  constexpr void run() {
    for (int i = 0; i < g_.output_count; ++i) end_[g_.outputs[i].node] = several;
    for (int i = g_.count - 1; i >= 0; --i) {
      node& n = g_.nodes[i];
      n.fused = joins(i);
      const int end = n.fused ? end_[i] - 1 : i;
      for (int j = 0; j < n.operands; ++j) {
        int& users_end = end_[n.operand[j]];
        users_end = users_end == 0 || users_end == end + 1 ? end + 1 : several;
      }
    }
  }

 private:
  static constexpr int several = max_nodes + 1;

  // Whether one group alone uses node i, iterates as it does, and has room for it.
  constexpr bool joins(int i) {
    node& n = g_.nodes[i];
    if (!is_elementwise(n.kind) || end_[i] == 0 || end_[i] == several) return false;
    const node& last = g_.nodes[end_[i] - 1];
    if (!is_elementwise(last.kind) || !(last.axes == n.axes) || !same_schedule(last, n))
      return false;
    int inputs[max_fused_inputs + 3]{};
    int input_count = 0;
    const auto read = [&](int id) {
      for (int j = 0; j < input_count; ++j)
        if (inputs[j] == id) return;
      inputs[input_count++] = id;
    };
    const fusion_group c = fusion_group_of(g_, end_[i] - 1);
    for (int j = 0; j < c.input_count; ++j)
      if (c.inputs[j] != i) read(c.inputs[j]);
    for (int j = 0; j < n.operands; ++j) read(n.operand[j]);
    return c.count < max_fused_ops && input_count <= max_fused_inputs;
  }

  graph& g_;
  int end_[max_nodes]{};  // id + 1 of the last node of the group that uses it; 0: unused
};

}  // namespace detail

// Marks as fused the elementwise nodes that only one fusion group uses.
constexpr void group_elementwise(graph& g) {
  detail::elementwise_grouper(g).run();
}

}  // namespace weft
