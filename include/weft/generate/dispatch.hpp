// Instantiated by the files that weft_add_model generates: chooses the SIMD target, once per run.
#pragma once

#include "weft/run/generated.hpp"

namespace weft {

namespace generate {

// Tag that selects the functions of a generated file.
template <class Unit>
struct tag {};

}  // namespace generate

// Each unit has one generated file, which defines the functions called here.
template <class Unit>
void detail::made_by_weft_add_model<Unit>::run(const engine& e) noexcept {
  run_on_best_target(generate::tag<Unit>(), e);
}
template <class Unit>
void detail::made_by_weft_add_model<Unit>::pack(const engine& e, std::byte* packed) noexcept {
  pack_on_best_target(generate::tag<Unit>(), e, packed);
}

}  // namespace weft
