// The attention nodes of a graph: an attention, of axes [batch..., query, value], and its adjoint.
//
// attention_slots.hpp has their operands and results, kernels/attention.hpp the formulas and
// attributes.hpp the node's attributes. The batch axes are those of the result other than query and
// value; an operand may lack any of those that its slot has. An attention's buffer holds the
// result, then the statistics. The adjoint's holds its gradients one after another; the node itself
// has no axes, and op::get_result 0, 1, 2, ... are views of them.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/graph.hpp"

namespace weft {

struct attention_axes {
  const axis_info *key, *depth, *value;
  const axis_info* query;     // null: a single query
  const axis_info* distance;  // null: no relative bias
  axis_list batch;
};

// The axes of an attention or its adjoint, by role.
constexpr attention_axes attention_axes_of(const graph& g, const node& n) {
  const int result = find_operand(n, role::result);
  const axis_list& of_result = result < 0 ? n.axes : g.nodes[result].axes;
  attention_axes a{key_axis(n), depth_axis(n), value_axis(n), query_axis(n), nullptr, {}};
  for (int i = 0; i < of_result.count; ++i)
    if (of_result.at[i] != a.query && of_result.at[i] != a.value) a.batch.push(of_result.at[i]);
  if (const int table = find_operand(n, role::relative); table >= 0) {
    const axis_list& of_table = g.nodes[table].axes;
    for (int i = 0; i < of_table.count; ++i)
      if (of_table.at[i] != a.query && !a.batch.contains(of_table.at[i]))
        a.distance = of_table.at[i];
  }
  return a;
}

// The axes of an operand or a result in one of a kernel's last four loops, or in none.
constexpr const axis_info* axis_of(const attention_axes& a, unsigned loop) {
  switch (loop) {
    case over::query:
      return a.query;
    case over::key:
      return a.key;
    case over::depth:
      return a.depth;
    case over::value:
      return a.value;
    case over::distance:
      return a.distance;
    default:
      return nullptr;
  }
}

// The axes of the statistics: those of the result except value.
constexpr axis_list attention_rows(const node& attention) {
  axis_list rows{};
  for (int i = 0; i < attention.axes.count; ++i)
    if (attention.axes.at[i] != value_axis(attention)) rows.push(attention.axes.at[i]);
  return rows;
}

}  // namespace weft
#include "weft/header_end.hpp"
