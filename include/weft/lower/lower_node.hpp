// Lowers a node to instructions.
#pragma once
#include "weft/header_begin.hpp"

#include <array>
#include <bit>

#include "weft/graph/fusion_group.hpp"
#include "weft/graph/ops.hpp"
#include "weft/graph/rotation.hpp"
#include "weft/lower/lower_attention.hpp"
#include "weft/lower/lower_copies.hpp"
#include "weft/lower/lowering.hpp"

namespace weft::detail {

// Reduces the partial sums of a normalization's adjoint.
constexpr void lower_norm_parameter_gradient(lowering& ctx, int id) {
  const node& n = ctx.g.nodes[id];
  const node& adjoint = ctx.g.nodes[n.operand[0]];
  instruction& s = ctx.emit(kernel::reduce, op::sum, id, n.axes);
  s.extent[s.loops] = {partial_count(adjoint), 0};
  s.over = 1u << s.loops;
  operand_ref sums = ctx.place(n.operand[0], {});
  sums.offset += partial_sums_offset(adjoint, norm_parameter(n));
  row_major(sums.stride, n.axes);
  sums.stride[s.loops++] = static_cast<std::ptrdiff_t>(n.axes.extent());
  ctx.add_operand(s, ctx.place(id, n.axes));
  ctx.add_operand(s, sums);
}

constexpr void lower_top_k(lowering& ctx, int id) {
  const node& n = ctx.g.nodes[id];
  const axis_list& loops = ctx.g.nodes[n.operand[0]].axes;
  instruction& s = ctx.emit(kernel::top_k, n.kind, id, loops);
  s.over = 1u << loops.find(ranked_axis(n));
  s.axis = ctx.extent(selected_axis(n));
  s.axis_stride = ctx.p.of[id].stride[n.axes.find(selected_axis(n))];
  ctx.add_all(s, id, loops);
}

constexpr unsigned loops_from(const axis_list& loops, int from) {
  unsigned m = 0;
  for (int l = from; l < loops.count; ++l) m |= 1u << l;
  return m;
}

constexpr void lower_elementwise(lowering& ctx, int id) {
  const node& n = ctx.g.nodes[id];
  instruction& s = ctx.emit(kernel::elementwise, n.kind, id, n.axes);
  const fusion_group c = fusion_group_of(ctx.g, id);
  if (c.count == 1 && n.kind != op::dropout) return ctx.add_all(s, id, n.axes);
  ctx.add_operand(s, ctx.place(id, n.axes));
  for (int i = 0; i < c.input_count; ++i) ctx.add_operand(s, ctx.place(c.inputs[i], n.axes));
  s.first_fused = ctx.d.count.fused_ops;
  s.fused_count = static_cast<std::int8_t>(c.count);
  for (int i = 0; i < c.count; ++i) {
    const node& m = ctx.g.nodes[c.nodes[i]];
    kernels::fused_op& l = ctx.d.fused_ops[ctx.d.count.fused_ops++];
    l.kind = m.kind;
    l.type = m.type;
    if (m.kind == op::dropout) l.drop = dropout_params_of(ctx.g.nodes[m.operand[1]]);
    for (int j = 0; j < m.operands; ++j) {
      const int input = c.find_input(m.operand[j]);
      l.from[j] = static_cast<std::int8_t>(
          input >= 0 ? input : max_fused_inputs + c.find_node(m.operand[j]));
    }
  }
}

// Operands of a gather or scatter_add that indexes an axis of the node `table`.
constexpr void lower_indexed(lowering& ctx, instruction& s, int id, int table,
                             const axis_list& loops) {
  const axis_info* const axis = indexed_axis(ctx.g.nodes[id]);
  s.axis = ctx.extent(axis);
  s.axis_stride = ctx.p.of[table].stride[ctx.g.nodes[table].axes.find(axis)];
  ctx.add_all(s, id, loops);
  const node& n = ctx.g.nodes[id];
  if (refuses_indices(n) && !is_part_of_input(ctx.g, find_operand(n, role::indices)))
    ctx.add_check(s, checked_as::index, axis);
}

// A loop over the pairs; in operands with the rotated axis its stride is the distance from one pair
// to the next.
constexpr void lower_rotation(lowering& ctx, int id) {
  const node& n = ctx.g.nodes[id];
  const axis_info *const numbers = rotated_axis(n), *const pairs = axis_of_pairs(n);
  axis_list loops = n.axes;
  if (const int at = loops.find(numbers); at >= 0) loops.at[at] = pairs;
  const int row = loops.find(pairs);
  instruction& s =
      ctx.emit(n.kind == op::rotate ? kernel::rotate : kernel::rotate_adjoint, n.kind, id, loops);
  s.over = 1u << row;
  if (n.kind == op::rotate_adjoint) s.scalar = rotation_factor(n);
  s.axis = ctx.extent(numbers);
  const pair_steps along = pair_steps_of(n);
  s.axis_stride = static_cast<std::ptrdiff_t>(along.partner);
  const auto add = [&](int node) {
    operand_ref r = ctx.place(node, loops);
    // The kernel takes a partner distance of 1 for interleaved pairs, whose stride is 2; a single
    // half-split pair has that distance, too.
    const auto next = static_cast<std::ptrdiff_t>(along.partner == 1 ? 2 : along.next);
    if (const int at = ctx.g.nodes[node].axes.find(numbers); at >= 0)
      r.stride[row] = ctx.p.of[node].stride[at] * next;
    ctx.add_operand(s, r);
  };
  add(id);
  for (int j = 0; j < n.operands; ++j) add(n.operand[j]);
}

constexpr void lower_constant(lowering& ctx, int id) {
  const node& n = ctx.g.nodes[id];
  const std::uint32_t bits =
      n.type == dtype::float32 ? std::bit_cast<std::uint32_t>(static_cast<float>(constant_value(n)))
      : n.type == dtype::int32
          ? static_cast<std::uint32_t>(static_cast<std::int32_t>(constant_value(n)))
      : n.type == dtype::bfloat16 ? bfloat16(static_cast<float>(constant_value(n))).bits
                                  : static_cast<std::uint32_t>(constant_value(n) != 0);
  const auto raw = std::bit_cast<std::array<std::byte, 4>>(bits);
  for (std::size_t i = 0; i < 4; ++i) ctx.d.constants[ctx.p.of[id].offset + i] = raw[i];
}

constexpr void lower_reduction(lowering& ctx, int id) {
  const node& n = ctx.g.nodes[id];
  axis_list loops = n.axes;
  ctx.push_new(loops, ctx.g.nodes[n.operand[0]].axes);
  instruction& s = ctx.emit(kernel::reduce, n.kind, id, loops);
  s.over = loops_from(loops, n.axes.count);
  ctx.add_all(s, id, loops);
}

constexpr void lower_rowwise(lowering& ctx, int id) {
  const node& n = ctx.g.nodes[id];
  instruction& s = ctx.emit(kernel::rowwise, n.kind, id, n.axes);
  s.scalar = epsilon_of(n);
  s.scale = n.scale;
  const axis_list& row = row_axes(n);
  for (int a = 0; a < row.count; ++a) s.over |= 1u << n.axes.find(row.at[a]);
  if (has_partial_sums(n)) {
    s.axis = {partial_count(n), 0};
    s.axis_stride = static_cast<std::ptrdiff_t>(partial_sums_offset(n, 0) / 4);
  }
  ctx.add_all(s, id, n.axes);
}

constexpr void lower_dot(lowering& ctx, int id) {
  const node& n = ctx.g.nodes[id];
  axis_list loops = n.axes;
  ctx.push_new(loops, ctx.g.nodes[n.operand[0]].axes);
  ctx.push_new(loops, ctx.g.nodes[n.operand[1]].axes);
  instruction& s = ctx.emit(kernel::dot, n.kind, id, loops);
  s.scale = n.scale;
  s.epilogue = n.epilogue;
  ctx.add_all(s, id, loops);
}

constexpr void lower_gather(lowering& ctx, int id) {
  const node& n = ctx.g.nodes[id];
  lower_indexed(ctx, ctx.emit(kernel::gather, n.kind, id, n.axes), id, n.operand[0], n.axes);
}
constexpr void lower_scatter_add(lowering& ctx, int id) {
  const node& n = ctx.g.nodes[id];
  const axis_list loops = ctx.g.nodes[n.operand[0]].axes;
  lower_indexed(ctx, ctx.emit(kernel::scatter_add, n.kind, id, loops), id, id, loops);
}

constexpr void lower_positions(lowering& ctx, int id) {
  const axis_list& axes = ctx.g.nodes[id].axes;
  ctx.add_all(ctx.emit(kernel::positions, op::positions, id, axes), id, axes);
}
constexpr void lower_length(lowering& ctx, int id) {
  const axis_list& loops = multiplied_axes(ctx.g.nodes[id]);
  ctx.add_all(ctx.emit(kernel::length, op::length, id, loops), id, loops);
}

template <op K>
constexpr void lower_as(lowering& ctx, int id) {
  if constexpr (has_entry<K>) op_entry<K>::lower(ctx, id);
}
inline constexpr auto lowerings = table_of_operations([]<op K>() { return &lower_as<K>; });

// Appends the instructions of node id; a fused node is computed by that of its fusion group.
constexpr void lower_node(lowering& ctx, int id) {
  if (!ctx.g.nodes[id].fused) lowerings[ctx.g.nodes[id].kind](ctx, id);
}

}  // namespace weft::detail
#include "weft/header_end.hpp"
