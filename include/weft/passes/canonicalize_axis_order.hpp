// Canonical axis order: derived from what is computed, not from how the formula was written.
#pragma once
#include "weft/header_begin.hpp"

#include <algorithm>

#include "weft/graph/graph.hpp"

namespace weft {

namespace detail {

class axis_order_canonicalizer {
 public:
  explicit constexpr axis_order_canonicalizer(graph& g) : g_(g) {}

  constexpr void run() {
    for (int i = 0; i < g_.count; ++i) {
      node& n = g_.nodes[i];
      origin_[i] = origin_of(n);
      const axis_list order = order_of(n);
      if (order.count != n.axes.count || order == n.axes) continue;
      written_[i] = n.axes;
      n.axes = order;
    }
    for (int i = 0; i < g_.output_count; ++i) {
      output& o = g_.outputs[i];
      if (written_[o.node].count == 0) continue;
      node copy = make_node(op::copy);
      copy.type = g_.nodes[o.node].type;
      copy.axes = written_[o.node];
      copy.operands = 1;
      copy.operand[0] = o.node;
      o.node = g_.emit(copy);
    }
  }

 private:
  // The most variable thing that a value depends on; in increasing order.
  enum class origin : std::uint8_t { constants, parameters, data };

  constexpr origin origin_of(const node& n) const {
    if (n.kind == op::input || n.kind == op::state || n.region != 0) return origin::data;
    if (n.kind == op::parameter) return origin::parameters;
    auto from = origin::constants;
    for (int j = 0; j < n.operands; ++j) from = std::max(from, origin_[n.operand[j]]);
    return from;
  }

  constexpr const axis_list& axes(const node& n, int operand) const {
    return g_.nodes[n.operand[operand]].axes;
  }

  // The canonical order of n's axes; empty where n keeps its own.
  constexpr axis_list order_of(const node& n) const {
    const axis_order order = info(n.kind).order;
    // Those that rename or replace axes have no choice.
    if (order == axis_order::through_view) return order_through_view(n);
    if (order == axis_order::through_axis_change) return order_through_axis_change(n, 0);
    if (order == axis_order::through_concatenation)
      return order_through_axis_change(n, whole_operand(n));
    if (order == axis_order::like_indices) return order_like(n, 1);
    if (n.region != 0) return {};
    if (order == axis_order::like_left_matrix) return order_like(n, left_matrix(n));
    if (order == axis_order::like_widest) return order_like(n, whole_operand(n));
    return order == axis_order::like_first ? order_like(n, 0) : axis_list{};
  }

  constexpr bool is_data(const node& n, int operand) const {
    return origin_[n.operand[operand]] == origin::data;
  }

  // The lhs of a contraction: the operand whose innermost axis is contracted (row-major [m, k]). If
  // both are such or neither is: the first that is data, else operand 0.
  constexpr int left_matrix(const node& n) const {
    int rank[2]{};
    for (int j = 0; j < 2; ++j) {
      const axis_list& own = axes(n, j);
      const bool contracts_rows = own.count > 0 && !n.axes.contains(own.at[own.count - 1]);
      rank[j] = 2 * contracts_rows + is_data(n, j);
    }
    return rank[1] > rank[0] ? 1 : 0;
  }

  // The operand that has all axes of the result: of several the first that is data, else the first
  // made of parameters. If there is none, the only operand that is data; -1: not that either.
  constexpr int whole_operand(const node& n) const {
    int best = -1, data = -1, data_count = 0;
    for (int j = 0; j < n.operands; ++j) {
      if (is_data(n, j)) data = j, ++data_count;
      if (axes(n, j).count != n.axes.count) continue;
      if (best < 0 || origin_[n.operand[j]] > origin_[n.operand[best]]) best = j;
    }
    return best < 0 && data_count == 1 ? data : best;
  }

  // The node's axes: the leader's in its order, then the other operands', then those left.
  constexpr axis_list order_like(const node& n, int leader) const {
    axis_list order{};
    if (leader < 0) return order;
    const auto take = [&](const axis_list& from) {
      for (int a = 0; a < from.count; ++a)
        if (n.axes.contains(from.at[a]) && !order.contains(from.at[a])) order.push(from.at[a]);
    };
    take(axes(n, leader));
    for (int j = 0; j < n.operands; ++j) take(axes(n, j));
    take(n.axes);
    return order;
  }

  // The node's axes, each with the operand's axis that it corresponded to before reordering.
  constexpr axis_list order_through_view(const node& n) const {
    const axis_list& now = axes(n, 0);
    const axis_list& written = written_[n.operand[0]];
    const axis_list& before = written.count > 0 ? written : now;
    axis_list order{};
    for (int a = 0; a < now.count; ++a) order.push(n.axes.at[before.find(now.at[a])]);
    return order;
  }

  // The operand's axis order, with an axis that the node lacks replaced by what it became.
  constexpr axis_list order_through_axis_change(const node& n, int operand) const {
    const axis_list& from = axes(n, operand);
    axis_list order{};
    for (int a = 0; a < from.count; ++a) {
      if (n.kind == op::unfold && from.at[a] == windowed_axis(n)) {
        order.push(axis_of_windows(n));
        order.push(axis_in_window(n));
      } else if (n.axes.contains(from.at[a])) {
        order.push(from.at[a]);
      } else if (n.kind != op::merge || from.at[a] == merged_axes(n).at[0]) {
        for (int b = 0; b < n.axes.count; ++b)
          if (!from.contains(n.axes.at[b])) order.push(n.axes.at[b]);
      }
    }
    return order;
  }

  graph& g_;
  axis_list written_[max_nodes]{};  // a reordered node's axes as traced; else empty
  origin origin_[max_nodes]{};
};

}  // namespace detail

// Canonicalizes axis order: a result takes the order of its data operand, so that dot<Embed>(w, x)
// lowers as dot<Embed>(x, w) and table + x as x + table, and rows of x stay contiguous however the
// formula was written. A result is ordered like an operand that has all of its axes; a
// contraction's has the axes of lhs, whichever operand that is, then those of rhs. Outputs keep
// their declared order, through a copy where it differs.
constexpr graph canonicalize_axis_order(graph g) {
  detail::axis_order_canonicalizer(g).run();
  return g;
}

}  // namespace weft
#include "weft/header_end.hpp"
