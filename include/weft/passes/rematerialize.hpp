// The body of a scan once more, for its adjoint: what the forward scan computed, step by step in
// the other direction.
#pragma once

#include <stdexcept>

#include "weft/graph/graph.hpp"

namespace weft {

// Reached while compiling, this function's name is what the compiler prints.
inline void a_scans_adjoint_keeps_a_tensor_of_8_axes() {
  throw std::length_error("differentiate: a scan's adjoint keeps a tensor of 8 axes");
}

namespace detail {

class forward_replay {
 public:
  explicit constexpr forward_replay(graph& g) : g_(g) {}

  // From now on, until the end, nodes are of the adjoint of a forward region.
  constexpr void begin(int forward) {
    region r = g_.regions[forward - 1];
    r.backwards = !r.backwards;
    region_ = g_.add_region(r);
  }
  constexpr void end() { region_ = 0; }
  constexpr bool open() const { return region_ != 0; }

  // A forward value in the adjoint's step. What is cheap is computed again from what is not.
  constexpr int value(int id) {
    node n = g_.nodes[id];
    if (n.region == 0) return id;
    if (value_[id] > 0) return value_[id] - 1;
    int result = 0;
    if (n.kind == op::scan_slice) {
      n.region = region_;
      result = g_.emit(n);
    } else if (is_view(n.kind) || is_rematerializable(n.kind) || n.kind == op::attention) {
      for (int j = 0; j < n.operands; ++j) n.operand[j] = value(n.operand[j]);
      result = g_.emit(n);
    } else {
      axis_list named{};
      named.push(steps());
      result = element(stack(id), named);
    }
    value_[id] = result + 1;
    return result;
  }
  // A forward value of all steps, along the axis of steps.
  constexpr int values(int id) {
    node n = g_.nodes[id];
    if (n.kind != op::scan_slice && n.kind != op::rename) return stack(id);
    node const whole = n;
    axis_list const before = g_.nodes[n.operand[0]].axes;
    node renamed = make_node(op::rename);
    renamed.type = n.type;
    renamed.operands = 1;
    if (whole.kind == op::scan_slice) {
      renamed.operand[0] = whole.operand[0];
      for (int a = 0; a < before.count; ++a)
        renamed.axes.push(before.at[a] == whole.named.at[0] ? steps() : before.at[a]);
    } else {
      renamed.operand[0] = values(whole.operand[0]);
      axis_list const all = g_.nodes[renamed.operand[0]].axes;
      for (int a = 0; a < all.count; ++a)
        renamed.axes.push(all.at[a] == steps() ? steps() : whole.axes.at[before.find(all.at[a])]);
    }
    return g_.emit(renamed);
  }

  // The values of a node of either body, along the axis of steps.
  constexpr int stack(int id) {
    node const& n = g_.nodes[id];
    if (n.axes.count == max_rank) a_scans_adjoint_keeps_a_tensor_of_8_axes();
    node s = make_node(op::scan_collect);
    s.type = n.type;
    s.named.push(steps());
    s.axes.push(steps());
    for (int a = 0; a < n.axes.count; ++a) s.axes.push(n.axes.at[a]);
    s.operands = 1;
    s.operand[0] = id;
    return g_.emit(s);
  }
  // Of a node outside, in the adjoint's step.
  constexpr int element(int id, const axis_list& named) {
    node e = make_node(op::scan_slice);
    e.type = g_.nodes[id].type;
    e.region = region_;
    e.named = named;
    for (int a = 0; a < g_.nodes[id].axes.count; ++a)
      if (g_.nodes[id].axes.at[a] != named.at[0]) e.axes.push(g_.nodes[id].axes.at[a]);
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
    return is_elementwise(o) && !(o >= op::exp && o <= op::gelu_tanh);
  }
  constexpr const axis_info* steps() const { return g_.regions[region_ - 1].steps; }

  graph& g_;
  std::int16_t region_ = 0;  // the adjoint's
  int value_[max_nodes]{};   // in the adjoint's step: the node and one
};

}  // namespace detail

}  // namespace weft
