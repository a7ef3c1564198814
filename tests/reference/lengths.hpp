// Axis lengths inferred from those that a run is given.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include "reference/tensors.hpp"

namespace weft::reference {

namespace detail {

// Applies the length rules of the nodes whose operands' lengths are known. Returns an axis whose
// unknown length another node needs; nullptr if there is none.
inline const axis_info* follow_rules(const graph& g, lengths& of) {
  const axis_info* awaited = nullptr;
  const auto waits = [&](const axis_info* source) {
    const bool unknown = source->bounded && !of.is_set(source);
    if (unknown && awaited == nullptr) awaited = source;
    return unknown;
  };
  for (int i = 0; i < g.count; ++i) {
    const node& n = g.nodes[i];
    if (n.kind == op::split && split_axes(n).count > 0) {
      std::size_t inner = 1;
      for (int j = 1; j < split_axes(n).count; ++j) inner *= of(split_axes(n).at[j]);
      if (waits(split_axis(g, n))) continue;
      const std::size_t whole = of(split_axis(g, n));
      if (whole % inner != 0) throw std::invalid_argument("split: the length is not a multiple");
      of.set(split_axes(n).at[0], whole / inner);
    } else if (n.kind == op::merge && merged_axes(n).count > 0) {
      const axis_list& parts = merged_axes(n);
      if (!waits(parts.at[0])) of.set(merged_axis(g, n), product(of, parts));
    } else if (n.kind == op::concatenate) {
      std::size_t sum = 0;
      bool known = true;
      const axis_list& parts = concatenated_axes(n);
      for (int j = 0; j < parts.count; ++j) {
        known = !waits(parts.at[j]) && known;
        sum += of(parts.at[j]);
      }
      if (known) of.set(whole_axis(g, n), sum);
    } else if (n.kind == op::unfold) {
      if (waits(windowed_axis(n))) continue;
      const auto stride = static_cast<std::size_t>(window_stride(n));
      const std::size_t reach = static_cast<std::size_t>(window_dilation(n)) *
                                (of(axis_in_window(n)) - 1);  // beyond a window's start
      const std::size_t whole = of(windowed_axis(n));
      of.set(axis_of_windows(n), whole > reach ? (whole - reach - 1) / stride + 1 : 0);
    } else if (n.kind == op::slice || n.kind == op::pad) {
      const auto* const part = part_axis(g, n);
      const auto* const sliced = sliced_axis(n);
      if (waits(n.kind == op::pad ? part : sliced)) continue;
      if (n.kind == op::pad && sliced->bounded && !of.is_set(sliced))
        of.set(sliced, of(part) + sliced->extent - part->extent);
      const std::size_t whole = of(sliced);
      const std::size_t start = detail::start(of, n);
      if (n.kind == op::slice && part->bounded && !of.is_set(part) && start <= whole)
        of.set(part, whole - start);
      if (start + of(part) > whole)
        throw std::invalid_argument(std::string(part->name) + " ends beyond " +
                                    std::string(sliced->name));
    }
  }
  return awaited;
}

}  // namespace detail

// `given`, and the lengths inferred from it: those of the axes made by split, merge, slice, pad,
// unfold and concatenate, of which one may need what a later node determines. Axes that nothing
// determines are at their bound.
inline lengths complete(const graph& g, lengths given) {
  const axis_info* before = nullptr;
  while (const axis_info* const awaited = detail::follow_rules(g, given)) {
    if (awaited == before) given.set(awaited, awaited->extent);
    before = awaited;
  }
  return given;
}

}  // namespace weft::reference
