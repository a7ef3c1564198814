// Operations that put parts of a tensor to their places: as copies.
#pragma once

#include "weft/graph/lengths.hpp"
#include "weft/lower/drafting.hpp"

namespace weft::detail {

// Copies operand `from` to where the result has it along `axis`, beginning at `start` and the
// lengths of the axes in `after` from the given place on.
constexpr void copy_part(drafting& in, int id, int from, const axis_info* axis, std::int64_t start,
                         const axis_list& after, int first_after) {
  axis_list const& loops = in.g.nodes[from].axes;
  int const at = in.g.nodes[id].axes.find(axis);
  std::ptrdiff_t const stride = in.p.of[id].stride[at];
  operand_ref to = in.place(id, loops);
  for (int l = 0; l < loops.count; ++l)  // the operand's axis has another name
    if (!in.g.nodes[id].axes.contains(loops.at[l])) to.stride[l] = stride;
  to.offset += static_cast<std::size_t>(start * stride * bytes(in.g.nodes[id].type));
  for (int j = first_after; j < after.count; ++j) in.add_shift(to, after.at[j], stride);
  step& s = in.add_step(kernel::elementwise, op::copy, id, loops);
  in.add_operand(s, to);
  in.add_operand(s, in.place(from, loops));
}

// For each place in a window, all windows at once: no two of them meet there.
constexpr void lower_overlap(drafting& in, int id) {
  node const& n = in.g.nodes[id];
  int const from = n.operand[0];
  axis_list const& axes = in.g.nodes[from].axes;
  int const tap = axes.find(n.named.at[2]);
  axis_list loops{};
  for (int a = 0; a < axes.count; ++a)
    if (a != tap) loops.push(axes.at[a]);
  in.add_operand(in.add_step(kernel::zero, n.kind, id, n.axes), in.place(id, n.axes));
  std::ptrdiff_t const stride = in.p.of[id].stride[n.axes.find(n.named.at[0])];
  operand_ref to = in.place(id, loops), part = in.place(from, loops);
  to.stride[loops.find(n.named.at[1])] = stride * n.lowest;
  for (std::size_t t = 0; t < n.named.at[2]->extent; ++t) {
    step& s = in.add_step(kernel::elementwise, op::add, id, loops);
    for (operand_ref const& o : {to, to, part}) in.add_operand(s, o);
    to.offset += static_cast<std::size_t>(stride * n.highest * bytes(n.type));
    part.offset += static_cast<std::size_t>(in.p.of[from].stride[tap] * bytes(n.type));
  }
}

constexpr void lower_concatenation(drafting& in, int id) {
  node const& n = in.g.nodes[id];
  axis_info const* const whole = new_axis(n.axes, in.g.nodes[n.operand[0]].axes);
  std::int64_t start = 0;
  axis_list after{};
  for (int j = 0; j < n.operands; ++j) {
    if (in.p.of[n.operand[j]].root != id) copy_part(in, id, n.operand[j], whole, start, after, 0);
    if (n.named.at[j]->bounded)
      after.push(n.named.at[j]);
    else
      start += static_cast<std::int64_t>(n.named.at[j]->extent);
  }
}

constexpr void lower_merge(drafting& in, int id) {
  node const& n = in.g.nodes[id];
  axis_list const& loops = in.g.nodes[n.operand[0]].axes;
  operand_ref to = in.place(id, loops);
  std::ptrdiff_t stride = in.p.of[id].stride[n.axes.find(new_axis(n.axes, loops))];
  for (int j = n.named.count - 1; j >= 0; --j) {
    to.stride[loops.find(n.named.at[j])] = stride;
    stride *= static_cast<std::ptrdiff_t>(n.named.at[j]->extent);
  }
  step& s = in.add_step(kernel::elementwise, op::copy, id, loops);
  in.add_operand(s, to);
  in.add_operand(s, in.place(n.operand[0], loops));
}

}  // namespace weft::detail
