// Models whose code weft_add_model (CMake) generates.
#pragma once

#include "weft/lower/source.hpp"
#include "weft/run/engine.hpp"

namespace weft {

namespace detail {

// Carries out the steps of what Source lowers to. Defined by the file that weft_add_model makes.
template <class Source>
void run_generated(const engine& e) noexcept;
// Packs the parameters for them.
template <class Source>
void pack_for_generated(const engine& e, std::byte* packed) noexcept;

}  // namespace detail

// The generated code of a graph; by default there is none.
template <class Source>
struct generated_code {
  program_code code;
};

namespace detail {

template <class Source>
constexpr generated_code<Source> code_of() noexcept {
  return {{&run_generated<Source>, &pack_for_generated<Source>}};
}

}  // namespace detail

// For the constructors of module<Model, Results...>, with the same results:
//
//   weft_add_model(app encoder.hpp encoder)                       # CMake
//   weft::module<encoder> net(weft::generated<encoder>());
//
// A program without that line of CMake does not link.
template <a_model Model, text... Results>
generated_code<inference<Model, Results...>> generated() noexcept {
  return detail::code_of<inference<Model, Results...>>();
}

// For those of trainer<Model, Optimizer, Loss>.
template <a_model Model, text Loss = "loss">
generated_code<training<Model, Loss>> generated_training() noexcept {
  return detail::code_of<training<Model, Loss>>();
}

}  // namespace weft
