// Rows that are written to a buffer.
#pragma once

#include "weft/lower/drafting.hpp"

namespace weft::detail {

// Node id in some loops, if it is known before a run.
constexpr known_number number_before_run(drafting& in, int id, const axis_list& loops) {
  known_number k{};
  axis_list const& axes = in.g.nodes[id].axes;
  int root = id;
  while (in.g.nodes[root].kind == op::rename) root = in.g.nodes[root].operand[0];
  node const& n = in.g.nodes[root];
  if (n.kind != op::input && n.kind != op::state) return k;
  bool const is_input = n.kind == op::input;
  k.is_known = true;
  k.input = static_cast<std::int16_t>(is_input ? n.leaf : -1);
  operand_ref const r = in.place(id, loops);
  k.offset = is_input ? 0 : r.offset;
  for (int l = 0; l < loops.count; ++l) {
    k.axis[l] = static_cast<std::int8_t>(axes.find(loops.at[l]));
    k.stride[l] = r.stride[l];
  }
  k.name = is_input ? in.d.inputs[n.leaf].name : in.d.states[n.leaf].name;
  return k;
}

// What can be checked of a write before a run; once for all that put rows at the same places.
constexpr void require_room(drafting& in, int id) {
  node const& n = in.g.nodes[id];
  auto const at_the_same_places = [&](const node& m) {
    return m.kind == op::write && m.operands == n.operands && m.operand[2] == n.operand[2] &&
           m.operand[3] == n.operand[3] && m.named == n.named;
  };
  for (int i = 0; i < id; ++i)
    if (at_the_same_places(in.g.nodes[i])) return;
  auto const axes_of = [&](int j) {
    return j < n.operands ? in.g.nodes[n.operand[j]].axes : axis_list{};
  };
  axis_list loops = axes_of(2);
  push_new(loops, axes_of(3));
  write_rule r{};
  r.loops = loops.count;
  for (int l = 0; l < loops.count; ++l) r.extent[l] = in.extent(loops.at[l]);
  r.at = number_before_run(in, n.operand[2], loops);
  if (n.operands > 3) {
    r.count = number_before_run(in, n.operand[3], loops);
    if (!r.count.is_known) r.at.is_known = false;
  }
  if (!r.at.is_known && !r.count.is_known) return;
  r.room = in.extent(n.named.at[0]);
  r.room_name = in.intern(n.named.at[0]->name);
  r.rows = in.extent(n.named.at[1]);
  r.rows_name = in.intern(n.named.at[1]->name);
  if (in.d.count.writes == max_writes) the_model_has_more_writes_than_max_writes();
  in.d.writes[in.d.count.writes++] = r;
}

// Rows go to where the buffer has their axis; the buffer itself too, if it is not there.
constexpr void lower_write(drafting& in, int id) {
  node const& n = in.g.nodes[id];
  axis_info const* const into = n.named.at[0];
  if (!in.same_place(id, n.operand[0])) {
    step& copy = in.add_step(kernel::elementwise, op::copy, id, n.axes);
    in.add_operand(copy, in.place(id, n.axes));
    in.add_operand(copy, in.place(n.operand[0], n.axes));
  }
  axis_list loops{};
  for (int a = 0; a < n.axes.count; ++a)
    loops.push(n.axes.at[a] == into ? n.named.at[1] : n.axes.at[a]);
  step& s = in.add_step(kernel::write, n.kind, id, loops);
  s.axis = in.extent(into);
  s.axis_stride = in.p.of[id].stride[n.axes.find(into)];
  s.over = 1u << n.axes.find(into);
  in.add_operand(s, in.place(id, loops));
  s.operand[0].stride[n.axes.find(into)] = s.axis_stride;
  for (int j = 1; j < n.operands; ++j) in.add_operand(s, in.place(n.operand[j], loops));
  require_room(in, id);
}

}  // namespace weft::detail
