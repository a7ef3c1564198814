// The graph for some of a model's results.
#pragma once

#include <string_view>

#include "weft/passes/simplify.hpp"

namespace weft {

// The place of the result with a name among the outputs of g, a graph or a packed one; -1 for none.
template <class Graph>
constexpr int find_output(const Graph& g, std::string_view name) {
  for (int i = 0; i < g.output_count; ++i)
    if (g.outputs[i].kind == role::result && g.name(g.outputs[i].name) == name) return i;
  return -1;
}

// g with only the named results; all of them where no name is given.
template <class... Names>
constexpr graph select(const graph& g, Names... names) {
  if (sizeof...(Names) == 0) return sweep(g);
  graph h = g;
  h.output_count = 0;
  ((h.outputs[h.output_count++] = g.outputs[find_output(g, names)]), ...);
  return sweep(h);
}

}  // namespace weft
