// The work that a compiler evaluates for a model, as one constant expression, since clang limits
// the steps of each: the trace, the passes and the lowering.
#pragma once

#include <weft/weft.hpp>

namespace weft::testing {

template <class Model, std::size_t Passes>
constexpr int evaluate(const pass (&passes)[Passes]) {
  const graph traced = keep_outputs(weft::detail::trace_unchecked<Model>());
  return weft::detail::build_program(run_passes(traced, passes)).count.instructions;
}

}  // namespace weft::testing
