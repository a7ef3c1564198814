// Lowers scans to loops over instructions.
#pragma once

#include "weft/graph/graph.hpp"
#include "weft/lower/lowering.hpp"

namespace weft::detail {

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
