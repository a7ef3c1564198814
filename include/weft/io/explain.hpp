// What a model became: its steps, as text.
#pragma once

#include <span>
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

std::string explain(const program& p, std::span<const explained> nodes,
                    std::span<const leaf> inputs, std::span<const leaf> parameters,
                    std::string_view names, const model_cost& total);

template <class Source>
constexpr auto explained_nodes() {
  constexpr auto const& g = Source::g;
  table<explained, g.count> nodes;
  graph const whole = g.unpack();
  for (int i = 0; i < g.count; ++i) nodes.at[i] = {whole.nodes[i], cost_of(whole, i)};
  return nodes;
}

template <class Source>
std::string explain() {
  static constexpr auto nodes = explained_nodes<Source>();
  static constexpr auto total = cost_of_source<Source>();
  auto const& g = Source::g;
  return explain(lowered<Source>::program, nodes.span(), g.inputs.span(), g.parameters.span(),
                 {g.text.at, g.text.size()}, total);
}

}  // namespace detail

// The steps of module<Model, Results...>, a line each: what it computes, with its axes, from what,
// its floating-point operations and bytes with every length at its bound, and where the result
// lies.
template <a_model Model, text... Results>
std::string explain() {
  return detail::explain<inference<Model, Results...>>();
}

// The steps of trainer<Model, ..., Loss>.
template <a_model Model, text Loss = "loss">
std::string explain_training() {
  return detail::explain<training<Model, Loss>>();
}

}  // namespace weft
