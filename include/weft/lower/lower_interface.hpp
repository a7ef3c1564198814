// Lowers the interface of a program: inputs, parameters, states, results, gradients, lengths.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/lower/lowering.hpp"

namespace weft::detail {

constexpr bool is_same(const extent_ref& a, const extent_ref& b) {
  return a.most == b.most && a.length == b.length;
}
constexpr bool is_same(const index_check& a, const index_check& b, int rank) {
  bool same = a.input == b.input && a.of == b.of && is_same(a.axis, b.axis);
  for (int l = 0; l < rank; ++l)
    same = same && a.first[l] == b.first[l] && is_same(a.extent[l], b.extent[l]);
  return same;
}

// The check of an input that is, through views, the operand of n that holds indices or lengths. Of
// what is cut off by slices nothing is asked.
constexpr void check_indices(lowering& ctx, const node& n) {
  const bool is_within = n.kind == op::within;
  const axis_info* const axis = is_within ? bounding_axis(n) : indexed_axis(n);
  const node* at = &ctx.g.nodes[find_operand(n, is_within ? role::x : role::indices)];
  index_check check{};
  axis_list used = at->axes;  // of the part, in the order of the input's axes
  bool whole = false;
  for (; is_view(at->kind); at = &ctx.g.nodes[at->operand[0]]) {
    const bool is_slice = at->kind == op::slice && slice_axes(*at).count == 1;
    whole = whole || !(is_slice || at->kind == op::rename || at->kind == op::within);
    if (is_slice && !whole)
      check.first[ctx.g.nodes[at->operand[0]].axes.find(sliced_axis(*at))] +=
          static_cast<std::size_t>(slice_offset(*at));
  }
  if (at->kind != op::input) return;
  input_ref& input = ctx.d.inputs[at->leaf];
  if (whole || used.count != at->axes.count) {
    for (std::size_t& first : check.first) first = 0;
    used = at->axes;
  }
  for (int a = 0; a < used.count; ++a) check.extent[a] = ctx.extent(used.at[a]);
  check.input = static_cast<std::int16_t>(at->leaf);
  check.of = is_within && is_length(n) != 0 ? checked_as::length : checked_as::index;
  check.axis = ctx.extent(axis);
  for (int i = 0; i < ctx.d.count.index_checks; ++i)
    if (is_same(ctx.d.index_checks[i], check, used.count)) return;
  input.is_index = true;
  ctx.add_check(check, axis);
}

constexpr void lower_interface(lowering& ctx) {
  for (int i = 0; i < ctx.g.input_count; ++i) {
    const node& n = ctx.g.nodes[ctx.g.inputs[i].node];
    input_ref& r = ctx.d.inputs[ctx.d.count.inputs++];
    r.name = ctx.intern(ctx.g.name(ctx.g.inputs[i].name));
    r.type = n.type;
    r.rank = n.axes.count;
    for (int a = 0; a < n.axes.count; ++a) {
      r.extent[a] = ctx.extent(n.axes.at[a]);
      r.axis_name[a] = ctx.intern(n.axes.at[a]->name);
    }
  }
  for (int i = 0; i < ctx.g.count; ++i)
    if (const node& n = ctx.g.nodes[i];
        n.named.count > 0 && (n.kind == op::within || has(n, role::indices)))
      check_indices(ctx, n);
  for (int i = 0; i < ctx.g.parameter_count; ++i) {
    const axis_list& axes = ctx.g.nodes[ctx.g.parameters[i].node].axes;
    parameter_ref& r = ctx.d.parameters[ctx.d.count.parameters++];
    r.name = ctx.intern(ctx.g.name(ctx.g.parameters[i].name));
    r.init = ctx.g.parameters[i].init;
    r.offset = ctx.p.parameter_offset[i];
    r.rank = axes.count;
    for (int a = 0; a < axes.count; ++a) r.extent[a] = axes.at[a]->extent;
    r.size = axes.extent();
  }
  for (int i = 0; i < ctx.g.state_count; ++i) {
    const node& n = ctx.g.nodes[ctx.g.states[i].node];
    state_ref& r = ctx.d.states[ctx.d.count.states++];
    r.name = ctx.intern(ctx.g.name(ctx.g.states[i].name));
    r.type = n.type;
    r.offset = ctx.p.of[ctx.g.states[i].node].offset;
    r.rank = n.axes.count;
    for (int a = 0; a < n.axes.count; ++a) r.extent[a] = n.axes.at[a]->extent;
    r.bytes = bytes_of(n);
  }
  for (int i = 0; i < ctx.g.output_count; ++i) {
    if (ctx.g.outputs[i].kind == output_kind::gradient)
      ctx.d.gradient_bytes = ctx.p.parameter_bytes;
    if (ctx.g.outputs[i].kind != output_kind::result) continue;
    const node& n = ctx.g.nodes[ctx.g.outputs[i].node];
    result_ref& r = ctx.d.results[ctx.d.count.results++];
    r.name = ctx.intern(ctx.g.name(ctx.g.outputs[i].name));
    r.rank = n.axes.count;
    for (int a = 0; a < n.axes.count; ++a) r.extent[a] = ctx.extent(n.axes.at[a]);
    r.at = ctx.place(ctx.g.outputs[i].node, n.axes);
  }
  ctx.d.parameter_bytes = ctx.p.parameter_bytes;
  ctx.d.state_bytes = ctx.p.state_bytes;
  ctx.d.count.constants = static_cast<int>(ctx.p.constant_bytes);
  ctx.d.once_bytes = ctx.p.once_bytes;
}

constexpr void lower_rules(lowering& ctx) {
  for (int i = 0; i < ctx.g.rule_count; ++i) {
    const length_rule& from = ctx.g.rules[i];
    length_rule_ref& r = ctx.d.rules[ctx.d.count.rules++];
    r = {ctx.slot(from.target), 0, {}, from.add, from.multiply, from.divide, from.rounds_down};
    for (int s = 0; s < from.sources.count; ++s)
      r.sources[r.source_count++] = ctx.slot(from.sources.at[s]);
  }
}

// The smallest lengths with which slices of a fixed extent or start lie inside their operands.
constexpr void require_lengths(lowering& ctx) {
  for (int i = 0; i < ctx.g.count; ++i) {
    const node& n = ctx.g.nodes[i];
    if (n.kind != op::slice || !sliced_axis(n)->bounded || slice_axes(n).count > 1) continue;
    const axis_info* const to = n.axes.at[ctx.g.nodes[n.operand[0]].axes.find(sliced_axis(n))];
    const std::size_t least =
        static_cast<std::size_t>(slice_offset(n)) + (to->bounded ? 0 : to->extent);
    if (least > 0)
      ctx.d.requirements[ctx.d.count.requirements++] = {ctx.slot(sliced_axis(n)), least};
  }
}

// The gradient of a parameter: at the parameter's offset, row-major.
constexpr operand_ref gradient_of(lowering& ctx, const output& o) {
  const node& n = ctx.g.nodes[o.node];
  operand_ref r{};
  r.where = block::gradients;
  r.offset = ctx.p.parameter_offset[o.leaf];
  row_major(r.stride, n.axes);
  return r;
}

// Zeroes the gradients of parameters with run-time lengths: later loops run only to the lengths,
// and beyond them the gradient is 0.
constexpr void clear_gradients(lowering& ctx) {
  for (int i = 0; i < ctx.g.output_count; ++i) {
    const output& o = ctx.g.outputs[i];
    if (o.kind != output_kind::gradient) continue;
    const node& n = ctx.g.nodes[o.node];
    if (!n.axes.bounded()) continue;
    instruction& s = ctx.emit(kernel::zero, op::copy, o.node, n.axes);
    for (int l = 0; l < s.loops; ++l) s.extent[l].length = 0;
    ctx.add_operand(s, gradient_of(ctx, o));
  }
}

constexpr void copy_gradients(lowering& ctx) {
  for (int i = 0; i < ctx.g.output_count; ++i) {
    const output& o = ctx.g.outputs[i];
    if (o.kind != output_kind::gradient) continue;
    const layout& l = ctx.p.of[o.node];
    if (l.where == block::gradients && l.offset == ctx.p.parameter_offset[o.leaf]) continue;
    const node& n = ctx.g.nodes[o.node];
    instruction& s = ctx.emit(kernel::elementwise, op::copy, o.node, n.axes);
    ctx.add_operand(s, gradient_of(ctx, o));
    ctx.add_operand(s, ctx.place(o.node, n.axes));
  }
}

// Copies the new values of states that were not computed in place.
constexpr void store_states(lowering& ctx) {
  for (int i = 0; i < ctx.g.output_count; ++i) {
    const output& o = ctx.g.outputs[i];
    if (o.kind != output_kind::update || ctx.same_place(o.node, ctx.g.states[o.leaf].node))
      continue;
    const axis_list& axes = ctx.g.nodes[o.node].axes;
    instruction& s = ctx.emit(kernel::elementwise, op::copy, o.node, axes);
    ctx.add_operand(s, ctx.place(ctx.g.states[o.leaf].node, axes));
    ctx.add_operand(s, ctx.place(o.node, axes));
  }
}

}  // namespace weft::detail
#include "weft/header_end.hpp"
