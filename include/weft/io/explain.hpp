// A model's program as text: its instructions and their costs.
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

// Prints the program of module<Model, Results...>: its states, the loop-invariant instructions that
// are executed once, then those of every run, one line each: the operation, its operands and the
// axes of its result, its floating-point operations and bytes read and written with every length at
// its bound, and the result's offset in the workspace. The last line has the totals.
template <model_like Model, fixed_string... Results>
void explain(std::ostream& out = std::cout) {
  out << detail::explain<inference<Model, Results...>>();
}

// Prints the program of trainer<Model, ..., Loss> in the same form; the optimizer is not part of
// it.
template <model_like Model, fixed_string Loss = "loss">
void explain_training(std::ostream& out = std::cout) {
  out << detail::explain<training<Model, Loss>>();
}

}  // namespace weft
