// The attention nodes of a graph.
//
// attention          (query, key, value, options...)             [batch..., query, value]
// attention_adjoint  (query, key, value, attention, g, options...)
//
// kernels/attention.hpp has the formulas, attributes.hpp the node's attributes. The bits of
// `options` say which operands of attention_option follow, in the order of the enum. The batch axes
// are those of the result other than query and value; an operand may lack any of them. The node's
// buffer holds the result, then the statistics: the log-sum-exp of each row of scores, float32.
//
// The adjoint's buffer holds its results one after another: the gradients of query, key and value,
// then those of the biases that its options request. The node itself has no axes; op::get_result 0,
// 1, 2, ... are views of the results.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "weft/graph/graph.hpp"

namespace weft {

enum class attention_option : std::uint8_t {
  mask,           // boolean, any of [batch..., query, key]; true: the key is visible
  bias,           // float32, any of [batch..., query, key]
  offset,         // int32, any of [batch...]: the key position of the first query
  begins,         // int32, any of [batch..., query]: keys before it are hidden
  lengths,        // int32, any of [batch..., query]: keys from it on are hidden
  relative,       // float32, any of [batch..., query] and an axis of distances
  sink,           // float32, any of [batch..., query]: one more score, without a key
  dropout,        // element ids of the weights: any of [batch..., query, key]
  bias_gradient,  // from here on no operands: further results of an adjoint
  relative_gradient,
  sink_gradient,
};

struct attention_axes {
  const axis_info *key, *depth, *value;
  const axis_info* query;     // null: a single query
  const axis_info* distance;  // null: no relative bias
  axis_list batch;
};

constexpr unsigned bit_of(attention_option what) {
  return 1u << static_cast<unsigned>(what);
}
constexpr bool has_option(const node& n, attention_option what) {
  return (n.options & bit_of(what)) != 0;
}
// The id of the operand for an option of an attention or its adjoint; -1 if it has none.
constexpr int find_option(const node& n, attention_option what) {
  if (!has_option(n, what)) return -1;
  return n
      .operand[(n.kind == op::attention ? 3 : 5) + std::popcount(n.options & (bit_of(what) - 1))];
}
// Options must be added in the order of the enum.
constexpr void add_option(node& n, attention_option what, int id) {
  n.options = static_cast<std::uint16_t>(n.options | bit_of(what));
  n.operand[n.operands++] = id;
}

// The axes of an attention or its adjoint, by role.
constexpr attention_axes attention_axes_of(const graph& g, const node& n) {
  const axis_list& of_result = n.kind == op::attention ? n.axes : g.nodes[n.operand[3]].axes;
  attention_axes a{key_axis(n), depth_axis(n), value_axis(n), query_axis(n), nullptr, {}};
  for (int i = 0; i < of_result.count; ++i)
    if (of_result.at[i] != a.query && of_result.at[i] != a.value) a.batch.push(of_result.at[i]);
  if (const int table = find_option(n, attention_option::relative); table >= 0) {
    const axis_list& of_table = g.nodes[table].axes;
    for (int i = 0; i < of_table.count; ++i)
      if (of_table.at[i] != a.query && !a.batch.contains(of_table.at[i]))
        a.distance = of_table.at[i];
  }
  return a;
}

// The nodes that an adjoint's results are the gradients of; each result has the axes of its node.
struct attention_parts {
  int count;
  int of[6];
};
constexpr attention_parts parts_of(const node& adjoint) {
  attention_parts p{3, {adjoint.operand[0], adjoint.operand[1], adjoint.operand[2]}};
  if (has_option(adjoint, attention_option::bias_gradient))
    p.of[p.count++] = find_option(adjoint, attention_option::bias);
  if (has_option(adjoint, attention_option::relative_gradient))
    p.of[p.count++] = find_option(adjoint, attention_option::relative);
  if (has_option(adjoint, attention_option::sink_gradient))
    p.of[p.count++] = find_option(adjoint, attention_option::sink);
  return p;
}

// The axes of the statistics: those of the result except value.
constexpr axis_list attention_rows(const node& attention) {
  axis_list rows{};
  for (int i = 0; i < attention.axes.count; ++i)
    if (attention.axes.at[i] != value_axis(attention)) rows.push(attention.axes.at[i]);
  return rows;
}

}  // namespace weft
