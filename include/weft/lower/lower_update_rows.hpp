// Lowers update_rows.
#pragma once

#include "weft/lower/lowering.hpp"

namespace weft::detail {

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
  s.over = 1u << n.axes.find(into);
  ctx.add_operand(s, ctx.place(id, loops)).stride[n.axes.find(into)] = s.axis_stride;
  for (int j = 1; j < n.operands; ++j) ctx.add_operand(s, ctx.place(n.operand[j], loops));
  require_room(ctx, id);
  for (int j = 2; j < n.operands; ++j)
    if (s.check == 0 && !is_known_before_run(ctx.g, n.operand[j]))
      ctx.add_check(s, checked_as::write, into);
}

}  // namespace weft::detail
