// What a file that weft_add_model makes instantiates: the choice of the SIMD target, once per run.
#pragma once

#include "weft/run/generated.hpp"

namespace weft {

namespace generate {

// Tells the functions of generated files apart.
template <class Source>
struct of {};

}  // namespace generate

// Of each source there is one generated file. It has the functions that are called here.
template <class Source>
void detail::made_by_weft_add_model<Source>::run(const engine& e) noexcept {
  run_on_best_target(generate::of<Source>(), e);
}
template <class Source>
void detail::made_by_weft_add_model<Source>::pack(const engine& e, std::byte* packed) noexcept {
  pack_on_best_target(generate::of<Source>(), e, packed);
}

}  // namespace weft
