// Forward values of a scan inside its adjoint, which steps in the other direction: rematerialized,
// or collected by the forward scan.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/graph.hpp"

namespace weft::detail {

class forward_replay {
 public:
  explicit constexpr forward_replay(graph& g) : g_(g) {}

  // Until end(), nodes are emitted into the adjoint of region `forward`.
  constexpr void begin(int forward) {
    region r = g_.regions[forward - 1];
    r.backwards = !r.backwards;
    region_ = g_.add_region(r);
  }
  constexpr void end() { region_ = 0; }
  constexpr bool open() const { return region_ != 0; }

  // Forward value id in the adjoint's step. Views, cheap operations and attention are
  // rematerialized; the others are collected by the forward scan.
  constexpr int value(int id) {
    node n = g_.nodes[id];
    if (n.region == 0) return id;
    if (value_[id] > 0) return value_[id] - 1;
    int result = 0;
    if (n.kind == op::scan_slice) {
      n.region = region_;
      result = g_.emit(n);
    } else if (is_view(n.kind) || is_rematerializable(n.kind) || is_attention(n.kind)) {
      for (int j = 0; j < n.operands; ++j) n.operand[j] = value(n.operand[j]);
      result = g_.emit(n);
    } else {
      result = element(stack(id), steps());
    }
    value_[id] = result + 1;
    return result;
  }
  // Forward value id at all steps, with the steps axis; slices and their renames need no copy.
  constexpr int values(int id) {
    node n = g_.nodes[id];
    if (n.kind != op::scan_slice && n.kind != op::rename) return stack(id);
    const node whole = n;
    const axis_list before = g_.nodes[n.operand[0]].axes;
    node renamed = make_node(op::rename);
    renamed.type = n.type;
    renamed.operands = 1;
    if (whole.kind == op::scan_slice) {
      renamed.operand[0] = whole.operand[0];
      for (int a = 0; a < before.count; ++a)
        renamed.axes.push(before.at[a] == scanned_axis(whole) ? steps() : before.at[a]);
    } else {
      renamed.operand[0] = values(whole.operand[0]);
      const axis_list all = g_.nodes[renamed.operand[0]].axes;
      for (int a = 0; a < all.count; ++a)
        renamed.axes.push(all.at[a] == steps() ? steps() : whole.axes.at[before.find(all.at[a])]);
    }
    return g_.emit(renamed);
  }

  // Collects the values of a node of either body along the steps axis, outermost.
  constexpr int stack(int id) {
    const node& n = g_.nodes[id];
    if (n.axes.count == max_rank) {
      g_.refuse(model_fault::kept_axes);
      return id;
    }
    node s = make_node(op::scan_collect, {1, {steps()}});
    s.type = n.type;
    s.axes.push(steps());
    for (int a = 0; a < n.axes.count; ++a) s.axes.push(n.axes.at[a]);
    s.operands = 1;
    s.operand[0] = id;
    return g_.emit(s);
  }
  // The slice of outer node id at the adjoint's current step.
  constexpr int element(int id, const axis_info* scanned) {
    node e = make_node(op::scan_slice, {1, {scanned}});
    e.type = g_.nodes[id].type;
    e.region = region_;
    for (int a = 0; a < g_.nodes[id].axes.count; ++a)
      if (g_.nodes[id].axes.at[a] != scanned) e.axes.push(g_.nodes[id].axes.at[a]);
    e.operands = 1;
    e.operand[0] = id;
    return g_.emit(e);
  }
  constexpr int carry(const axis_list& axes, int initial) {
    node c = make_node(op::carry);
    c.region = region_;
    c.axes = axes;
    c.operands = 1;
    c.operand[0] = initial;
    return g_.emit(c);
  }
  constexpr void end_step(int carry, int value) {
    node n = make_node(op::yield);
    n.axes = g_.nodes[carry].axes;
    n.operands = 2;
    n.operand[0] = carry;
    n.operand[1] = value;
    g_.emit(n);
  }

 private:
  static constexpr bool is_rematerializable(op o) {
    return is_elementwise(o) && !has_flag(o, op_flag::expensive);
  }
  constexpr const axis_info* steps() const { return g_.regions[region_ - 1].steps; }

  graph& g_;
  std::int16_t region_ = 0;  // the adjoint's
  int value_[max_nodes]{};   // in the adjoint's step: id + 1; 0: none yet
};

}  // namespace weft::detail
#include "weft/header_end.hpp"
