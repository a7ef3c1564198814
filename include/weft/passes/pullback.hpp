// What an operation's adjoint rule in the table sees: its node, the result's gradient, and how to
// emit what its operands' gradients are made of.
#pragma once

#include "weft/graph/attention.hpp"
#include "weft/graph/graph.hpp"
#include "weft/passes/gradients.hpp"

namespace weft::detail {

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
