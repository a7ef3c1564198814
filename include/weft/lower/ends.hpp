// What goes in and comes out of a program: inputs, parameters, states, results, gradients, lengths.
#pragma once

#include "weft/lower/drafting.hpp"

namespace weft::detail {

constexpr void lower_ends(drafting& in) {
  if (in.g.input_count > max_inputs) the_model_has_more_inputs_than_max_inputs();
  for (int i = 0; i < in.g.input_count; ++i) {
    node const& n = in.g.nodes[in.g.inputs[i].node];
    input_ref& r = in.d.inputs[in.d.count.inputs++];
    r.name = in.intern(in.g.name(in.g.inputs[i].name));
    r.type = n.type;
    r.rank = n.axes.count;
    for (int a = 0; a < n.axes.count; ++a) {
      r.extent[a] = in.extent(n.axes.at[a]);
      r.axis_name[a] = in.intern(n.axes.at[a]->name);
    }
  }
  for (int i = 0; i < in.g.count; ++i) {  // which inputs are indices?
    node const& n = in.g.nodes[i];
    if (place_of_indices(n) < 0) continue;
    int index = n.operand[place_of_indices(n)];
    while (is_view(in.g.nodes[index].kind)) index = in.g.nodes[index].operand[0];
    if (in.g.nodes[index].kind != op::input) continue;
    input_ref& r = in.d.inputs[in.g.nodes[index].leaf];
    extent_ref const e = in.extent(n.named.at[0]);
    if (r.picks_from_name.size > 0 && r.picks_from.most <= e.most) continue;
    r.picks_from = e;
    r.picks_from_name = in.intern(n.named.at[0]->name);
  }
  for (int i = 0; i < in.g.parameter_count; ++i) {
    axis_list const& axes = in.g.nodes[in.g.parameters[i].node].axes;
    parameter_ref& r = in.d.parameters[in.d.count.parameters++];
    r.name = in.intern(in.g.name(in.g.parameters[i].name));
    r.init = in.g.parameters[i].init;
    r.offset = in.p.parameter_offset[i];
    r.rank = axes.count;
    for (int a = 0; a < axes.count; ++a) r.extent[a] = axes.at[a]->extent;
    r.size = axes.extent();
  }
  for (int i = 0; i < in.g.state_count; ++i) {
    node const& n = in.g.nodes[in.g.states[i].node];
    state_ref& r = in.d.states[in.d.count.states++];
    r.name = in.intern(in.g.name(in.g.states[i].name));
    r.type = n.type;
    r.offset = in.p.of[in.g.states[i].node].offset;
    r.rank = n.axes.count;
    for (int a = 0; a < n.axes.count; ++a) r.extent[a] = n.axes.at[a]->extent;
    r.bytes = bytes_of(n);
  }
  for (int i = 0; i < in.g.output_count; ++i) {
    if (in.g.outputs[i].kind == role::gradient) in.d.gradient_bytes = in.p.parameter_bytes;
    if (in.g.outputs[i].kind != role::result) continue;
    node const& n = in.g.nodes[in.g.outputs[i].node];
    result_ref& r = in.d.results[in.d.count.results++];
    r.name = in.intern(in.g.name(in.g.outputs[i].name));
    r.rank = n.axes.count;
    for (int a = 0; a < n.axes.count; ++a) r.extent[a] = in.extent(n.axes.at[a]);
    r.at = in.place(in.g.outputs[i].node, n.axes);
  }
  in.d.parameter_bytes = in.p.parameter_bytes;
  in.d.state_bytes = in.p.state_bytes;
  in.d.count.constants = static_cast<int>(in.p.constant_bytes);
  in.d.once_bytes = in.p.once_bytes;
}

constexpr void lower_rules(drafting& in) {
  for (int i = 0; i < in.g.rule_count; ++i) {
    length_rule const& from = in.g.rules[i];
    length_rule_ref& r = in.d.rules[in.d.count.rules++];
    r = {in.slot(from.target), 0, {}, from.add, from.multiply, from.divide, from.rounds_down};
    for (int s = 0; s < from.sources.count; ++s)
      r.sources[r.source_count++] = in.slot(from.sources.at[s]);
  }
}

// A slice of fixed extent, or from a fixed start, must lie inside its operand.
constexpr void require_lengths(drafting& in) {
  for (int i = 0; i < in.g.count; ++i) {
    node const& n = in.g.nodes[i];
    if (n.kind != op::slice || !n.named.at[0]->bounded || n.named.count > 1) continue;
    axis_info const* const to = n.axes.at[in.g.nodes[n.operand[0]].axes.find(n.named.at[0])];
    std::size_t const least = static_cast<std::size_t>(n.start) + (to->bounded ? 0 : to->extent);
    if (least > 0) in.d.requirements[in.d.count.requirements++] = {in.slot(n.named.at[0]), least};
  }
}

// Where the gradient of a parameter belongs.
constexpr operand_ref gradient_of(drafting& in, const output& o) {
  node const& n = in.g.nodes[o.node];
  operand_ref r{};
  r.where = block::gradients;
  r.offset = in.p.parameter_offset[o.leaf];
  row_major(r.stride, n.axes);
  return r;
}

// Loops over a parameter's axes run to the lengths; beyond them its gradient is 0.
constexpr void clear_gradients(drafting& in) {
  for (int i = 0; i < in.g.output_count; ++i) {
    output const& o = in.g.outputs[i];
    if (o.kind != role::gradient) continue;
    node const& n = in.g.nodes[o.node];
    if (!n.axes.bounded()) continue;
    step& s = in.add_step(kernel::zero, op::copy, o.node, n.axes);
    for (int l = 0; l < s.loops; ++l) s.extent[l].length = 0;
    in.add_operand(s, gradient_of(in, o));
  }
}

constexpr void copy_gradients(drafting& in) {
  for (int i = 0; i < in.g.output_count; ++i) {
    output const& o = in.g.outputs[i];
    if (o.kind != role::gradient) continue;
    layout const& l = in.p.of[o.node];
    if (l.where == block::gradients && l.offset == in.p.parameter_offset[o.leaf]) continue;
    node const& n = in.g.nodes[o.node];
    step& s = in.add_step(kernel::elementwise, op::copy, o.node, n.axes);
    in.add_operand(s, gradient_of(in, o));
    in.add_operand(s, in.place(o.node, n.axes));
  }
}

// What a state becomes, where it was not computed there.
constexpr void store_states(drafting& in) {
  for (int i = 0; i < in.g.output_count; ++i) {
    output const& o = in.g.outputs[i];
    if (o.kind != role::update || in.same_place(o.node, in.g.states[o.leaf].node)) continue;
    axis_list const& axes = in.g.nodes[o.node].axes;
    step& s = in.add_step(kernel::elementwise, op::copy, o.node, axes);
    in.add_operand(s, in.place(in.g.states[o.leaf].node, axes));
    in.add_operand(s, in.place(o.node, axes));
  }
}

}  // namespace weft::detail
