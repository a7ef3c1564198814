// The loops of scans.
#pragma once

#include "weft/graph/scan.hpp"
#include "weft/lower/drafting.hpp"

namespace weft::detail {

// Into the place of the current step.
constexpr void lower_stack(drafting& in, int id) {
  axis_list const& axes = in.g.nodes[in.g.nodes[id].operand[0]].axes;
  operand_ref to = in.place(id, axes);
  axis_info const* const axis = in.g.nodes[id].named.at[0];
  in.add_shift(to, nullptr, in.p.of[id].stride[in.g.nodes[id].axes.find(axis)]);
  step& s = in.add_step(kernel::elementwise, op::copy, id, axes);
  in.add_operand(s, to);
  in.add_operand(s, in.place(in.g.nodes[id].operand[0], axes));
}

// A body's nodes follow one another. Before the first, carries get their beginning.
constexpr void begin_loop(drafting& in, int id) {
  int const body = loop_of(in.g, id);
  if (body == 0 || (id > 0 && loop_of(in.g, id - 1) == body)) return;
  for (int i = id; i < in.g.count && loop_of(in.g, i) == body; ++i)
    if (in.g.nodes[i].kind == op::carry)
      in.copy(i, in.place(i, in.g.nodes[i].axes), in.g.nodes[i].operand[0]);
  region const& r = in.g.regions[body - 1];
  in.d.loops[in.d.count.loops++] = {in.d.count.steps, in.d.count.steps, r.axis, in.extent(r.axis),
                                    r.backwards};
}

// After the last, carries get what had to wait for the end of the step.
constexpr void end_loop(drafting& in, int id) {
  int const body = loop_of(in.g, id);
  if (body == 0 || (id + 1 < in.g.count && loop_of(in.g, id + 1) == body)) return;
  for (int i = id; i >= 0 && in.g.nodes[i].kind == op::next; --i)
    if (in.p.of[i].root == i) in.copy(i, in.place(in.g.nodes[i].operand[0], in.g.nodes[i].axes), i);
  loop_ref& loop = in.d.loops[in.d.count.loops - 1];
  loop.last = in.d.count.steps;
  if (loop.first == loop.last) --in.d.count.loops;  // nothing but views
}

}  // namespace weft::detail
