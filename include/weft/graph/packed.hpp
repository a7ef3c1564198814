// A graph that is kept: as large as it has to be. Passes work on graphs with room to spare, and
// such a graph must not be a variable: with -g a compiler writes out every constant variable whole.
#pragma once

#include <cstddef>
#include <string_view>

#include "weft/graph/graph.hpp"
#include "weft/graph/table.hpp"

namespace weft {

namespace detail {

template <class T>
constexpr void fill(T* to, int& count, table_view<T> from) {
  count = static_cast<int>(from.count);
  for (int i = 0; i < count; ++i) to[i] = from.first[i];
}

}  // namespace detail

// The parts of a kept graph, whatever their sizes.
struct graph_parts {
  table_view<node> nodes;
  table_view<leaf> inputs, parameters, states;
  table_view<output> outputs;
  table_view<length_rule> rules;
  table_view<region> regions;
  table_view<char> text;
  bool rejected;
  model_fault fault;
  name_ref fault_name;

  constexpr graph unpack() const {
    graph g;
    g.rejected = rejected;
    g.fault = fault;
    g.fault_name = fault_name;
    detail::fill(g.nodes, g.count, nodes);
    detail::fill(g.inputs, g.input_count, inputs);
    detail::fill(g.parameters, g.parameter_count, parameters);
    detail::fill(g.states, g.state_count, states);
    detail::fill(g.outputs, g.output_count, outputs);
    detail::fill(g.rules, g.rule_count, rules);
    detail::fill(g.regions, g.region_count, regions);
    detail::fill(g.text, g.text_size, text);
    return g;
  }
};

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
  bool rejected;
  model_fault fault;
  name_ref fault_name;

  constexpr std::string_view name(name_ref r) const {
    return {text.at + r.begin, static_cast<std::size_t>(r.size)};
  }
  constexpr graph_parts parts() const {
    return {nodes.view(),   inputs.view(), parameters.view(), states.view(),
            outputs.view(), rules.view(),  regions.view(),    text.view(),
            rejected,       fault,         fault_name};
  }
  constexpr graph unpack() const { return parts().unpack(); }
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
      cut<g.text_size>(g.text),
      g.rejected,
      g.fault,
      g.fault_name};
}

}  // namespace weft
