// The semantics of a graph, as plainly as possible: an interpreter in double precision, at run
// time, one element at a time. The kernels and passes are tested against it; nothing else uses it.
// Integers and booleans are held as doubles.
#pragma once

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "reference/lengths.hpp"
#include "reference/tensors.hpp"

namespace weft::reference {

// Called with the number of a node that has been computed, and the values so far.
using observer = std::function<void(int, const std::vector<values>&)>;

// The values of every node of g, in the order of the nodes; those in the body of a scan, which
// eliminate_dead_code leaves contiguous, are of its last step. `seen`, if given, is called after
// each. Throws std::invalid_argument if a binding is missing or has another size.
std::vector<values> evaluate(const graph& g, const lengths& given, const bindings& b,
                             const observer& seen = {});

namespace detail {

inline const values& output(const graph& g, const std::vector<values>& all, output_kind kind,
                            std::string_view name) {
  for (int i = 0; i < g.output_count; ++i)
    if (g.outputs[i].kind == kind && g.name(g.outputs[i].name) == name)
      return all[static_cast<std::size_t>(g.outputs[i].node)];
  throw std::invalid_argument("no output is called " + std::string(name));
}

}  // namespace detail

// From the values that evaluate returned: a result of the model, and the gradient for a parameter.
// Throw std::invalid_argument if there is none of this name.
inline const values& result(const graph& g, const std::vector<values>& all,
                            std::string_view name = "result") {
  return detail::output(g, all, output_kind::result, name);
}
inline const values& gradient(const graph& g, const std::vector<values>& all,
                              std::string_view parameter) {
  return detail::output(g, all, output_kind::gradient, parameter);
}
// The new value of a state.
inline const values& updated(const graph& g, const std::vector<values>& all,
                             std::string_view state) {
  return detail::output(g, all, output_kind::update, state);
}

// A tensor in the layout of a stored parameter: every axis at its bound, with zeros beyond the
// lengths of the run. `of` is what complete returns.
inline values at_bound(const values& v, const axis_list& axes, const lengths& of) {
  const detail::layout stored(axes, [](const auto* axis) { return axis->extent; });
  values all{std::vector<double>(stored.size())};
  detail::for_each(detail::to_axes(axes), of, {stored, detail::layout(axes, of)},
                   [&](auto i, auto a) { all.data[i] = v.data[a]; });
  return all;
}

}  // namespace weft::reference
