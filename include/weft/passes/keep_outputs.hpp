// Restricts a graph to some of its results.
#pragma once

#include <string_view>

#include "weft/graph/static_array.hpp"
#include "weft/passes/eliminate_dead_code.hpp"

namespace weft {

// The index among the outputs of g, a graph or compact_graph, of the result `name`; -1: none.
template <class Graph>
constexpr int find_output(const Graph& g, std::string_view name) {
  for (int i = 0; i < g.output_count; ++i)
    if (g.outputs[i].kind == output_kind::result && g.name(g.outputs[i].name) == name) return i;
  return -1;
}

// The number of results, which come before all other outputs.
template <class Graph>
constexpr int count_results(const Graph& g) {
  int n = 0;
  while (n < g.output_count && g.outputs[n].kind == output_kind::result) ++n;
  return n;
}

namespace detail {

// Adds to h's outputs, a subset of g's, the updates of the states that they depend on.
constexpr void add_updates(graph& h, const graph& g) {
  bool live[max_nodes]{};
  bool taken[max_outputs]{};
  for (bool more = true; more;) {
    more = false;
    for (int i = 0; i < h.output_count; ++i) live[h.outputs[i].node] = true;
    for (int i = g.count - 1; i >= 0; --i)
      for (int j = 0; live[i] && j < g.nodes[i].operands; ++j) live[g.nodes[i].operand[j]] = true;
    for (int i = 0; i < g.output_count; ++i) {
      const output& o = g.outputs[i];
      if (o.kind != output_kind::update || taken[i] || !live[g.states[o.leaf].node]) continue;
      more = taken[i] = true;
      h.outputs[h.output_count++] = o;
    }
  }
}

}  // namespace detail

// g with only the named results, the updates of the states that they depend on, and the inputs that
// these use; with all results and updates where no name is given. Every name must be a result's.
constexpr graph keep_outputs(const graph& g, array_view<std::string_view> names) {
  if (g.rejected) return g;
  if (names.size() == 0) return eliminate_dead_code_and_inputs(g);
  graph h = g;
  h.output_count = 0;
  for (const std::string_view name : names)
    h.outputs[h.output_count++] = g.outputs[find_output(g, name)];
  if (g.state_count > 0) detail::add_updates(h, g);
  return eliminate_dead_code_and_inputs(h);
}
template <class... Names>
constexpr graph keep_outputs(const graph& g, Names... names) {
  return keep_outputs(g, static_array<std::string_view, sizeof...(Names)>{{names...}}.view());
}

}  // namespace weft
