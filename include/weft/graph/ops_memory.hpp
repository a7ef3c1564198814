// The table's entries for operations that compute nothing: leaves, views, sources, access by index,
// assembly and scans. adjoint and fold as in ops_elementwise.hpp.
//
// view(v) lets a view alias its operand: v.alias(), then v.push for the stride of each axis,
// outermost first, and what is added to the offset; v is passes/memory_layout.hpp's.
// length_rule(r, g, n) says how the length of the axis that the operation makes follows from
// others; see graph/lengths.hpp. receptive_field(f) is called where the operand has an axis of
// positions that the result lacks; f is passes/receptive_field.hpp's.
#pragma once
#include "weft/header_begin.hpp"

#include <cstdint>

#include "weft/graph/op_class.hpp"

namespace weft {

template <>
struct op_entry<op::input> : leaf_operation {};
template <>
struct op_entry<op::parameter> : leaf_operation {};
template <>
struct op_entry<op::state> : leaf_operation {};
template <>
struct op_entry<op::constant> : leaf_operation {
  static constexpr void lower(auto& ctx, int id) { lower_constant(ctx, id); }
};
template <>
struct op_entry<op::element_ids> : leaf_operation {};

template <>
struct op_entry<op::rename> : view_operation {
  static constexpr void view(auto& v) {
    v.alias();
    v.for_each_axis([&](const auto*, auto stride) { v.push(stride); });
  }
  static constexpr void adjoint(auto& p) {
    p.add(0, p.emit(p.make(op::rename), p.axes_of(0), p.gradient()));
  }
  static constexpr int fold(auto& s, auto& n) {
    if (s.operand(n, 0).kind == op::rename) n.operand[0] = s.operand(n, 0).operand[0];
    renamed_axes(n) = {};
    return s.is_like(n, 0) ? n.operand[0] : -1;
  }
  static constexpr auto receptive_field(auto& f) { return f.of_operand(); }
};

// The operand, to which no gradient passes.
template <>
struct op_entry<op::stop_gradient> : view_operation {
  static constexpr void view(auto& v) {
    v.alias();
    v.for_each_axis([&](const auto*, auto stride) { v.push(stride); });
  }
  static constexpr void adjoint(auto&) {}
  static constexpr auto receptive_field(auto& f) { return f.of_operand(); }
};
// Nothing follows from it but a check before a run.
template <>
struct op_entry<op::within> : op_entry<op::stop_gradient> {};

// From slice_offset, and the lengths of the slice_axes after the first, on, along the first.
template <>
struct op_entry<op::slice> : view_operation {
  static constexpr void view(auto& v) {
    v.alias();
    v.for_each_axis([&](const auto*, auto stride) { v.push(stride); });
    const auto& axes = slice_axes(v.n);
    const auto stride = v.stride_of(axes.at[0]);
    v.add_elements(static_cast<std::ptrdiff_t>(slice_offset(v.n)) * stride);
    for (int j = 1; j < axes.count; ++j) v.add_shift(axes.at[j], stride);
  }
  // An axis whose length is known at run time takes all that is left.
  static constexpr void length_rule(auto& r, const auto& g, const auto& n) {
    const auto* const whole = sliced_axis(n);
    r.target = n.axes.at[g.nodes[n.operand[0]].axes.find(whole)];
    r.sources.push(whole->length_axis());
    r.add = -slice_offset(n);
  }
  static constexpr void adjoint(auto& p) {
    p.add(0, p.emit(p.like(op::pad), p.axes_of(0), p.gradient()));
  }
  static constexpr auto receptive_field(auto& f) {
    f.follow(f.new_axis());
    return f.moved(static_cast<double>(slice_offset(f.n)));
  }
};

// Sliding windows along windowed_axis, which becomes axis_of_windows, with the stride, and
// axis_in_window, with the dilation.
template <>
struct op_entry<op::unfold> : view_operation {
  static constexpr void view(auto& v) {
    v.alias();
    v.for_each_axis([&](const auto* axis, auto stride) {
      if (axis != windowed_axis(v.n)) return v.push(stride);
      v.push(stride * static_cast<std::ptrdiff_t>(window_stride(v.n)));
      v.push(stride * static_cast<std::ptrdiff_t>(window_dilation(v.n)));
    });
  }
  static constexpr void length_rule(auto& r, const auto&, const auto& n) {
    const auto window = static_cast<std::int64_t>(axis_in_window(n)->extent);
    r.target = axis_of_windows(n);
    r.sources.push(windowed_axis(n)->length_axis());
    r.add = window_stride(n) - 1 - window_dilation(n) * (window - 1);
    r.divide = window_stride(n);
    r.rounds_down = true;
  }
  static constexpr void adjoint(auto& p) {
    p.add(0, p.emit(p.like(op::fold), p.axes_of(0), p.gradient()));
  }
  static constexpr auto receptive_field(auto& f) {
    f.follow(axis_of_windows(f.n));
    return f.widened(static_cast<double>(window_dilation(f.n)) *
                     (static_cast<double>(axis_in_window(f.n)->extent) - 1));
  }
};

// One axis becomes split_axes; one of a single element may become none.
template <>
struct op_entry<op::split> : view_operation {
  static constexpr void view(auto& v) {
    v.alias();
    v.for_each_axis([&](const auto* axis, auto stride) {
      if (v.n.axes.contains(axis)) return v.push(stride);
      const auto& parts = split_axes(v.n);
      for (int j = 0; j < parts.count; ++j)
        v.push(stride * static_cast<std::ptrdiff_t>(inner_extent(parts, j)));
    });
  }
  static constexpr void length_rule(auto& r, const auto& g, const auto& n) {
    if (split_axes(n).count == 0) return;
    r.target = split_axes(n).at[0];
    r.sources.push(new_axis(g.nodes[n.operand[0]].axes, n.axes)->length_axis());
    r.divide = static_cast<std::int64_t>(inner_extent(split_axes(n), 0));
  }
  static constexpr void adjoint(auto& p) {
    p.add(0, p.emit(p.like(op::merge), p.axes_of(0), p.gradient()));
  }
};

// merged_axes become one, which copies where their strides cannot be coalesced; none become one of
// a single element.
template <>
struct op_entry<op::merge> : view_operation {
  static constexpr void view(auto& v) {
    const auto& axes = merged_axes(v.n);
    if (!v.can_coalesce(axes)) return;
    v.alias();
    for (int a = 0; a < v.n.axes.count; ++a) {
      const auto* const axis = v.has(v.n.axes.at[a]) ? v.n.axes.at[a]
                               : axes.count > 0      ? axes.at[axes.count - 1]
                                                     : nullptr;
      v.push(axis ? v.stride_of(axis) : 1);
    }
  }
  static constexpr void length_rule(auto& r, const auto& g, const auto& n) {
    if (merged_axes(n).count == 0) return;
    r.target = new_axis(n.axes, g.nodes[n.operand[0]].axes);
    r.sources.push(merged_axes(n).at[0]->length_axis());
    r.multiply = static_cast<std::int64_t>(inner_extent(merged_axes(n), 0));
  }
  static constexpr void adjoint(auto& p) { p.add_merged_gradient(); }
  static constexpr void lower(auto& ctx, int id) { lower_merge(ctx, id); }
};

// Result number result_index of an attention's adjoint.
template <>
struct op_entry<op::get_result> : view_operation {
  using adjoint = no_adjoint;
  static constexpr void view(auto& v) { v.alias_result(result_index(v.n)); }
};

// In a scan's body: the operand at the current step, without scanned_axis.
template <>
struct op_entry<op::scan_slice> : view_operation {
  static constexpr void view(auto& v) {
    v.alias();
    v.for_each_axis([&](const auto* axis, auto stride) {
      if (axis != scanned_axis(v.n)) return v.push(stride);
      v.add_shift(nullptr, stride);
    });
  }
  static constexpr void adjoint(auto& p) { p.add_collected_gradient(); }
  static constexpr auto receptive_field(auto& f) { return f.of_operand(); }
};
// The carry after the last step.
template <>
struct op_entry<op::scan_result> : view_operation {
  static constexpr void view(auto& v) {
    v.alias();
    v.for_each_axis([&](const auto*, auto stride) { v.push(stride); });
  }
  static constexpr void adjoint(auto& p) { p.add_final_gradient(); }
  static constexpr auto receptive_field(auto& f) { return f.everywhere(); }
};

// 0, 1, 2, ... along the axis of the result.
template <>
struct op_entry<op::positions> : source_operation {
  static constexpr void lower(auto& ctx, int id) { lower_positions(ctx, id); }
};
// The product of the lengths of multiplied_axes, as float32.
template <>
struct op_entry<op::length> : source_operation {
  static constexpr int fold(auto& s, auto& n) {
    const auto& axes = multiplied_axes(n);
    return axes.bounded() ? -1 : s.constant(n, static_cast<double>(axes.extent()));
  }
  static constexpr void lower(auto& ctx, int id) { lower_length(ctx, id); }
};

template <>
struct op_entry<op::gather> : indexed_operation {
  static constexpr void adjoint(auto& p) {
    p.add(0, p.emit(p.like(op::scatter_add), p.axes_of(0), p.gradient(), p.x(1)));
  }
  static constexpr void lower(auto& ctx, int id) { lower_gather(ctx, id); }
};
template <>
struct op_entry<op::scatter_add> : indexed_operation {
  static constexpr double flops(const auto& g, const auto& n) {
    return static_cast<double>(g.nodes[n.operand[0]].axes.extent());
  }
  static constexpr void adjoint(auto& p) {
    p.add(0, p.emit(p.like(op::gather), p.axes_of(0), p.gradient(), p.x(1)));
  }
  static constexpr void lower(auto& ctx, int id) { lower_scatter_add(ctx, id); }
};
template <>
struct op_entry<op::update_rows> : indexed_operation {
  using adjoint = no_adjoint;
  static constexpr void lower(auto& ctx, int id) { lower_update_rows(ctx, id); }
};

// concatenated_axes has one for each operand, so that there are no more operands than axes in a
// list.
template <>
struct op_entry<op::concatenate> : assembly_operation {
  static constexpr void length_rule(auto& r, const auto& g, const auto& n) {
    const auto& parts = concatenated_axes(n);
    r.target = n.axes.at[g.nodes[n.operand[0]].axes.find(parts.at[0])];
    for (int j = 0; j < parts.count; ++j) {
      if (parts.at[j]->bounded)
        r.sources.push(parts.at[j]->length_axis());
      else
        r.add += static_cast<std::int64_t>(parts.at[j]->extent);
    }
  }
  static constexpr void adjoint(auto& p) { p.add_concatenated_gradients(); }
  static constexpr void lower(auto& ctx, int id) { lower_concatenate(ctx, id); }
};
// Zeros, with the operand where a slice has it: the adjoint of slice.
template <>
struct op_entry<op::pad> : assembly_operation {
  static constexpr void length_rule(auto& r, const auto& g, const auto& n) {
    const auto* const part = new_axis(g.nodes[n.operand[0]].axes, n.axes);
    r.target = sliced_axis(n);
    r.sources.push(part->length_axis());
    r.add = static_cast<std::int64_t>(r.target->extent - part->extent);
  }
  static constexpr void adjoint(auto& p) {
    p.add(0, p.emit(p.like(op::slice), p.axes_of(0), p.gradient()));
  }
  static constexpr auto receptive_field(auto& f) {
    f.follow(sliced_axis(f.n));
    return f.moved(-static_cast<double>(slice_offset(f.n)));
  }
  static constexpr void lower(auto& ctx, int id) { lower_pad(ctx, id); }
};
// The sum of overlapping windows: the adjoint of unfold, whose axes and numbers it has.
template <>
struct op_entry<op::fold> : assembly_operation {
  static constexpr double flops(const auto& g, const auto& n) {
    return static_cast<double>(g.nodes[n.operand[0]].axes.extent());
  }
  static constexpr void adjoint(auto& p) {
    p.add(0, p.emit(p.like(op::unfold), p.axes_of(0), p.gradient()));
  }
  static constexpr void lower(auto& ctx, int id) { lower_fold(ctx, id); }
};

// What is handed from step to step, at the step's start.
template <>
struct op_entry<op::carry> : scan_operation {
  static constexpr void lower(auto&, int) {}  // with its scan, see lower/lower_copies.hpp
};
// The carry of the next step.
template <>
struct op_entry<op::yield> : scan_operation {
  static constexpr void lower(auto& ctx, int id) { lower_yield(ctx, id); }
};
// The values of all steps, along scanned_axis.
template <>
struct op_entry<op::scan_collect> : scan_operation {
  static constexpr int fold(auto& s, auto& n) {  // the same at every step
    if (s.operand(n, 0).region == 0) n = s.broadcast(n, n.operand[0]);
    return -1;
  }
  static constexpr void lower(auto& ctx, int id) { lower_scan_collect(ctx, id); }
};

}  // namespace weft
#include "weft/header_end.hpp"
