// A model's program as text: its instructions and their costs.
#pragma once
#include "weft/header_begin.hpp"

#include <iostream>
#include <string>
#include <string_view>
#include <utility>

#include "weft/lower/cost.hpp"
#include "weft/lower/lower.hpp"
#include "weft/lower/units.hpp"

namespace weft {

namespace detail {

// The text of a program, which g was lowered to.
std::string explained_text(const program& p, const graph_parts& g, const model_cost& total);

template <class Unit>
std::string explain() {
  static constexpr auto total = cost_of_source<Unit>();
  return explained_text(lowered<Unit>::program, Unit::g.parts(), total);
}

template <class Unit, std::size_t I>
struct graph_after_pass {
  static constexpr graph make() { return Unit::after(Unit::pipeline[I].name); }
};
// Throws an error that names the passes where there is none of this name.
[[noreturn]] void refuse_pass(std::string_view name, array_view<pass> pipeline);

template <class Unit>
std::string_view graph_text_after(std::string_view name) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    std::string_view found;
    const auto look_at = [&]<std::size_t J>(std::integral_constant<std::size_t, J>) {
      static constexpr auto text = graph_text<graph_after_pass<Unit, J>>();
      if (Unit::pipeline[J].name == name) found = text.view();
    };
    (look_at(std::integral_constant<std::size_t, I>()), ...);
    if (found.empty()) refuse_pass(name, {Unit::pipeline, sizeof...(I)});
    return found;
  }
  (std::make_index_sequence<std::size(Unit::pipeline)>());
}

}  // namespace detail

// Options of weft::explain and weft::explain_training.
struct explain_options {
  std::string_view after;  // the name of a pass, see passes/pipeline.hpp
};

// Prints the program of module<Model, Results...>: its states, the loop-invariant instructions that
// are executed once, then those of every run, one line each: the operation, its operands and the
// axes of its result, its floating-point operations and bytes read and written with every length at
// its bound, and the result's offset in the workspace; the totals; and the family of SIMD targets
// (weft::family) whose results this machine has, with its target.
template <model_like Model, fixed_string... Results>
void explain(std::ostream& out = std::cout) {
  out << detail::explain<inference<Model, Results...>>();
}

// Prints the graph of module<Model, Results...> after the last pass called options.after, one line
// a node, in the form of passes/dump.hpp. Throws weft::error where there is no such pass.
template <model_like Model, fixed_string... Results>
void explain(explain_options options, std::ostream& out = std::cout) {
  out << detail::graph_text_after<inference<Model, Results...>>(options.after);
}

// Prints the program of trainer<Model, ..., Loss> in the same form; the optimizer is not part of
// it.
template <model_like Model, fixed_string Loss = "loss">
void explain_training(std::ostream& out = std::cout) {
  out << detail::explain<training<Model, Loss>>();
}
// Prints its graph after a pass.
template <model_like Model, fixed_string Loss = "loss">
void explain_training(explain_options options, std::ostream& out = std::cout) {
  out << detail::graph_text_after<training<Model, Loss>>(options.after);
}

}  // namespace weft
#include "weft/header_end.hpp"
