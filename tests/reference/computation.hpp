// What the reference of one operation computes with.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "reference/attention.hpp"
#include "reference/lengths.hpp"
#include "reference/tensors.hpp"
#include "support/operands.hpp"
#include "weft/graph/attention.hpp"

namespace weft::reference::detail {

// A graph that is evaluated, and the values of its nodes so far.
struct evaluation_state {
  const graph& g;
  const lengths& of;
  const bindings& given;
  const std::vector<values>& all;
  std::size_t step = 0;  // index of a scan's current step along its axis

  layout dense(const axis_list& list) const { return {list, of}; }
  const axis_list& axes_of(const node& n, int operand) const {
    return g.nodes[testing::operand_of(n, operand)].axes;
  }
  layout layout_of(const node& n, int operand) const {
    return operand < testing::operand_count(n) ? dense(axes_of(n, operand)) : layout();
  }
  // An operand's elements; a single 0 if the operation does not have it.
  const double* data(const node& n, int operand) const {
    static constexpr double none = 0;
    return operand < testing::operand_count(n)
               ? all[static_cast<std::size_t>(testing::operand_of(n, operand))].data.data()
               : &none;
  }
  attention_values attention_of(const node& n) const {
    const auto data_of = [&](int id) { return all[static_cast<std::size_t>(id)].data.data(); };
    return attention(g, n, of, data_of, given.random);
  }

  values given_values(const leaf& l, const bindings::map& from, std::size_t size) const {
    const std::string name(g.name(l.name));
    const auto found = from.find(name);
    if (found == from.end()) throw std::invalid_argument(name + " is not given");
    if (found->second.size() != size)
      throw std::invalid_argument(name + " has " + std::to_string(found->second.size()) +
                                  " elements, not " + std::to_string(size));
    return {found->second};
  }
};

// A node n, its result v, filled with zeros, and its first three operands.
struct computation : evaluation_state {
  computation(const evaluation_state& s, const node& of_node, values& to)
      : evaluation_state(s), n(of_node), v(to), result(dense(n.axes)) {
    v.data.assign(result.size(), 0);
    r = v.data.data();
  }

  const node& n;
  values& v;
  layout result;
  double* r;
  const double *x = data(n, 0), *y = data(n, 1), *z = data(n, 2);
  layout of_x = layout_of(n, 0), of_y = layout_of(n, 1), of_z = layout_of(n, 2);
  axes own = to_axes(n.axes);
};

}  // namespace weft::reference::detail
