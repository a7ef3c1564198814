// The run-time lengths of axes that split, merge, slice, pad, unfold and concatenate create,
// derived from those of their operands.
#pragma once

#include "weft/graph/graph.hpp"

namespace weft {

namespace detail {

constexpr void add_rule(graph& g, const length_rule& r) {
  for (int i = 0; i < g.rule_count; ++i)
    if (g.rules[i] == r) return;
  g.rules[g.rule_count++] = r;
}

// The first axis of `axes` that is not in `others`.
constexpr const axis_info* new_axis(const axis_list& axes, const axis_list& others) {
  int a = 0;
  while (others.contains(axes.at[a])) ++a;
  return axes.at[a];
}

// The elements per index of the outermost named axis: the product of the other extents.
constexpr std::int64_t row(const axis_list& named) {
  return static_cast<std::int64_t>(named.extent() / named.at[0]->extent);
}

}  // namespace detail

// Records the length rules of the nodes of a whole model. Graphs derived from it keep all rules: a
// length must not depend on which nodes survive dead-code elimination.
constexpr void derive_lengths(graph& g) {
  for (int i = 0; i < g.count; ++i) {
    node const& n = g.nodes[i];
    if (n.kind != op::split && n.kind != op::merge && n.kind != op::slice && n.kind != op::pad &&
        n.kind != op::unfold && n.kind != op::concatenate)
      continue;
    axis_list const& from = g.nodes[n.operand[0]].axes;
    length_rule r{};
    r.multiply = r.divide = 1;
    if (n.kind == op::split) {
      r.target = n.named.at[0];
      r.sources.push(detail::new_axis(from, n.axes)->length_axis());
      r.divide = detail::row(n.named);
    } else if (n.kind == op::merge) {
      r.target = detail::new_axis(n.axes, from);
      r.sources.push(n.named.at[0]->length_axis());
      r.multiply = detail::row(n.named);
    } else if (n.kind == op::slice) {  // a bounded target extends to the end
      r.target = n.axes.at[from.find(n.named.at[0])];
      r.sources.push(n.named.at[0]->length_axis());
      r.add = -n.start;
    } else if (n.kind == op::pad) {  // the number of zeros is fixed
      axis_info const* const part = detail::new_axis(from, n.axes);
      r.target = n.named.at[0];
      r.sources.push(part->length_axis());
      r.add = static_cast<std::int64_t>(r.target->extent - part->extent);
    } else if (n.kind == op::unfold) {
      r.target = n.named.at[1];
      r.sources.push(n.named.at[0]->length_axis());
      r.add = n.lowest - 1 - n.highest * (static_cast<std::int64_t>(n.named.at[2]->extent) - 1);
      r.divide = n.lowest;
      r.rounds_down = true;
    } else {
      r.target = n.axes.at[from.find(n.named.at[0])];
      for (int j = 0; j < n.named.count; ++j) {
        if (n.named.at[j]->bounded)
          r.sources.push(n.named.at[j]->length_axis());
        else
          r.add += static_cast<std::int64_t>(n.named.at[j]->extent);
      }
    }
    if (!r.target->bounded) continue;
    r.target = r.target->length_axis();
    if (!r.sources.contains(r.target)) detail::add_rule(g, r);
  }
}

}  // namespace weft
