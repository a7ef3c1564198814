// Lowers operations that assemble a tensor from parts to copies, or to sums.
#pragma once

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

}  // namespace weft::detail
