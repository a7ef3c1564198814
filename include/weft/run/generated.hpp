// Models whose code weft_add_model (CMake) generates.
#pragma once

#include "weft/axes/name.hpp"
#include "weft/graph/reject.hpp"
#include "weft/lower/units.hpp"
#include "weft/passes/keep_outputs.hpp"
#include "weft/run/engine.hpp"

namespace weft {

namespace detail {

// The instructions of Unit's program. Defined by the file that weft_add_model makes; without it,
// the link fails and the linker names this struct.
template <class Unit>
struct made_by_weft_add_model {
  static void run(const engine& e) noexcept;
  // Packs the parameters in the layout that run reads.
  static void pack(const engine& e, std::byte* packed) noexcept;
};

}  // namespace detail

// The generated code of a graph; empty by default.
template <class Unit>
struct generated_code {
  program_code code;  // functions of the file that weft_add_model makes
};

namespace detail {

template <class Unit>
constexpr generated_code<Unit> code_of() noexcept {
  using made = made_by_weft_add_model<Unit>;
  return {{&made::run, &made::pack}};
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
// A program without that line of CMake does not link. Contractions of one to three rows with
// weights [out, in], as linear has them, are generated for a frozen module; in one that is not, the
// library's kernels compute them. A model in an unnamed namespace, or results that it does not
// have, do not compile.
template <model_like Model, fixed_string... Results>
requires(detail::rule_of_generated<Model, Results...>() ==
         rule::none) generated_code<inference<Model, Results...>> generated()
noexcept {
  return detail::code_of<inference<Model, Results...>>();
}
template <model_like Model, fixed_string... Results>
requires(detail::rule_of_generated<Model, Results...>() != rule::none)
    WEFT_REJECT((detail::rule_of_generated<Model, Results...>()), generated(),
                (unnamed,
                 "generated: the model is in an unnamed namespace, and so in this file alone; "
                 "weft_add_model needs it in a header and under a name"),
                (result, "generated: the model has no result of this name"))

// Returns the generated code for the constructors of trainer<Model, Optimizer, Loss>; in CMake,
// weft_add_model(app header.hpp model TRAINING loss).
template <model_like Model, fixed_string Loss = "loss">
requires(detail::rule_of_generated<Model, Loss>() ==
         rule::none) generated_code<training<Model, Loss>> generated_training()
noexcept {
  return detail::code_of<training<Model, Loss>>();
}
template <model_like Model, fixed_string Loss = "loss">
requires(detail::rule_of_generated<Model, Loss>() != rule::none)
    WEFT_REJECT((detail::rule_of_generated<Model, Loss>()), generated_training(),
                (unnamed,
                 "generated_training: the model is in an unnamed namespace, and so in this file "
                 "alone; weft_add_model needs it in a header and under a name"),
                (result, "generated_training: the model has no result with the name of the loss"))

}  // namespace weft
