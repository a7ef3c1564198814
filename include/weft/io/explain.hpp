// What a model became: its steps, as text.
#pragma once

#include <iostream>
#include <string>

#include "weft/lower/cost.hpp"
#include "weft/lower/lower.hpp"
#include "weft/lower/units.hpp"

namespace weft {

namespace detail {

// A node with its cost, for printing.
struct explained {
  node what;
  operation_cost cost;
};

std::string explained_text(const program& p, array_view<explained> nodes, array_view<leaf> inputs,
                           array_view<leaf> parameters, array_view<leaf> states,
                           std::string_view names, const model_cost& total);

template <class Unit>
constexpr auto explained_nodes() {
  constexpr auto const& g = Unit::g;
  static_array<explained, g.count> nodes;
  graph const whole = g.unpack();
  for (int i = 0; i < g.count; ++i) nodes.at[i] = {whole.nodes[i], cost_of_instruction(whole, i)};
  return nodes;
}

template <class Unit>
std::string explain() {
  static constexpr auto nodes = explained_nodes<Unit>();
  static constexpr auto total = cost_of_source<Unit>();
  auto const& g = Unit::g;
  return explained_text(lowered<Unit>::program, nodes.view(), g.inputs.view(), g.parameters.view(),
                        g.states.view(), {g.text.at, g.text.size()}, total);
}

}  // namespace detail

// Prints the states of module<Model, Results...>, then its steps, those that are carried out once
// before those of every run, a line each: what it computes, with its axes, from what, its
// floating-point operations and bytes with every length at its bound, and where the result lies.
// The last line has the sums.
template <model_like Model, fixed_string... Results>
void explain(std::ostream& out = std::cout) {
  out << detail::explain<inference<Model, Results...>>();
}

// Prints the steps of trainer<Model, ..., Loss>.
template <model_like Model, fixed_string Loss = "loss">
void explain_training(std::ostream& out = std::cout) {
  out << detail::explain<training<Model, Loss>>();
}

}  // namespace weft
