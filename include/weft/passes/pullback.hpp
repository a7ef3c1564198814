// The gradients that a differentiation has collected so far, and what an operation's adjoint rule
// sees: its node, the result's gradient, and how to emit what its operands' gradients are made of.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/attention.hpp"
#include "weft/graph/graph.hpp"
#include "weft/passes/rematerialize.hpp"

namespace weft::detail {

class gradient_graph {
 public:
  explicit constexpr gradient_graph(graph& g) : g_(g), body_(g) {
    for (bool again = true; again;) {
      again = false;
      for (int i = 0; i < g.count; ++i) {
        const node& n = g_.nodes[i];
        depends_[i] = depends_[i] || (n.kind == op::parameter && !g_.parameters[n.leaf].held);
        for (int j = 0; j < n.operands; ++j) depends_[i] = depends_[i] || depends_[n.operand[j]];
        depends_[i] = depends_[i] && n.type == dtype::float32;
        if (n.kind != op::yield || !depends_[i] || depends_[n.operand[0]]) continue;
        depends_[n.operand[0]] = again = true;
      }
    }
  }

  // The gradient for node i; zeros of its shape where the loss does not depend on it.
  constexpr int gradient(int i) {
    if (gradient_[i] > 0) return gradient_[i] - 1;
    return elementwise(op::copy, g_.nodes[i].axes, constant(0));
  }

 protected:
  friend class pullback;

  // ---- appending nodes

  constexpr int constant(double value) {
    node n = make_node(op::constant);
    constant_value(n) = value;
    return g_.emit(n);
  }

  template <class... Ids>
  constexpr int emit(node n, const axis_list& axes, Ids... operands) {
    n.axes = axes;
    n.operands = 0;
    ((n.operand[n.operands++] = operands), ...);
    return g_.emit(n);
  }
  template <class... Ids>
  constexpr int elementwise(op kind, const axis_list& axes, Ids... operands) {
    node n = make_node(kind);
    if (is_comparison(kind)) n.type = dtype::boolean;
    return emit(n, axes, operands...);
  }

  // Node id summed over the axes that `axes` lacks.
  constexpr int sum_to(const axis_list& axes, int id) {
    if (g_.nodes[id].axes == axes) return id;
    node n = make_node(op::sum);
    for (int i = 0; i < g_.nodes[id].axes.count; ++i)
      if (!axes.contains(g_.nodes[id].axes.at[i])) reduced_axes(n).push(g_.nodes[id].axes.at[i]);
    return emit(n, axes, id);
  }

  // Adds `id` to the gradient for node `to`, summed over the axes along which `to` was broadcast.
  constexpr void accumulate(int to, int id) {
    if (body_.open() && g_.nodes[to].region == 0) return capture(to, id);
    const int g = sum_to(g_.nodes[to].axes, id);
    gradient_[to] =
        1 + (gradient_[to] > 0 ? elementwise(op::add, g_.nodes[to].axes, gradient_[to] - 1, g) : g);
  }

  // Forward value id where gradients are being emitted: inside a scan's adjoint, its replay.
  constexpr int value(int id) { return body_.open() ? body_.value(id) : id; }

  // ---- scans

  // A contribution to the gradient for a node outside a body: `a`, or the contraction of a and b.
  // It is emitted after the body, whose values it reads.
  struct deferred_term {
    int to, a, b;  // b: id + 1; 0: none
  };
  // The sum of one step's gradients for an outer node; in the end the carry that accumulates it.
  struct closure_gradient {
    int to, sum;
  };
  constexpr void defer(const deferred_term& l) { deferred_[deferred_count_++] = l; }
  // A step's gradient for a node outside. If it has to be reduced within the step too, all steps
  // are collected and reduced once, after the scan; else a carry of the adjoint accumulates it.
  constexpr void capture(int to, int id) {
    if (!(g_.nodes[id].axes == g_.nodes[to].axes) && g_.nodes[id].axes.count < max_rank)
      return defer({to, body_.stack(id), 0});
    const int g = sum_to(g_.nodes[to].axes, id);
    for (int i = 0; i < captured_count_; ++i)
      if (captured_[i].to == to) {
        captured_[i].sum = elementwise(op::add, g_.nodes[to].axes, captured_[i].sum, g);
        return;
      }
    captured_[captured_count_++] = {to, g};
  }

  // The gradient for `to`, an operand from outside the scan that is contracted with `other`, as one
  // contraction over all steps instead of a small one in each. False where this does not apply.
  constexpr bool defer_contraction(int to, int other, int g) {
    if (!body_.open() || g_.nodes[to].region != 0) return false;
    if (g_.nodes[other].axes.count == max_rank || g_.nodes[g].axes.count == max_rank) return false;
    const int values = body_.values(other);
    defer({to, body_.stack(g), values + 1});
    return true;
  }

  graph& g_;
  forward_replay body_;
  bool depends_[max_nodes]{};
  int gradient_[max_nodes]{};  // id + 1; 0: none
  int final_[max_nodes]{};     // likewise, for a carry's value after the last step
  closure_gradient captured_[max_nodes]{};
  int captured_count_ = 0;
  deferred_term deferred_[max_nodes]{};
  int deferred_count_ = 0;
};

class pullback {
 public:
  constexpr pullback(gradient_graph& d, int id)
      : d_(d), id_(id), gradient_(d.gradient_[id] - 1), n_(d.g_.nodes[id]) {}

  constexpr const axis_list& axes() const { return n_.axes; }
  constexpr const axis_list& axes_of(int j) const { return d_.g_.nodes[n_.operand[j]].axes; }
  constexpr int gradient() const { return gradient_; }
  // Forward values: of operand j, and of the result.
  constexpr int x(int j) { return d_.value(n_.operand[j]); }
  constexpr int result() { return d_.value(id_); }

  // Whether the loss's gradient for operand j is needed.
  constexpr bool wants(int j) const { return d_.depends_[n_.operand[j]]; }
  // Adds node `id` to it, summed over the axes along which the operand was broadcast.
  constexpr void add(int j, int id) { d_.accumulate(n_.operand[j], id); }

  constexpr int constant(double value) { return d_.constant(value); }
  // An elementwise operation over the result's axes, or over others.
  template <class... Ids>
  constexpr int map(op kind, Ids... operands) {
    return d_.elementwise(kind, n_.axes, operands...);
  }
  template <class... Ids>
  constexpr int map_over(const axis_list& axes, op kind, Ids... operands) {
    return d_.elementwise(kind, axes, operands...);
  }
  constexpr int times(int a, int b) { return map(op::multiply, a, b); }
  constexpr int sum_to(const axis_list& axes, int id) { return d_.sum_to(axes, id); }
  constexpr int contract(const axis_list& axes, int a, int b) {
    return d_.emit(make_node(op::dot), axes, a, b);
  }
  // A node without attributes, and one with those of the operation.
  static constexpr node make(op kind) { return make_node(kind); }
  constexpr node like(op kind) const {
    node a = make_node(kind);
    a.named = n_.named;
    a.scalar = n_.scalar;
    a.start = n_.start;
    a.lowest = n_.lowest;
    a.highest = n_.highest;
    return a;
  }
  template <class... Ids>
  constexpr int emit(const node& n, const axis_list& axes, Ids... operands) {
    return d_.emit(n, axes, operands...);
  }
  // The adjoint of a rowwise operation that reads `first`, its operand or its result.
  constexpr int rowwise(op adjoint, int first) {
    return emit(like(adjoint), n_.axes, first, gradient_);
  }

  // ---- rules that need more than their operands

  constexpr bool defer_contraction(int j) {
    return d_.defer_contraction(n_.operand[j], n_.operand[1 - j], gradient_);
  }

  // One node computes the gradients for query, key and value, and for biases that need one.
  constexpr void add_attention_gradients() {
    node a = n_;
    a.kind = op::attention_adjoint;
    a.axes = {};
    a.operands = 0;
    a.present = 0;
    add_operand(a, role::result, result());
    for_each_operand(n_, [&](const slot& s, int id) { add_operand(a, s.what, d_.value(id)); });
    add_operand(a, role::g, gradient_);
    for (const slot& s : attention_adjoint_slots)
      if (s.is == presence::optional && is_gradient(s))
        if (const int of = find_operand(n_, s.gradient_of); of >= 0 && d_.depends_[of])
          mark(a, s.what);
    const int all = d_.g_.emit(a);
    int j = 0;
    for_each_gradient(a, [&](const slot& s, int /*of*/) {
      node p = make_node(op::get_result);
      result_index(p) = j++;
      const int of = find_operand(n_, s.gradient_of);
      if (d_.depends_[of]) d_.accumulate(of, emit(p, d_.g_.nodes[of].axes, all));
    });
  }

  // The gradient for x is rotated by the negated angles.
  constexpr void add_rotation_gradients() {
    const int sine = x(2);
    if (wants(0)) {
      const int negated = map_over(d_.g_.nodes[sine].axes, op::negate, sine);
      add(0, emit(like(op::rotate), n_.axes, gradient_, x(1), negated));
    }
    axis_list axes = n_.axes;
    axes.at[axes.find(rotated_axis(n_))] = axis_of_pairs(n_);
    for (int which = 0; which < 2; ++which) {
      if (!wants(1 + which)) continue;
      node a = like(op::rotate_adjoint);
      rotation_factor(a) = which;
      add(1 + which, emit(a, axes, x(0), gradient_));
    }
  }

  // Splits the merged axis in place, then copies to the operand's axis order where that differs.
  constexpr void add_merged_gradient() {
    const axis_list whole = axes_of(0);
    axis_list split{};
    for (int i = 0; i < n_.axes.count; ++i) {
      if (whole.contains(n_.axes.at[i])) {
        split.push(n_.axes.at[i]);
      } else {
        for (int j = 0; j < merged_axes(n_).count; ++j) split.push(merged_axes(n_).at[j]);
      }
    }
    const int id = emit(like(op::split), split, gradient_);
    add(0, split == whole ? id : map_over(whole, op::copy, id));
  }

  // Each operand's gradient is the slice of the result's at its offset.
  constexpr void add_concatenated_gradients() {
    int at = 0;
    while (axes_of(0).contains(n_.axes.at[at])) ++at;
    node slice = make_node(op::slice);
    slice_axes(slice).push(n_.axes.at[at]);
    for (int j = 0; j < n_.operands; ++j) {
      const axis_info* const axis = concatenated_axes(n_).at[j];
      if (wants(j)) {
        axis_list axes = n_.axes;
        axes.at[at] = axis;
        const int id = emit(slice, axes, gradient_);
        add(j, axes == axes_of(j) ? id : map_over(axes_of(j), op::copy, id));
      }
      if (j + 1 == n_.operands) break;
      if (axis->bounded)
        slice_axes(slice).push(axis->length_axis());
      else
        slice_offset(slice) += static_cast<std::int64_t>(axis->extent);
    }
  }

  // Of an operand of a scan: each step's gradient at its index.
  constexpr void add_collected_gradient() {
    d_.defer({n_.operand[0], emit(like(op::scan_collect), axes_of(0), gradient_), 0});
  }
  // Of a carry after the last step.
  constexpr void add_final_gradient() {
    int& sum = d_.final_[n_.operand[0]];
    sum = 1 + (sum > 0 ? map(op::add, sum - 1, gradient_) : gradient_);
  }

 private:
  gradient_graph& d_;
  const int id_, gradient_;
  const node n_;
};

}  // namespace weft::detail
#include "weft/header_end.hpp"
