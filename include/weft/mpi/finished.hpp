// Which instruction of a training program is the last to touch the gradient of each parameter.
// Internal: no stability promise.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <type_traits>

#include "weft/graph/static_array.hpp"
#include "weft/lower/program.hpp"

namespace weft::detail {

// For each parameter, the index of the instruction after whose execution its gradient stays as it
// is. For one in a loop, which is executed again, that is the first instruction after the loop;
// where there is none, the number of instructions.
template <class Tables>
constexpr auto finished_by(const Tables& t) {
  static_array<int, std::remove_cvref_t<decltype(t.parameters)>::size()> last;
  const auto touch = [&](const operand_ref& o, int at) {
    if (o.where != block::gradients) return;
    for (std::size_t i = 0; i < t.parameters.size(); ++i) {
      const parameter_ref& p = t.parameters[i];
      if (o.offset >= p.offset && o.offset < p.offset + p.size * sizeof(float)) last.at[i] = at;
    }
  };
  for (int i = 0; i < static_cast<int>(t.instructions.size()); ++i) {
    const instruction& s = t.instructions[static_cast<std::size_t>(i)];
    int at = i;
    for (const loop_ref& l : t.loops)
      if (i >= l.first && i < l.last) at = l.last;
    for (int o = 0; o < s.operands; ++o) touch(operands_of(t, s)[o], at);
  }
  return last;
}

}  // namespace weft::detail
#include "weft/header_end.hpp"
