// The cost of a model at compile time, for static_assert and for planning:
// weft::cost<encoder>.workspace_bytes.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>

#include "weft/lower/lower.hpp"
#include "weft/lower/units.hpp"
#include "weft/passes/cost.hpp"
#include "weft/passes/receptive_field.hpp"

namespace weft {

// The cost of a run, and the memory that a model needs.
struct model_cost {
  double flops;                 // of one run, every length at its bound
  double bytes;                 // that the operations read and write, each operand once
  std::size_t parameter_bytes;  // of the block of parameters, alignment padding included
  std::size_t workspace_bytes;  // states, intermediates, staged inputs, scratch of one thread
  int operations;               // instructions of a run; those of a scan count once
  std::size_t state_bytes;      // of the workspace: the states
  double sequential;       // operations on the critical path, each of which needs the previous one
  operation_cost once;     // of the run-invariant operations, not included above
  std::size_t once_bytes;  // of the workspace: the results of run-invariant operations
  std::size_t frozen_workspace_bytes;  // of a module that is frozen in float32
  std::size_t packed_bytes;  // its packed weights, which modules share as they do parameters
};

namespace detail {

template <class Unit>
constexpr model_cost cost_of_source() {
  constexpr operation_cost c = cost_of(Unit::g.unpack());
  constexpr operation_cost once = cost_of(Unit::g.unpack(), true);
  constexpr double sequential = sequential_operations(Unit::g.unpack());
  const auto& tables = lowered<Unit>::tables;
  return {c.flops,
          c.bytes,
          tables.parameter_bytes,
          tables.workspace_bytes,
          static_cast<int>(tables.instructions.size()) - tables.once,
          tables.state_bytes,
          sequential,
          once,
          tables.once_bytes,
          tables.scratch_offset() + tables.frozen_scratch(precision::float32),
          packed_size(tables.packed, precision::float32)};
}

// A model without a module has no other check that reports these errors.
template <class Unit, bool WellFormed>
constexpr model_cost checked_cost() {
  static_assert(WellFormed,
                "cost: two names in the model are the same, or it has no such result or loss");
  return cost_of_source<Unit>();
}

}  // namespace detail

// The cost of a run of module<Model, Results...>.
template <model_like Model, fixed_string... Results>
inline constexpr model_cost cost = detail::checked_cost<
    inference<Model, Results...>,
    traced_graph<Model>.fault == model_fault::none && detail::has_results<Model, Results...>()>();

// The cost of the loss and gradients of a training step, without the optimizer.
template <model_like Model, fixed_string Loss = "loss">
inline constexpr model_cost training_cost = detail::checked_cost<
    training<Model, Loss>, traced_graph<Model>.fault == model_fault::none &&
                               detail::rule_of_loss<Model, Loss>() == rule::none>();

// The largest distance between two positions along Pos, in operations that mix positions; see
// longest_path in passes/receptive_field.hpp.
template <model_like Model, axis_like Pos, fixed_string... Results>
inline constexpr double path_length = longest_path(inference<Model, Results...>::g.unpack(),
                                                   &info_of<Pos>);

}  // namespace weft
#include "weft/header_end.hpp"
