// The graphs that a model is lowered from, each made once, while compiling.
#pragma once

#include "weft/graph/define.hpp"
#include "weft/graph/packed.hpp"
#include "weft/passes/arrange.hpp"
#include "weft/passes/attend.hpp"
#include "weft/passes/data_first.hpp"
#include "weft/passes/differentiate.hpp"
#include "weft/passes/fuse.hpp"
#include "weft/passes/hoist.hpp"
#include "weft/passes/own.hpp"
#include "weft/passes/select.hpp"
#include "weft/passes/without_dropout.hpp"

namespace weft {

// The graph of a model with all its results, as the user wrote it.
template <a_model Model>
struct whole_model {
  static constexpr graph make() { return detail::trace<Model>(); }
};
template <a_model Model>
inline constexpr auto definition = pack<whole_model<Model>>();

namespace detail {

template <class Model, text... Results>
constexpr bool has_results() {
  return definition<Model>.rejected ||
         ((find_output(definition<Model>, Results.view()) >= 0) && ...);
}

enum class loss_fault { none, missing, axes, elements, states };

template <a_model Model, text Loss>
constexpr loss_fault fault_of_loss() {
  auto const& g = definition<Model>;
  if (g.rejected) return loss_fault::none;
  int const loss = find_output(g, Loss.view());
  if (loss < 0) return loss_fault::missing;
  node const& n = g.nodes[g.outputs[loss].node];
  if (n.axes.count > 0) return loss_fault::axes;
  if (n.type != element::float32) return loss_fault::elements;
  if (g.state_count > 0 && select(g.unpack(), Loss.view()).state_count > 0)
    return loss_fault::states;
  return loss_fault::none;
}

// Is the model refused, or are its results not those that are asked for? Then what is made of it is
// empty, and compiles without a further message.
template <class Model, text... Results>
constexpr bool nothing_to_run() {
  return definition<Model>.rejected || !has_results<Model, Results...>();
}
template <class Model, text Loss>
constexpr bool nothing_to_train() {
  return definition<Model>.rejected || fault_of_loss<Model, Loss>() != loss_fault::none;
}

}  // namespace detail

// What is done to the graph of the results that are wanted, before it is lowered.
constexpr graph compiled(const graph& selected) {
  return own_results(fuse(hoist(arrange(attend(data_first(selected))))));
}
// The same with gradients of the first result, a scalar.
constexpr graph compiled_with_gradients(const graph& selected) {
  return fuse(hoist(arrange(simplify(differentiate(attend(data_first(selected)), 0)))));
}

// For some of the results; for all where none is named. Nothing is dropped.
template <a_model Model, text... Results>
struct inference {
  static constexpr graph selected() {
    return simplify(without_dropout(select(definition<Model>.unpack(), Results.view()...)));
  }
  static constexpr graph make() {
    return detail::nothing_to_run<Model, Results...>() ? rejected_graph() : compiled(selected());
  }
  static constexpr auto g = pack<inference>();
};

// The same with dropout.
template <a_model Model, text... Results>
struct sampling {
  static constexpr graph selected() {
    return simplify(select(definition<Model>.unpack(), Results.view()...));
  }
  static constexpr graph make() {
    return detail::nothing_to_run<Model, Results...>() ? rejected_graph() : compiled(selected());
  }
  static constexpr auto g = pack<sampling>();
};

// For a scalar result, and its gradient for every parameter.
template <a_model Model, text Loss>
struct training {
  static constexpr graph make() {
    return detail::nothing_to_train<Model, Loss>()
               ? rejected_graph()
               : compiled_with_gradients(sampling<Model, Loss>::selected());
  }
  static constexpr auto g = pack<training>();
};

// For the parameters alone.
template <a_model Model>
struct declaration {
  static constexpr graph make() {
    graph g = definition<Model>.unpack();
    if (g.rejected) return rejected_graph();
    g.output_count = 0;
    return sweep_inputs(g);
  }
  static constexpr auto g = pack<declaration>();
};

}  // namespace weft
