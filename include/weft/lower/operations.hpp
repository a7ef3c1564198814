// The steps of a node.
#pragma once

#include <array>
#include <bit>

#include "weft/graph/chain.hpp"
#include "weft/graph/rotation.hpp"
#include "weft/graph/row_sums.hpp"
#include "weft/lower/attention.hpp"
#include "weft/lower/drafting.hpp"
#include "weft/lower/parts.hpp"
#include "weft/lower/scans.hpp"
#include "weft/lower/write.hpp"

namespace weft::detail {

// Over the blocks of an adjoint's rows.
constexpr void lower_row_sums(drafting& in, int id) {
  node const& n = in.g.nodes[id];
  node const& adjoint = in.g.nodes[n.operand[0]];
  step& s = in.add_step(kernel::reduce, op::sum, id, n.axes);
  s.extent[s.loops] = {blocks_of_rows(adjoint), 0};
  s.over = 1u << s.loops;
  operand_ref sums = in.place(n.operand[0], {});
  sums.offset += row_sums_offset(adjoint, n.start);
  row_major(sums.stride, n.axes);
  sums.stride[s.loops++] = static_cast<std::ptrdiff_t>(n.axes.extent());
  in.add_operand(s, in.place(id, n.axes));
  in.add_operand(s, sums);
}

constexpr unsigned loops_from(const axis_list& loops, int from) {
  unsigned m = 0;
  for (int l = from; l < loops.count; ++l) m |= 1u << l;
  return m;
}

constexpr void lower_elementwise(drafting& in, int id) {
  node const& n = in.g.nodes[id];
  step& s = in.add_step(kernel::elementwise, n.kind, id, n.axes);
  chain const c = chain_of(in.g, id);
  if (c.count == 1 && n.kind != op::dropout) return in.add_all(s, id, n.axes);
  in.add_operand(s, in.place(id, n.axes));
  for (int i = 0; i < c.input_count; ++i) in.add_operand(s, in.place(c.inputs[i], n.axes));
  s.first_link = static_cast<std::int16_t>(in.d.count.links);
  s.link_count = static_cast<std::int8_t>(c.count);
  for (int i = 0; i < c.count; ++i) {
    node const& m = in.g.nodes[c.nodes[i]];
    kernels::chain_link& l = in.d.links[in.d.count.links++];
    l.kind = m.kind;
    l.type = m.type;
    if (m.kind == op::dropout) l.drop = dropping(in.g.nodes[m.operand[1]]);
    for (int j = 0; j < m.operands; ++j) {
      int const input = c.find_input(m.operand[j]);
      l.from[j] = static_cast<std::int8_t>(
          input >= 0 ? input : kernels::max_link_inputs + c.find_node(m.operand[j]));
    }
  }
}

// A step that goes by index along an axis of the node `table`.
constexpr void lower_indexed(drafting& in, step& s, int id, int table, const axis_list& loops) {
  axis_info const* const axis = in.g.nodes[id].named.at[0];
  s.axis = in.extent(axis);
  s.axis_stride = in.p.of[table].stride[in.g.nodes[table].axes.find(axis)];
  in.add_all(s, id, loops);
}

// Along the pairs; where an operand has numbers, a step goes by as many as one pair is from the
// next.
constexpr void lower_rotation(drafting& in, int id) {
  node const& n = in.g.nodes[id];
  axis_info const *const numbers = n.named.at[0], *const pairs = n.named.at[1];
  axis_list loops = n.axes;
  if (int const at = loops.find(numbers); at >= 0) loops.at[at] = pairs;
  int const row = loops.find(pairs);
  step& s = in.add_step(n.kind == op::rotate ? kernel::rotate : kernel::rotate_adjoint, n.kind, id,
                        loops);
  s.over = 1u << row;
  s.scalar = n.scalar;
  s.axis = in.extent(numbers);
  pair_steps const along = pair_steps_of(n);
  s.axis_stride = static_cast<std::ptrdiff_t>(along.partner);
  auto const add = [&](int node) {
    operand_ref r = in.place(node, loops);
    // A single pair's second number is one behind its first, however pairs are called.
    auto const next = static_cast<std::ptrdiff_t>(along.partner == 1 ? 2 : along.next);
    if (int const at = in.g.nodes[node].axes.find(numbers); at >= 0)
      r.stride[row] = in.p.of[node].stride[at] * next;
    in.add_operand(s, r);
  };
  add(id);
  for (int j = 0; j < n.operands; ++j) add(n.operand[j]);
}

constexpr void write_constant(drafting& in, const node& n, std::size_t offset) {
  std::uint32_t const bits =
      n.type == element::float32 ? std::bit_cast<std::uint32_t>(static_cast<float>(n.scalar))
      : n.type == element::int32 ? static_cast<std::uint32_t>(static_cast<std::int32_t>(n.scalar))
                                 : static_cast<std::uint32_t>(n.scalar != 0);
  auto const raw = std::bit_cast<std::array<std::byte, 4>>(bits);
  for (std::size_t i = 0; i < 4; ++i) in.d.constants[offset + i] = raw[i];
}

constexpr void lower_node(drafting& in, int id) {
  node const& n = in.g.nodes[id];
  if (is_leaf(n.kind)) {
    if (n.kind == op::constant) write_constant(in, n, in.p.of[id].offset);
  } else if (n.inner) {
    return;  // its chain's step computes it
  } else if (is_view(n.kind)) {
    if (in.p.of[id].root == id) lower_merge(in, id);
  } else if (is_elementwise(n.kind)) {
    lower_elementwise(in, id);
  } else if (is_reduction(n.kind)) {
    axis_list loops = n.axes;
    push_new(loops, in.g.nodes[n.operand[0]].axes);
    step& s = in.add_step(kernel::reduce, n.kind, id, loops);
    s.over = loops_from(loops, n.axes.count);
    in.add_all(s, id, loops);
  } else if (is_rowwise(n.kind)) {
    step& s = in.add_step(kernel::rowwise, n.kind, id, n.axes);
    s.scalar = n.scalar;
    s.scale = n.scale;
    for (int a = 0; a < n.named.count; ++a) s.over |= 1u << n.axes.find(n.named.at[a]);
    if (has_row_sums(n)) {
      s.axis = {blocks_of_rows(n), 0};
      s.axis_stride = static_cast<std::ptrdiff_t>(row_sums_offset(n, 0) / 4);
    }
    in.add_all(s, id, n.axes);
  } else if (n.kind == op::row_sums) {
    lower_row_sums(in, id);
  } else if (n.kind == op::dot) {
    axis_list loops = n.axes;
    push_new(loops, in.g.nodes[n.operand[0]].axes);
    push_new(loops, in.g.nodes[n.operand[1]].axes);
    step& s = in.add_step(kernel::dot, n.kind, id, loops);
    s.scale = n.scale;
    s.then = n.then;
    in.add_all(s, id, loops);
  } else if (n.kind == op::attention) {
    lower_attention(in, id, id);
  } else if (n.kind == op::attention_adjoint) {
    lower_attention(in, id, n.operand[3]);
  } else if (n.kind == op::gather) {
    lower_indexed(in, in.add_step(kernel::gather, n.kind, id, n.axes), id, n.operand[0], n.axes);
  } else if (n.kind == op::scatter_add) {
    axis_list const loops = in.g.nodes[n.operand[0]].axes;
    lower_indexed(in, in.add_step(kernel::scatter_add, n.kind, id, loops), id, id, loops);
  } else if (n.kind == op::write) {
    lower_write(in, id);
  } else if (n.kind == op::rotate || n.kind == op::rotate_adjoint) {
    lower_rotation(in, id);
  } else if (n.kind == op::positions) {
    in.add_all(in.add_step(kernel::positions, n.kind, id, n.axes), id, n.axes);
  } else if (n.kind == op::length) {
    in.add_all(in.add_step(kernel::length, n.kind, id, n.named), id, n.named);
  } else if (n.kind == op::concatenate) {
    lower_concatenation(in, id);
  } else if (n.kind == op::stack) {
    lower_stack(in, id);
  } else if (n.kind == op::next) {
    if (in.p.of[id].root == id)
      in.copy(id, in.place(id, n.axes), n.operand[1]);
    else if (n.operand[1] != n.operand[0])
      in.copy(id, in.place(n.operand[0], n.axes), n.operand[1]);
  } else if (n.kind == op::place) {
    in.add_operand(in.add_step(kernel::zero, n.kind, id, n.axes), in.place(id, n.axes));
    copy_part(in, id, n.operand[0], n.named.at[0], n.start, n.named, 1);
  } else if (n.kind == op::overlap_add) {
    lower_overlap(in, id);
  }
}

}  // namespace weft::detail
