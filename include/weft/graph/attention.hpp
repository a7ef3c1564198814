// How attention stands in a graph.
//
// attention          (query, key, value, options...)             [batch..., query, value]
// attention_adjoint  (query, key, value, attention, g, options...)
//
// kernels/attention.hpp has the formulas; `scale`, `scalar` (the soft cap), `lowest` and `highest`
// (the band) and `origin` (of distances) are the node's, and `start` is added to the lengths. The
// bits of `options` say which of attention_option follow, in their order. The axes of the batch are
// those of the result without query and value axes; an operand need not have them. The node's
// memory holds the result, and behind it the statistics, a float32 for each of its rows.
//
// The adjoint's memory holds its parts one behind the other: the gradients for query, key and
// value, then those of the biases that its options ask for. It has no axes of its own, and
// op::get_result 0, 1, 2 and so on are the views of them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "weft/graph/graph.hpp"

namespace weft {

enum class attention_option : std::uint8_t {
  mask,           // boolean, any of [batch..., query, key]
  bias,           // float32, the same
  offset,         // int32, any of [batch...]: the place of the first query among the keys
  lengths,        // int32, any of [batch...]: so many keys are seen
  relative,       // float32, any of [batch..., query] and an axis of distances
  dropout,        // numbers of the weights: [batch..., query, key], or fewer
  bias_gradient,  // from here on no operands: what an adjoint gives beside the first three
  relative_gradient,
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
// The node that is an option of an attention or its adjoint; -1 where it has none.
constexpr int find_option(const node& n, attention_option what) {
  if (!has_option(n, what)) return -1;
  return n
      .operand[(n.kind == op::attention ? 3 : 5) + std::popcount(n.options & (bit_of(what) - 1))];
}
// Options are added in their order.
constexpr void add_option(node& n, attention_option what, int id) {
  n.options = static_cast<std::uint8_t>(n.options | bit_of(what));
  n.operand[n.operands++] = id;
}

// Of an attention or its adjoint.
constexpr attention_axes attention_axes_of(const graph& g, const node& n) {
  axis_list const& of_result = n.kind == op::attention ? n.axes : g.nodes[n.operand[3]].axes;
  attention_axes a{n.named.at[0], n.named.at[1],
                   n.named.at[2], n.named.count > 3 ? n.named.at[3] : nullptr,
                   nullptr,       {}};
  for (int i = 0; i < of_result.count; ++i)
    if (of_result.at[i] != a.query && of_result.at[i] != a.value) a.batch.push(of_result.at[i]);
  if (int const table = find_option(n, attention_option::relative); table >= 0) {
    axis_list const& of_table = g.nodes[table].axes;
    for (int i = 0; i < of_table.count; ++i)
      if (of_table.at[i] != a.query && !a.batch.contains(of_table.at[i]))
        a.distance = of_table.at[i];
  }
  return a;
}

// What an adjoint's parts are the gradients for: nodes, whose axes the parts have.
struct attention_parts {
  int count;
  int of[5];
};
constexpr attention_parts parts_of(const node& adjoint) {
  attention_parts p{3, {adjoint.operand[0], adjoint.operand[1], adjoint.operand[2]}};
  if (has_option(adjoint, attention_option::bias_gradient))
    p.of[p.count++] = find_option(adjoint, attention_option::bias);
  if (has_option(adjoint, attention_option::relative_gradient))
    p.of[p.count++] = find_option(adjoint, attention_option::relative);
  return p;
}

// The axes of its rows: all of the result but the value's.
constexpr axis_list attention_rows(const node& attention) {
  axis_list rows{};
  for (int i = 0; i < attention.axes.count; ++i)
    if (attention.axes.at[i] != attention.named.at[2]) rows.push(attention.axes.at[i]);
  return rows;
}

}  // namespace weft
