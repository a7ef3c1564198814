// What a model became: its steps, as text.
#pragma once

#include <iostream>
#include <string>

#include "weft/lower/cost.hpp"
#include "weft/lower/lower.hpp"
#include "weft/lower/source.hpp"

namespace weft {

namespace detail {

// A node with its cost, for printing.
struct explained {
  node what;
  operation_cost cost;
};

std::string explained_text(const program& p, table_view<explained> nodes, table_view<leaf> inputs,
                           table_view<leaf> parameters, table_view<leaf> states,
                           std::string_view names, const model_cost& total);

template <class Source>
constexpr auto explained_nodes() {
  constexpr auto const& g = Source::g;
  table<explained, g.count> nodes;
  graph const whole = g.unpack();
  for (int i = 0; i < g.count; ++i) nodes.at[i] = {whole.nodes[i], cost_of_step(whole, i)};
  return nodes;
}

template <class Source>
std::string explain() {
  static constexpr auto nodes = explained_nodes<Source>();
  static constexpr auto total = cost_of_source<Source>();
  auto const& g = Source::g;
  return explained_text(lowered<Source>::program, nodes.view(), g.inputs.view(),
                        g.parameters.view(), g.states.view(), {g.text.at, g.text.size()}, total);
}

}  // namespace detail

// Prints the states of module<Model, Results...>, then its steps, those that are carried out once
// before those of every run, a line each: what it computes, with its axes, from what, its
// floating-point operations and bytes with every length at its bound, and where the result lies.
// The last line has the sums.
template <a_model Model, text... Results>
void explain(std::ostream& out = std::cout) {
  out << detail::explain<inference<Model, Results...>>();
}

// Prints the steps of trainer<Model, ..., Loss>.
template <a_model Model, text Loss = "loss">
void explain_training(std::ostream& out = std::cout) {
  out << detail::explain<training<Model, Loss>>();
}

}  // namespace weft
