// How attention stands in a graph.
//
// attention          (query, key, value, options...)             [batch..., query, value]
// attention_adjoint  (query, key, value, attention, g, options...)
//
// kernels/attention.hpp has the formulas; `scale`, `scalar` (the soft cap), `lowest` and `highest`
// (the band) are the node's, and `start` is added to the lengths. The bits of `options` say which
// of attention_option follow, in their order. The axes of the batch are those of the result without
// query and value axes; an operand need not have them. The node's memory holds the result, and
// behind it the statistics, a float32 for each of its rows.
//
// The adjoint's memory holds the gradients for query, key and value, one behind the other; it has
// no axes of its own, and op::part 0, 1 and 2 are the views of them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "weft/graph/graph.hpp"

namespace weft {

enum class attention_option : std::uint8_t {
  mask,     // boolean, any of [batch..., query, key]
  bias,     // float32, the same
  offset,   // int32, any of [batch...]: the place of the first query among the keys
  lengths,  // int32, any of [batch...]: so many keys are seen
};

struct attention_axes {
  const axis_info *key, *depth, *value;
  const axis_info* query;  // null: a single query
  axis_list batch;
};

// Of an attention or its adjoint.
constexpr attention_axes attention_axes_of(const graph& g, const node& n) {
  axis_list const& of_result = n.kind == op::attention ? n.axes : g.nodes[n.operand[3]].axes;
  attention_axes a{
      n.named.at[0], n.named.at[1], n.named.at[2], n.named.count > 3 ? n.named.at[3] : nullptr, {}};
  for (int i = 0; i < of_result.count; ++i)
    if (of_result.at[i] != a.query && of_result.at[i] != a.value) a.batch.push(of_result.at[i]);
  return a;
}

// The node that is an option of an attention or its adjoint; -1 where it has none.
constexpr int find_option(const node& n, attention_option what) {
  auto const bit = 1u << static_cast<unsigned>(what);
  if ((n.options & bit) == 0) return -1;
  return n.operand[(n.kind == op::attention ? 3 : 5) + std::popcount(n.options & (bit - 1))];
}
// Options are added in their order.
constexpr void add_option(node& n, attention_option what, int id) {
  n.options = static_cast<std::uint8_t>(n.options | 1u << static_cast<unsigned>(what));
  n.operand[n.operands++] = id;
}

// The axes of its rows: all of the result but the value's.
constexpr axis_list attention_rows(const node& attention) {
  axis_list rows{};
  for (int i = 0; i < attention.axes.count; ++i)
    if (attention.axes.at[i] != attention.named.at[2]) rows.push(attention.axes.at[i]);
  return rows;
}

}  // namespace weft
