// Properties of graphs that tests check.
#pragma once

#include <ostream>

#include "support/run_time.hpp"
#include "weft/graph/graph.hpp"

namespace weft {

inline std::ostream& operator<<(std::ostream& out, op kind) {
  return out << name_of(kind);
}

}  // namespace weft

namespace weft::testing {

// What the passes make of a unit, such as weft::inference<model>, and of a model and its gradients.
template <class Unit>
const graph& graph_of() {
  static const auto g = compiled_graph<Unit>();
  return *g;
}
template <class Model>
const graph& fused() {
  return graph_of<inference<Model>>();
}
template <class Model>
const graph& fused_with_gradients() {
  return graph_of<training<Model, "loss">>();
}

constexpr int count(const graph& g, op kind) {
  int n = 0;
  for (int i = 0; i < g.count; ++i) n += g.nodes[i].kind == kind;
  return n;
}

// The first node of a kind; the first of all if there is none.
constexpr const node& first_node(const graph& g, op kind) {
  for (int i = 0; i < g.count; ++i)
    if (g.nodes[i].kind == kind) return g.nodes[i];
  return g.nodes[0];
}

// The number of nodes that are lowered to an instruction of their own.
constexpr int steps(const graph& g) {
  int n = 0;
  for (int i = 0; i < g.count; ++i)
    n += !is_leaf(g.nodes[i].kind) && !is_view(g.nodes[i].kind) && !g.nodes[i].fused;
  return n;
}

// The node of an output.
constexpr const node& output_node(const graph& g, int output = 0) {
  return g.nodes[g.outputs[output].node];
}

}  // namespace weft::testing
