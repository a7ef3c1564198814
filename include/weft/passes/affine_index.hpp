// Integers that are affine functions of the positions along two axes.
#pragma once
#include "weft/header_begin.hpp"

#include <cstdint>
#include <limits>

#include "weft/graph/graph.hpp"

namespace weft::detail {

// An int32 as an affine function of positions: keys * (key position) + queries * (query position) +
// constant + times * (the node `other`, which has neither of the two axes).
struct affine_index {
  bool known;
  std::int64_t keys, queries, constant;
  int times, other;

  static constexpr affine_index sum(const affine_index& a, const affine_index& b, int sign) {
    if (!a.known || !b.known || (a.times != 0 && b.times != 0)) return {};
    return {true,
            a.keys + sign * b.keys,
            a.queries + sign * b.queries,
            a.constant + sign * b.constant,
            a.times + sign * b.times,
            a.times != 0 ? a.other : b.other};
  }
  static constexpr affine_index difference(const affine_index& a, const affine_index& b) {
    return sum(a, b, -1);
  }
};

// The axes of an affine index; there may be no query axis.
struct affine_axes {
  const axis_info *key, *query;
};

// Whether p fits int32 at all positions; otherwise int32 arithmetic would wrap around.
constexpr bool is_int32(const affine_index& p, const affine_axes& axes) {
  using limits = std::numeric_limits<std::int32_t>;
  std::int64_t low = p.constant, high = p.constant;
  const auto extend = [&](std::int64_t times, const axis_info* axis) {
    const std::int64_t last = axis ? times * (static_cast<std::int64_t>(axis->extent) - 1) : 0;
    (last < 0 ? low : high) += last;
  };
  extend(p.keys, axes.key);
  extend(p.queries, axes.query);
  return low >= limits::min() && high <= limits::max();
}

// Node id of g as an affine index; unknown if it is none.
constexpr affine_index as_affine(const graph& g, int id, const affine_axes& axes) {
  const node& n = g.nodes[id];
  if (n.type != dtype::int32) return {};
  if (n.kind == op::constant)
    return {true, 0, 0, static_cast<std::int64_t>(constant_value(n)), 0, -1};
  const bool of_queries = axes.query && n.axes.contains(axes.query);
  if (!n.axes.contains(axes.key) && !of_queries) return {true, 0, 0, 0, 1, id};
  if (n.kind == op::positions) return {true, !of_queries, of_queries, 0, 0, -1};
  if (n.kind != op::add && n.kind != op::subtract) return {};
  const affine_index p =
      affine_index::sum(as_affine(g, n.operand[0], axes), as_affine(g, n.operand[1], axes),
                        n.kind == op::add ? 1 : -1);
  return p.times != 0 || is_int32(p, axes) ? p : affine_index{};
}

}  // namespace weft::detail
#include "weft/header_end.hpp"
