// The work that a compiler evaluates for a model, as one constant expression, since clang limits
// the steps of each: the trace, the passes and the lowering.
#pragma once

#include <weft/weft.hpp>

namespace weft::testing {

template <class Model, std::size_t Passes>
constexpr int evaluate(const pass (&passes)[Passes]) {
  const graph traced = weft::detail::trace_unchecked<Model>();
  graph g = traced;
  g.text_of_another = traced.own_text;  // as that of a graph that is unpacked
  return weft::detail::build_program(run_passes(keep_outputs(g), passes)).count.instructions;
}

}  // namespace weft::testing
