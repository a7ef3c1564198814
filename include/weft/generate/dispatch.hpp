// Instantiated by the files that weft_add_model generates: chooses the SIMD target.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/kernels/targets.hpp"
#include "weft/run/generated.hpp"

namespace weft {

namespace generate {

// Tag that selects the functions of a generated file.
template <class Unit>
struct tag {};

}  // namespace generate

// Each unit has one generated file, which defines the function called here.
template <class Unit>
generated_steps detail::made_by_weft_add_model<Unit>::steps() noexcept {
  return steps_of_best_target(generate::tag<Unit>());
}

}  // namespace weft
#include "weft/header_end.hpp"
