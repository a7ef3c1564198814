// Live ranges of buffers, from the graph and the plan's roots alone: tests check the plan against
// them.
#pragma once

#include <algorithm>
#include <vector>

#include "support/operands.hpp"
#include "weft/passes/plan.hpp"

namespace weft::testing {

struct live_ranges {
  // The node whose instruction computes a node: itself or, if it is fused, its user.
  std::vector<int> computed_in;
  // Of a root: the first node whose instruction writes to its buffer (the operands of a
  // concatenation come before it), and the last one that reads it, also through a view. What the
  // caller, every run or a later step of a scan reads lives longer: until graph::count, or the
  // scan's last node.
  std::vector<int> first, last;

  live_ranges(const graph& g, const memory_plan& p) {
    const auto n = static_cast<std::size_t>(g.count);
    computed_in.resize(n);
    first.assign(n, g.count);
    last.assign(n, 0);
    std::vector<int> last_of_region(static_cast<std::size_t>(g.region_count) + 1);
    const auto at = [](std::vector<int>& of, int i) -> int& {
      return of[static_cast<std::size_t>(i)];
    };
    for (int i = g.count; i-- > 0;) {
      if (!g.nodes[i].fused) at(computed_in, i) = i;
      for (int j = 0; j < operand_count(g.nodes[i]); ++j)
        at(computed_in, operand_of(g.nodes[i], j)) = at(computed_in, i);
      if (!g.nodes[i].fused) at(first, p.of[i].root) = i;
    }
    for (int i = 0; i < g.count; ++i) at(last_of_region, loop_of(g, i)) = i;
    const auto read = [&](int id, int by) {
      const int root = p.of[id].root;
      if (by < g.count) {
        const op kind = g.nodes[root].kind;
        const int body = loop_of(g, by);
        const bool stays = kind == op::carry || kind == op::yield || kind == op::scan_collect;
        if (body > 0 && (loop_of(g, root) != body || stays)) by = at(last_of_region, body);
        if (g.nodes[root].once && !g.nodes[by].once) by = g.count;
      }
      at(last, root) = std::max(at(last, root), by);
    };
    for (int i = 0; i < g.count; ++i) {
      read(i, i);
      for (int j = 0; j < operand_count(g.nodes[i]); ++j)
        read(operand_of(g.nodes[i], j), at(computed_in, i));
    }
    for (int i = 0; i < g.output_count; ++i) read(g.outputs[i].node, g.count);
  }
};

}  // namespace weft::testing
