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

namespace detail {

template <class T>
constexpr void fill(T* to, int& count, std::span<const T> from) {
  count = static_cast<int>(from.size());
  T const* const elements = from.data();
  for (int i = 0; i < count; ++i) to[i] = elements[i];
}

}  // namespace detail

// The parts of a kept graph, whatever their sizes.
struct graph_parts {
  std::span<const node> nodes;
  std::span<const leaf> inputs, parameters, states;
  std::span<const output> outputs;
  std::span<const length_rule> rules;
  std::span<const region> regions;
  std::span<const char> text;

  constexpr graph unpack() const {
    graph g;
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

  constexpr std::string_view name(name_ref r) const {
    return {text.at + r.begin, static_cast<std::size_t>(r.size)};
  }
  constexpr graph_parts parts() const {
    return {nodes.span(),   inputs.span(), parameters.span(), states.span(),
            outputs.span(), rules.span(),  regions.span(),    text.span()};
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
      cut<g.text_size>(g.text)};
}

}  // namespace weft
