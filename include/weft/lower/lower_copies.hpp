// Lowers operations that assemble a tensor from parts to copies, or to sums; update_rows; and scans
// to loops over instructions.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/graph.hpp"
#include "weft/graph/lengths.hpp"
#include "weft/lower/lowering.hpp"

namespace weft::detail {

// Copies node `from` into the result `id` along `axis`, at index `start` plus the run-time lengths
// of the axes of `after` from number first_after on.
constexpr void copy_part(lowering& ctx, int id, int from, const axis_info* axis, std::int64_t start,
                         const axis_list& after, int first_after) {
  const axis_list& loops = ctx.g.nodes[from].axes;
  const int at = ctx.g.nodes[id].axes.find(axis);
  const std::ptrdiff_t stride = ctx.p.of[id].stride[at];
  operand_ref to = ctx.place(id, loops);
  for (int l = 0; l < loops.count; ++l)  // the axis of `from` that corresponds to `axis`
    if (!ctx.g.nodes[id].axes.contains(loops.at[l])) to.stride[l] = stride;
  to.offset += static_cast<std::size_t>(start * stride * bytes(ctx.g.nodes[id].type));
  for (int j = first_after; j < after.count; ++j) ctx.add_shift(to, after.at[j], stride);
  instruction& s = ctx.emit(kernel::elementwise, op::copy, id, loops);
  ctx.add_operand(s, to);
  ctx.add_operand(s, ctx.place(from, loops));
}

constexpr void lower_pad(lowering& ctx, int id) {
  const node& n = ctx.g.nodes[id];
  ctx.add_operand(ctx.emit(kernel::zero, n.kind, id, n.axes), ctx.place(id, n.axes));
  copy_part(ctx, id, n.operand[0], sliced_axis(n), slice_offset(n), slice_axes(n), 1);
}

// One addition per position in a window, for all windows at once: at the same position, no two
// windows overlap.
constexpr void lower_fold(lowering& ctx, int id) {
  const node& n = ctx.g.nodes[id];
  const int from = n.operand[0];
  const axis_list& axes = ctx.g.nodes[from].axes;
  const int tap = axes.find(axis_in_window(n));
  axis_list loops{};
  for (int a = 0; a < axes.count; ++a)
    if (a != tap) loops.push(axes.at[a]);
  ctx.add_operand(ctx.emit(kernel::zero, n.kind, id, n.axes), ctx.place(id, n.axes));
  const std::ptrdiff_t stride = ctx.p.of[id].stride[n.axes.find(windowed_axis(n))];
  operand_ref to = ctx.place(id, loops), part = ctx.place(from, loops);
  to.stride[loops.find(axis_of_windows(n))] =
      stride * static_cast<std::ptrdiff_t>(window_stride(n));
  for (std::size_t t = 0; t < axis_in_window(n)->extent && !ctx.refused(); ++t) {
    instruction& s = ctx.emit(kernel::elementwise, op::add, id, loops);
    for (const operand_ref& o : {to, to, part}) ctx.add_operand(s, o);
    to.offset += static_cast<std::size_t>(stride * window_dilation(n) * bytes(n.type));
    part.offset += static_cast<std::size_t>(ctx.p.of[from].stride[tap] * bytes(n.type));
  }
}

constexpr void lower_concatenate(lowering& ctx, int id) {
  const node& n = ctx.g.nodes[id];
  const axis_info* const whole = new_axis(n.axes, ctx.g.nodes[n.operand[0]].axes);
  std::int64_t start = 0;
  axis_list after{};
  for (int j = 0; j < n.operands; ++j) {
    if (ctx.p.of[n.operand[j]].root != id) copy_part(ctx, id, n.operand[j], whole, start, after, 0);
    const axis_info* const part = concatenated_axes(n).at[j];
    if (part->bounded)
      after.push(part);
    else
      start += static_cast<std::int64_t>(part->extent);
  }
}

constexpr void lower_merge(lowering& ctx, int id) {
  if (ctx.p.of[id].root != id) return;  // a view
  const node& n = ctx.g.nodes[id];
  const axis_list& loops = ctx.g.nodes[n.operand[0]].axes;
  operand_ref to = ctx.place(id, loops);
  std::ptrdiff_t stride = ctx.p.of[id].stride[n.axes.find(new_axis(n.axes, loops))];
  const axis_list& parts = merged_axes(n);
  for (int j = parts.count - 1; j >= 0; --j) {
    to.stride[loops.find(parts.at[j])] = stride;
    stride *= static_cast<std::ptrdiff_t>(parts.at[j]->extent);
  }
  instruction& s = ctx.emit(kernel::elementwise, op::copy, id, loops);
  ctx.add_operand(s, to);
  ctx.add_operand(s, ctx.place(n.operand[0], loops));
}

// The input or state whose elements node `id` has under other names; otherwise the node itself.
constexpr const node& root_of_number(const graph& g, int id) {
  while (g.nodes[id].kind == op::rename || g.nodes[id].kind == op::within)
    id = g.nodes[id].operand[0];
  return g.nodes[id];
}
constexpr bool is_known_before_run(const graph& g, int id) {
  const op kind = root_of_number(g, id).kind;
  return kind == op::input || kind == op::state;
}

// Node `id` in `loops`, if the host knows it before a run: an input or a state.
constexpr host_scalar number_before_run(lowering& ctx, int id, const axis_list& loops) {
  host_scalar k{};
  const axis_list& axes = ctx.g.nodes[id].axes;
  if (!is_known_before_run(ctx.g, id)) return k;
  const node& n = root_of_number(ctx.g, id);
  const bool is_input = n.kind == op::input;
  k.is_known = true;
  k.input = static_cast<std::int16_t>(is_input ? n.leaf : -1);
  const operand_ref r = ctx.place(id, loops);
  k.offset = is_input ? 0 : r.offset;
  for (int l = 0; l < loops.count; ++l) {
    k.axis[l] = static_cast<std::int8_t>(axes.find(loops.at[l]));
    k.stride[l] = r.stride[l];
  }
  k.name = is_input ? ctx.d.inputs[n.leaf].name : ctx.d.states[n.leaf].name;
  return k;
}

// Adds the bounds check of an update, as far as its start and count are known before a run; one
// check for all updates with the same start, count and axes.
constexpr void require_room(lowering& ctx, int id) {
  const node& n = ctx.g.nodes[id];
  const auto at_the_same_places = [&](const node& m) {
    return m.kind == op::update_rows &&
           find_operand(m, role::start) == find_operand(n, role::start) &&
           find_operand(m, role::count) == find_operand(n, role::count) &&
           updated_axis(m) == updated_axis(n) && axis_of_rows(m) == axis_of_rows(n);
  };
  for (int i = 0; i < id; ++i)
    if (at_the_same_places(ctx.g.nodes[i])) return;
  const auto axes_of = [&](int j) {
    return j < n.operands ? ctx.g.nodes[n.operand[j]].axes : axis_list{};
  };
  axis_list loops = axes_of(2);
  ctx.push_new(loops, axes_of(3));
  bounds_check r{};
  r.loops = loops.count;
  for (int l = 0; l < loops.count; ++l) r.extent[l] = ctx.extent(loops.at[l]);
  r.at = number_before_run(ctx, n.operand[2], loops);
  if (n.operands > 3) {
    r.count = number_before_run(ctx, n.operand[3], loops);
    if (!r.count.is_known) r.at.is_known = false;
  }
  if (!r.at.is_known && !r.count.is_known) return;
  r.room = ctx.extent(updated_axis(n));
  r.room_name = ctx.intern(updated_axis(n)->name);
  r.rows = ctx.extent(axis_of_rows(n));
  r.rows_name = ctx.intern(axis_of_rows(n)->name);
  ctx.next(ctx.d.writes, ctx.d.count.writes, model_fault::writes) = r;
}

// Copies the buffer, unless it is updated in place, then writes the rows.
constexpr void lower_update_rows(lowering& ctx, int id) {
  const node& n = ctx.g.nodes[id];
  const axis_info* const into = updated_axis(n);
  if (!ctx.same_place(id, n.operand[0])) {
    instruction& copy = ctx.emit(kernel::elementwise, op::copy, id, n.axes);
    ctx.add_operand(copy, ctx.place(id, n.axes));
    ctx.add_operand(copy, ctx.place(n.operand[0], n.axes));
  }
  axis_list loops{};
  for (int a = 0; a < n.axes.count; ++a)
    loops.push(n.axes.at[a] == into ? axis_of_rows(n) : n.axes.at[a]);
  instruction& s = ctx.emit(kernel::update_rows, n.kind, id, loops);
  s.axis = ctx.extent(into);
  s.axis_stride = ctx.p.of[id].stride[n.axes.find(into)];
  s.scalar = static_cast<double>(ring_length(n));
  s.over = 1u << n.axes.find(into);
  ctx.add_operand(s, ctx.place(id, loops)).stride[n.axes.find(into)] = s.axis_stride;
  for (int j = 1; j < n.operands; ++j) ctx.add_operand(s, ctx.place(n.operand[j], loops));
  require_room(ctx, id);
  for (int j = 2; j < n.operands; ++j)
    if (s.check == 0 && !is_known_before_run(ctx.g, n.operand[j]))
      ctx.add_check(s, checked_as::write, into);
}

constexpr void lower_yield(lowering& ctx, int id) {
  const node& n = ctx.g.nodes[id];
  if (ctx.p.of[id].root == id)
    ctx.copy(id, ctx.place(id, n.axes), n.operand[1]);
  else if (n.operand[1] != n.operand[0])
    ctx.copy(id, ctx.place(n.operand[0], n.axes), n.operand[1]);
}

// Copies the value of the current step into the result, along the scanned axis.
constexpr void lower_scan_collect(lowering& ctx, int id) {
  const axis_list& axes = ctx.g.nodes[ctx.g.nodes[id].operand[0]].axes;
  operand_ref to = ctx.place(id, axes);
  const axis_info* const axis = scanned_axis(ctx.g.nodes[id]);
  ctx.add_shift(to, nullptr, ctx.p.of[id].stride[ctx.g.nodes[id].axes.find(axis)]);
  instruction& s = ctx.emit(kernel::elementwise, op::copy, id, axes);
  ctx.add_operand(s, to);
  ctx.add_operand(s, ctx.place(ctx.g.nodes[id].operand[0], axes));
}

// The nodes of a body are consecutive. Before the first, carries get their initial values.
constexpr void begin_loop(lowering& ctx, int id) {
  const int body = loop_of(ctx.g, id);
  if (body == 0 || (id > 0 && loop_of(ctx.g, id - 1) == body)) return;
  for (int i = id; i < ctx.g.count && loop_of(ctx.g, i) == body; ++i)
    if (ctx.g.nodes[i].kind == op::carry)
      ctx.copy(i, ctx.place(i, ctx.g.nodes[i].axes), ctx.g.nodes[i].operand[0]);
  const region& r = ctx.g.regions[body - 1];
  ctx.d.loops[ctx.d.count.loops++] = {ctx.d.count.instructions, ctx.d.count.instructions, r.axis,
                                      ctx.extent(r.axis), r.backwards};
}

// After the last node of a body, carries get the new values that could not overwrite them during
// the step.
constexpr void end_loop(lowering& ctx, int id) {
  const int body = loop_of(ctx.g, id);
  if (body == 0 || (id + 1 < ctx.g.count && loop_of(ctx.g, id + 1) == body)) return;
  for (int i = id; i >= 0 && ctx.g.nodes[i].kind == op::yield; --i)
    if (ctx.p.of[i].root == i)
      ctx.copy(i, ctx.place(ctx.g.nodes[i].operand[0], ctx.g.nodes[i].axes), i);
  loop_ref& loop = ctx.d.loops[ctx.d.count.loops - 1];
  loop.last = ctx.d.count.instructions;
  if (loop.first == loop.last) --ctx.d.count.loops;  // only views
}

}  // namespace weft::detail
#include "weft/header_end.hpp"
