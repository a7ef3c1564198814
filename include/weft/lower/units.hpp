// Compilation units: the graphs that a model is lowered from, each built once at compile time.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/compact_graph.hpp"
#include "weft/graph/trace.hpp"
#include "weft/passes/dump.hpp"
#include "weft/passes/eliminate_dead_code.hpp"
#include "weft/passes/pipeline.hpp"

namespace weft {

// The graph of a model with all its results, as traced, before any pass.
template <model_like Model>
struct traced {
  static constexpr graph make() { return detail::trace_if_constant<Model>(); }
};
template <model_like Model>
inline constexpr auto traced_graph = compact<traced<Model>>();

namespace detail {

template <class Model, fixed_string... Results>
constexpr bool has_results() {
  return traced_graph<Model>.rejected ||
         ((find_output(traced_graph<Model>, Results.view()) >= 0) && ...);
}

template <model_like Model, fixed_string Loss>
constexpr rule rule_of_loss() {
  const auto& g = traced_graph<Model>;
  if (g.rejected) return rule::none;
  const int loss = find_output(g, Loss.view());
  if (loss < 0) return rule::result;
  const node& n = g.nodes[g.outputs[loss].node];
  if (n.axes.count > 0) return rule::other_axes;
  if (n.type != dtype::float32) return rule::elements;
  if (g.state_count > 0 && keep_outputs(g.unpack(), Loss.view()).state_count > 0)
    return rule::states;
  return rule::none;
}

// Whether the model is refused, or does not have the results or the loss asked for. Then the unit
// is empty, and compiles without further messages.
template <class Model, fixed_string... Results>
constexpr bool nothing_to_run() {
  return traced_graph<Model>.rejected || !has_results<Model, Results...>();
}
template <class Model, fixed_string Loss>
constexpr bool nothing_to_train() {
  return traced_graph<Model>.rejected || rule_of_loss<Model, Loss>() != rule::none;
}

}  // namespace detail

// The named results, or all if none is named, without dropout.
template <model_like Model, fixed_string... Results>
struct inference {
  static constexpr const auto& pipeline = inference_passes;
  // The graph after the passes up to the last one of this name; without a name, after all.
  static constexpr graph after(std::string_view pass = {}) {
    return run_passes(keep_outputs(traced_graph<Model>.unpack(), Results.view()...),
                      inference_passes, pass);
  }
  static constexpr graph make() {
    return detail::nothing_to_run<Model, Results...>() ? traced_graph<Model>.refused() : after();
  }
  static constexpr auto g = compact<inference>();
};

// The same with dropout.
template <model_like Model, fixed_string... Results>
struct sampling {
  static constexpr const auto& pipeline = sampling_passes;
  static constexpr graph after(std::string_view pass = {}) {
    return run_passes(keep_outputs(traced_graph<Model>.unpack(), Results.view()...),
                      sampling_passes, pass);
  }
  static constexpr graph make() {
    return detail::nothing_to_run<Model, Results...>() ? traced_graph<Model>.refused() : after();
  }
  static constexpr auto g = compact<sampling>();
};

// A scalar result with dropout, and its gradients with respect to all parameters that train.
template <model_like Model, fixed_string Loss>
struct training {
  static constexpr const auto& pipeline = training_passes;
  static constexpr graph after(std::string_view pass = {}) {
    return run_passes(keep_outputs(traced_graph<Model>.unpack(), Loss.view()), training_passes,
                      pass);
  }
  static constexpr graph make() {
    return detail::nothing_to_train<Model, Loss>() ? traced_graph<Model>.refused() : after();
  }
  static constexpr auto g = compact<training>();
};

// The parameters alone, without results.
template <model_like Model>
struct parameters_only {
  static constexpr graph make() {
    graph all = traced_graph<Model>.unpack();
    if (all.rejected) return rejected_graph();
    all.output_count = 0;
    return eliminate_dead_code_and_inputs(all);
  }
  static constexpr auto g = compact<parameters_only>();
};

namespace detail {

template <class Unit, fixed_string Pass>
struct graph_after {
  static constexpr graph make() { return Unit::after(Pass.view()); }
};

}  // namespace detail

// The graph of module<Model>, with all results, after the last pass called Pass, as text: to be
// printed by a compiler, in a static_assert or as a template argument. See passes/pipeline.hpp for
// the names, and passes/dump.hpp for the form.
template <model_like Model, fixed_string Pass = "copy-escaping-results">
inline constexpr auto dump = detail::graph_text<detail::graph_after<inference<Model>, Pass>>();

}  // namespace weft
#include "weft/header_end.hpp"
