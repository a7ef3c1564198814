// Models whose code weft_add_model (CMake) generates.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/axes/name.hpp"
#include "weft/graph/reject.hpp"
#include "weft/lower/units.hpp"
#include "weft/passes/eliminate_dead_code.hpp"
#include "weft/run/step.hpp"

namespace weft {

namespace detail {

// The steps of Unit's program for the best SIMD target. Defined by the file that weft_add_model
// makes; without it, the link fails and the linker names this struct.
template <class Unit>
struct made_by_weft_add_model {
  static generated_steps steps() noexcept;
};

}  // namespace detail

// The generated code of a graph; empty by default.
template <class Unit>
struct generated_code {
  // The steps for the best SIMD target.
  generated_steps steps() const noexcept { return made ? made() : generated_steps{}; }

  generated_steps (*made)() noexcept;  // of the file that weft_add_model makes; or null

  // No aggregate, as which clang, within a template, takes {.seed = 1}.
  constexpr generated_code(generated_steps (*m)() noexcept = nullptr) : made(m) {}
};

namespace detail {

template <class Unit>
constexpr generated_code<Unit> code_of() noexcept {
  return {&made_by_weft_add_model<Unit>::steps};
}

template <class Model, fixed_string... Results>
constexpr rule rule_of_generated() {
  if constexpr (in_unnamed_namespace<Model>())
    return rule::unnamed;
  else
    return has_results<Model, Results...>() ? rule::none : rule::result;
}

}  // namespace detail

// Returns the generated code for the constructors of module<Model, Results...>, with the same
// results:
//
//   weft_add_model(app encoder.hpp encoder)                       # CMake
//   weft::module<encoder> net(weft::generated<encoder>());
//
// A program without that line of CMake does not link. Small instructions of fixed extents are
// generated; the library's kernels compute the others, contractions with weights packed in
// bfloat16, and, in a module that is not frozen, those of one to three rows with weights [out, in],
// as linear has them. A model in an unnamed namespace, or results that it does not have, do not
// compile.
template <model_like Model, fixed_string... Results>
requires(detail::rule_of_generated<Model, Results...>() ==
         rule::none) generated_code<inference<Model, Results...>> generated()
noexcept {
  return detail::code_of<inference<Model, Results...>>();
}
WEFT_REJECT_IF((model_like Model, fixed_string... Results),
               (detail::rule_of_generated<Model, Results...>()), generated(),
               WEFT_UNNAMED_MODEL("generated"),
               (result, "generated: the model has no result of this name"))

// Returns the generated code for the constructors of trainer<Model, Optimizer, Loss>; in CMake,
// weft_add_model(app header.hpp model TRAINING loss).
template <model_like Model, fixed_string Loss = "loss">
requires(detail::rule_of_generated<Model, Loss>() ==
         rule::none) generated_code<training<Model, Loss>> generated_training()
noexcept {
  return detail::code_of<training<Model, Loss>>();
}
WEFT_REJECT_IF((model_like Model, fixed_string Loss = "loss"),
               (detail::rule_of_generated<Model, Loss>()), generated_training(),
               WEFT_UNNAMED_MODEL("generated_training"),
               (result, "generated_training: the model has no result with the name of the loss"))

}  // namespace weft
#include "weft/header_end.hpp"
