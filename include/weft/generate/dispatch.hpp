// What a file that weft_add_model makes instantiates: the choice of the SIMD target, once per run.
#pragma once

#include "weft/run/generated.hpp"

namespace weft {

namespace generate {

// Tells the functions of generated files apart.
template <class Unit>
struct of {};

}  // namespace generate

// Of each source there is one generated file. It has the functions that are called here.
template <class Unit>
void detail::made_by_weft_add_model<Unit>::run(const engine& e) noexcept {
  run_on_best_target(generate::of<Unit>(), e);
}
template <class Unit>
void detail::made_by_weft_add_model<Unit>::pack(const engine& e, std::byte* packed) noexcept {
  pack_on_best_target(generate::of<Unit>(), e, packed);
}

}  // namespace weft
