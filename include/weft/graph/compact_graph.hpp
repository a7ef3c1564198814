// A graph stored at its exact size. Passes work on `graph`, whose arrays have their maximal
// capacity; code that runs must not refer to one, since compilers would emit it in full.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <string_view>

#include "weft/graph/graph.hpp"
#include "weft/graph/static_array.hpp"

namespace weft {

namespace detail {

template <class T>
constexpr void fill(T* to, int& count, array_view<T> from) {
  count = static_cast<int>(from.count);
  for (int i = 0; i < count; ++i) to[i] = from.first[i];
}

}  // namespace detail

// Views of the arrays of a compact graph of any size.
struct graph_parts {
  array_view<node> nodes;
  array_view<leaf> inputs, parameters, states;
  array_view<output> outputs;
  array_view<length_rule> rules;
  array_view<region> regions;
  array_view<char> text;
  bool rejected;
  model_fault fault;
  name_ref fault_name;

  // A graph that has its names from this one.
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
    g.text_of_another = text.first;
    g.text_size = static_cast<int>(text.count);
    return g;
  }
};

template <int Nodes, int Inputs, int Parameters, int States, int Outputs, int Rules, int Regions,
          int Text>
struct compact_graph {
  static constexpr int count = Nodes;
  static constexpr int input_count = Inputs;
  static constexpr int parameter_count = Parameters;
  static constexpr int state_count = States;
  static constexpr int output_count = Outputs;

  static_array<node, Nodes> nodes;
  static_array<leaf, Inputs> inputs;
  static_array<leaf, Parameters> parameters;
  static_array<leaf, States> states;
  static_array<output, Outputs> outputs;
  static_array<length_rule, Rules> rules;
  static_array<region, Regions> regions;
  static_array<char, Text> text;
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
  // The empty graph of a model that is refused, or has nothing of what is asked for.
  constexpr graph refused() const { return refused_graph(fault, name(fault_name)); }
};

// The graph that Maker::make() returns, at its exact size. Clang evaluates a function's constexpr
// variable anew in each evaluation of the function, but a variable of its own once, which saves it
// a third of the time that a model takes; g++ writes such a variable, 13 MB, to the object file if
// the model is in an unnamed namespace.
#if defined(__clang__)
namespace detail {
template <class Maker>
inline constexpr graph made_graph = Maker::make();
}  // namespace detail
#endif
template <class Maker>
constexpr auto compact() {
#if defined(__clang__)
  constexpr const graph& g = detail::made_graph<Maker>;
#else
  constexpr graph g = Maker::make();
#endif
  return compact_graph<g.count, g.input_count, g.parameter_count, g.state_count, g.output_count,
                       g.rule_count, g.region_count, g.text_size>{
      take<g.count>(g.nodes),
      take<g.input_count>(g.inputs),
      take<g.parameter_count>(g.parameters),
      take<g.state_count>(g.states),
      take<g.output_count>(g.outputs),
      take<g.rule_count>(g.rules),
      take<g.region_count>(g.regions),
      take<g.text_size>(g.text()),
      g.rejected,
      g.fault,
      g.fault_name};
}

}  // namespace weft
#include "weft/header_end.hpp"
