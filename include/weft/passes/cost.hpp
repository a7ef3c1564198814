// The cost of a run as a compile-time constant, with every length at its bound.
#pragma once
#include "weft/header_begin.hpp"

#include <algorithm>
#include <cstdint>

#include "weft/graph/attention.hpp"
#include "weft/graph/fusion_group.hpp"
#include "weft/graph/graph.hpp"
#include "weft/graph/ops.hpp"

namespace weft {

// The cost of operations.
struct operation_cost {
  double flops = 0;  // floating-point operations; exp, tanh and the like count as one
  double bytes = 0;  // read and written, each operand once
};

namespace detail {

// The number of (query, key) pairs within the band; with an offset, which is known only at run
// time, the maximum.
constexpr double pairs_seen(const attention_axes& a, const node& n) {
  const std::int64_t queries = a.query ? static_cast<std::int64_t>(a.query->extent) : 1;
  const auto keys = static_cast<std::int64_t>(a.key->extent);
  const std::int64_t lowest = band_lowest(n), highest = band_highest(n);
  double pairs = 0;
  for (std::int64_t i = 0; i < queries; ++i) {
    const std::int64_t first = lowest <= -i ? 0 : i + lowest;
    const std::int64_t last = highest >= keys - 1 - i ? keys - 1 : i + highest;
    const bool narrow = lowest > -keys && highest < keys;
    const std::int64_t most = narrow ? std::min(keys, highest - lowest + 1) : keys;
    const std::int64_t seen = find_operand(n, role::offset) >= 0 ? most : last - first + 1;
    pairs += static_cast<double>(std::max<std::int64_t>(0, seen));
  }
  return pairs;
}

}  // namespace detail

// That many contractions over, or along, the depth and the values, and a softmax or its adjoint.
// Each bias, bias gradient and dropout adds one flop per (query, key) pair.
constexpr double attention_flops(const graph& g, const node& n, int of_depth, int of_values) {
  const attention_axes a = attention_axes_of(g, n);
  const auto depth = static_cast<double>(a.depth->extent);
  const auto value = static_cast<double>(a.value->extent);
  double each = 2 * (of_depth * depth + of_values * value) + 5;
  for_each_operand(n, [&](const slot& s, int) { each += s.flops_per_pair; });
  for_each_result(n, [&](const slot& s) { each += s.flops_per_pair; });
  return static_cast<double>(a.batch.extent()) * detail::pairs_seen(a, n) * each;
}

namespace detail {

template <op K>
constexpr double flops_of(const graph& g, const node& n) {
  if constexpr (is_leaf(K) || is_view(K))
    return 0;
  else if constexpr (is_elementwise(K))
    return flops_per_element_of(K) * static_cast<double>(n.axes.extent());
  else
    return op_entry<K>::flops(g, n);
}
inline constexpr auto flops = table_of_operations([]<op K>() { return &flops_of<K>; });

}  // namespace detail

// The cost of node i alone. Leaves and views cost nothing; gather reads only what it picks,
// update_rows moves only the rows it writes; a fused node is neither written nor read, and element
// ids are not read; a node in a scan's body counts once per step, a carry's initial value once.
constexpr operation_cost cost_of(const graph& g, int i) {
  const node& n = g.nodes[i];
  if (is_leaf(n.kind) || is_view(n.kind)) return {};
  const int body = n.kind == op::carry ? 0 : loop_of(g, i);
  const double times = body > 0 ? static_cast<double>(g.regions[body - 1].axis->extent) : 1;
  const auto size_of = [](const node& m) {
    return static_cast<double>(m.axes.extent()) * bytes(m.type);
  };
  if (n.kind == op::update_rows) return {0, 2 * times * size_of(g.nodes[n.operand[1]])};
  operation_cost c{detail::flops[n.kind](g, n), n.fused ? 0 : size_of(n)};
  for (int j = 0; j < n.operands; ++j)
    if (const node& from = g.nodes[n.operand[j]]; !from.fused && from.kind != op::element_ids)
      c.bytes += n.kind == op::gather && j == 0 ? size_of(n) : size_of(from);
  for_each_gradient(n, [&](const slot&, int of) { c.bytes += size_of(g.nodes[of]); });
  if (n.kind == op::yield || n.kind == op::scan_collect)  // a value is copied
    c.bytes = 2 * size_of(g.nodes[n.operand[n.operands - 1]]);
  c.flops *= times;
  c.bytes *= times;
  return c;
}

// The cost of the instruction that computes node i, with the fused nodes of its group.
constexpr operation_cost cost_of_instruction(const graph& g, int i) {
  if (g.nodes[i].fused) return {};
  operation_cost sum = cost_of(g, i);
  if (!is_elementwise(g.nodes[i].kind)) return sum;
  const fusion_group c = fusion_group_of(g, i);
  for (int j = 0; j + 1 < c.count; ++j) {
    const operation_cost inner = cost_of(g, c.nodes[j]);
    sum.flops += inner.flops;
    sum.bytes += inner.bytes;
  }
  return sum;
}

// The cost of one run or, with `once`, of the run-invariant nodes computed before the first.
constexpr operation_cost cost_of(const graph& g, bool once = false) {
  operation_cost sum;
  for (int i = 0; i < g.count; ++i) {
    if (g.nodes[i].once != once) continue;
    const operation_cost c = cost_of(g, i);
    sum.flops += c.flops;
    sum.bytes += c.bytes;
  }
  return sum;
}

}  // namespace weft
#include "weft/header_end.hpp"
