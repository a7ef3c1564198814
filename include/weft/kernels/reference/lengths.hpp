// The lengths that follow from those that a run is given.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include "weft/kernels/reference/tensors.hpp"

namespace weft::reference {

// `given`, and what follows from it: the lengths of the axes that split, merge, slice, place,
// windows and concatenate make.
inline lengths complete(const graph& g, lengths given) {
  lengths& of = given;
  for (int i = 0; i < g.count; ++i) {
    node const& n = g.nodes[i];
    if (n.kind == op::split) {
      std::size_t inner = 1;
      for (int j = 1; j < n.named.count; ++j) inner *= of(n.named.at[j]);
      std::size_t const whole = of(detail::split_axis(g, n));
      if (whole % inner != 0) throw std::invalid_argument("split: the length is not a multiple");
      of.set(n.named.at[0], whole / inner);
    } else if (n.kind == op::merge) {
      of.set(detail::merged_axis(g, n), detail::product(of, n.named));
    } else if (n.kind == op::concatenate) {
      std::size_t sum = 0;
      for (int j = 0; j < n.named.count; ++j) sum += of(n.named.at[j]);
      of.set(detail::whole_axis(g, n), sum);
    } else if (n.kind == op::windows) {
      auto const stride = static_cast<std::size_t>(n.lowest);
      std::size_t const reach =
          static_cast<std::size_t>(n.highest) * (of(n.named.at[2]) - 1);  // beyond a window's first
      std::size_t const whole = of(n.named.at[0]);
      of.set(n.named.at[1], whole > reach ? (whole - reach - 1) / stride + 1 : 0);
    } else if (n.kind == op::slice || n.kind == op::place) {
      auto const* const part = detail::part_axis(g, n);
      if (n.kind == op::place && n.named.at[0]->bounded && !of.is_set(n.named.at[0]))
        of.set(n.named.at[0], of(part) + n.named.at[0]->extent - part->extent);
      std::size_t const whole = of(n.named.at[0]);
      std::size_t const start = detail::start(of, n);
      if (n.kind == op::slice && part->bounded && !of.is_set(part) && start <= whole)
        of.set(part, whole - start);
      if (start + of(part) > whole)
        throw std::invalid_argument(std::string(part->name) + " ends beyond " +
                                    std::string(n.named.at[0]->name));
    }
  }
  return given;
}

}  // namespace weft::reference
