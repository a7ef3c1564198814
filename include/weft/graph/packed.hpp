// A graph that is kept: as large as it has to be. Passes work on graphs with room to spare, and
// such a graph must not be a variable: with -g a compiler writes out every constant variable whole.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>

#include "weft/graph/graph.hpp"

namespace weft {

// N elements, also none. A plain array inside: compilers evaluate it much faster than std::array.
template <class T, std::size_t N>
struct table {
  T at[N == 0 ? 1 : N]{};

  static constexpr std::size_t size() { return N; }
  template <std::integral I>
  constexpr const T& operator[](I i) const {
    return at[i];
  }
  constexpr std::span<const T> span() const { return {at, N}; }
  constexpr const T* begin() const { return at; }
  constexpr const T* end() const { return at + N; }
};

// The first N elements.
template <std::size_t N, class T>
constexpr table<T, N> cut(const T* from) {
  table<T, N> t;
  for (std::size_t i = 0; i < N; ++i) t.at[i] = from[i];
  return t;
}

template <int Nodes, int Inputs, int Parameters, int States, int Outputs, int Rules, int Regions,
          int Text>
struct packed_graph {
  static constexpr int count = Nodes;
  static constexpr int input_count = Inputs;
  static constexpr int parameter_count = Parameters;
  static constexpr int state_count = States;
  static constexpr int output_count = Outputs;

  table<node, Nodes> nodes;
  table<leaf, Inputs> inputs;
  table<leaf, Parameters> parameters;
  table<leaf, States> states;
  table<output, Outputs> outputs;
  table<length_rule, Rules> rules;
  table<region, Regions> regions;
  table<char, Text> text;

  constexpr std::string_view name(name_ref r) const {
    return {text.at + r.begin, static_cast<std::size_t>(r.size)};
  }
  constexpr graph unpack() const {
    graph g;
    for (int i = 0; i < Nodes; ++i) g.nodes[i] = nodes.at[i];
    for (int i = 0; i < Inputs; ++i) g.inputs[i] = inputs.at[i];
    for (int i = 0; i < Parameters; ++i) g.parameters[i] = parameters.at[i];
    for (int i = 0; i < States; ++i) g.states[i] = states.at[i];
    for (int i = 0; i < Outputs; ++i) g.outputs[i] = outputs.at[i];
    for (int i = 0; i < Rules; ++i) g.rules[i] = rules.at[i];
    for (int i = 0; i < Regions; ++i) g.regions[i] = regions.at[i];
    for (int i = 0; i < Text; ++i) g.text[i] = text.at[i];
    g.count = Nodes;
    g.input_count = Inputs;
    g.parameter_count = Parameters;
    g.state_count = States;
    g.output_count = Outputs;
    g.rule_count = Rules;
    g.region_count = Regions;
    g.text_size = Text;
    return g;
  }
};

// The graph that Maker::make() gives.
template <class Maker>
constexpr auto pack() {
  constexpr graph g = Maker::make();
  return packed_graph<g.count, g.input_count, g.parameter_count, g.state_count, g.output_count,
                      g.rule_count, g.region_count, g.text_size>{
      cut<g.count>(g.nodes),
      cut<g.input_count>(g.inputs),
      cut<g.parameter_count>(g.parameters),
      cut<g.state_count>(g.states),
      cut<g.output_count>(g.outputs),
      cut<g.rule_count>(g.rules),
      cut<g.region_count>(g.regions),
      cut<g.text_size>(g.text)};
}

}  // namespace weft
