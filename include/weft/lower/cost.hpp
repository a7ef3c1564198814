// The cost of a model, for static_assert and for planning: weft::cost<encoder>.workspace_bytes.
#pragma once

#include <cstddef>

#include "weft/lower/lower.hpp"
#include "weft/lower/source.hpp"
#include "weft/passes/cost.hpp"
#include "weft/passes/paths.hpp"

namespace weft {

struct model_cost {
  double flops;  // of one run, every length at its bound
  double bytes;  // that the operations read and write
  std::size_t parameter_bytes;
  std::size_t workspace_bytes;  // states, intermediates, scratch and room for inputs
  int operations;               // steps of a run
  std::size_t state_bytes;      // of the workspace: what stays from run to run
  double sequential;            // operations each of which needs the one before
  operation_cost once;          // of what is computed once, before all runs; not in the above
  std::size_t once_bytes;       // of the workspace: what stays of that
};

namespace detail {

template <class Source>
constexpr model_cost cost_of_source() {
  constexpr operation_cost c = cost_of(Source::g.unpack());
  constexpr operation_cost once = cost_of(Source::g.unpack(), true);
  constexpr double sequential = sequential_operations(Source::g.unpack());
  auto const& tables = lowered<Source>::tables;
  return {c.flops,
          c.bytes,
          tables.parameter_bytes,
          tables.workspace_bytes,
          static_cast<int>(tables.steps.size()) - tables.once,
          tables.state_bytes,
          sequential,
          once,
          tables.once_bytes};
}

// There may be no module that says what is wrong.
template <class Source, bool WellFormed>
constexpr model_cost checked_cost() {
  static_assert(WellFormed,
                "cost: two names in the model are the same, or it has no such result or loss");
  return cost_of_source<Source>();
}

}  // namespace detail

// Of a run of module<Model, Results...>.
template <a_model Model, text... Results>
inline constexpr model_cost cost = detail::checked_cost<
    inference<Model, Results...>,
    definition<Model>.fault == model_fault::none && detail::has_results<Model, Results...>()>();

// Of a training step's loss and gradients; the optimizer adds to it.
template <a_model Model, text Loss = "loss">
inline constexpr model_cost training_cost = detail::checked_cost<
    training<Model, Loss>, definition<Model>.fault == model_fault::none &&
                               detail::fault_of_loss<Model, Loss>() == detail::loss_fault::none>();

// The longest way that information takes between two positions along Pos, in operations that mix
// positions; see passes/paths.hpp.
template <a_model Model, an_axis Pos, text... Results>
inline constexpr double path_length = longest_path(inference<Model, Results...>::g.unpack(),
                                                   &info_of<Pos>);

}  // namespace weft
