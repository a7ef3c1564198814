// The builder context of the functions that lower nodes.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/lower/program.hpp"
#include "weft/passes/memory_layout.hpp"

namespace weft::detail {

// The graph, its memory plan and the program that is being built, with functions that append to it.
struct lowering {
  const graph& g;
  const memory_plan& p;
  program_builder& d;

  // Records why there is no program; the first reason is kept. What follows is of no use, but has
  // to be possible.
  constexpr void refuse(model_fault why) {
    if (!refused()) d.count.fault = why;
  }
  constexpr bool refused() const { return d.count.fault != model_fault::none; }
  // Appends to a table, and refuses the model where it is full.
  template <class T, int Most>
  constexpr T& next(T (&table)[Most], int& count, model_fault more) {
    if (count == Most) {
      refuse(more);
      --count;
    }
    return table[count++];
  }
  // Appends the axes that the list does not have.
  constexpr void push_new(axis_list& list, const axis_list& more) {
    for (int a = 0; a < more.count; ++a) {
      if (list.contains(more.at[a])) continue;
      if (list.count == max_rank) return refuse(model_fault::axes);
      list.push(more.at[a]);
    }
  }

  constexpr name_ref intern(std::string_view s) {
    if (d.count.text + static_cast<int>(s.size()) > max_text) {
      refuse(model_fault::names);
      return {};
    }
    const name_ref r{d.count.text, static_cast<int>(s.size())};
    for (const char c : s) d.text[d.count.text++] = c;
    return r;
  }

  constexpr std::int16_t slot(const axis_info* axis) {
    axis = axis->length_axis();
    for (int i = 0; i < d.count.lengths; ++i)
      if (d.length_axes[i] == axis) return static_cast<std::int16_t>(i);
    next(d.lengths, d.count.lengths, model_fault::lengths) = {intern(axis->name), axis->extent,
                                                              axis->least, axis};
    d.length_axes[d.count.lengths - 1] = axis;
    return static_cast<std::int16_t>(d.count.lengths - 1);
  }

  constexpr extent_ref extent(const axis_info* axis) {
    return {axis->extent, static_cast<std::int16_t>(axis->bounded ? slot(axis) + 1 : 0)};
  }

  // Node `id` as an operand of loops over `axes`, with stride 0 for those that it does not have.
  constexpr operand_ref place(int id, const axis_list& axes) {
    const layout& l = p.of[id];
    const node& n = g.nodes[id];
    operand_ref r{};
    r.where = l.where;
    r.leaf = static_cast<std::int16_t>(l.leaf);
    r.type = n.type;
    r.offset = l.offset;
    for (int a = 0; a < axes.count; ++a)
      if (const int at = n.axes.find(axes.at[a]); at >= 0) r.stride[a] = l.stride[at];
    for (int s = 0; s < l.shift_count; ++s) add_shift(r, l.shifts[s].length, l.shifts[s].stride);
    return r;
  }

  constexpr void add_shift(operand_ref& r, const axis_info* length, std::ptrdiff_t stride) {
    if (r.shift_count++ == 0) r.first_shift = d.count.shifts;
    next(d.shifts, d.count.shifts, model_fault::shifts) = {length ? slot(length) : current_step,
                                                           stride};
  }

  constexpr instruction& emit(kernel k, op kind, int id, const axis_list& loops) {
    instruction& s = next(d.instructions, d.count.instructions, model_fault::instructions);
    s.run = k;
    s.kind = kind;
    s.node = id;
    // The last instruction of a table that is full is emitted again and again.
    s.operands = 0;
    if (refused()) d.count.operands = 0;
    s.first_operand = d.count.operands;
    s.scale = 1;
    s.packed = instruction::nowhere;
    s.epilogue = op::copy;
    s.loops = loops.count;
    for (int l = 0; l < loops.count; ++l) s.extent[l] = extent(loops.at[l]);
    return s;
  }

  // Appends a check of elements that belong to an axis, and returns 1 + its index.
  constexpr std::int16_t add_check(index_check check, const axis_info* axis) {
    check.axis = extent(axis);
    check.axis_name = intern(axis->name);
    next(d.index_checks, d.count.index_checks, model_fault::indices) = check;
    return static_cast<std::int16_t>(d.count.index_checks);
  }
  // The same for what instruction s reads, which is computed.
  constexpr void add_check(instruction& s, checked_as of, const axis_info* axis) {
    index_check check{};
    check.input = -1;
    check.of = of;
    s.check = add_check(check, axis);
  }

  // To the instruction that was emitted last.
  constexpr operand_ref& add_operand(instruction& s, const operand_ref& r) {
    ++s.operands;
    return d.operands[d.count.operands++] = r;
  }
  // Adds node `id` as the result of loops over the axes, then its operands.
  constexpr void add_all(instruction& s, int id, const axis_list& loops) {
    add_operand(s, place(id, loops));
    for (int j = 0; j < g.nodes[id].operands; ++j)
      add_operand(s, place(g.nodes[id].operand[j], loops));
  }

  // Emits a copy of node `from` to operand `to`, in loops over the axes of node `id`.
  constexpr void copy(int id, const operand_ref& to, int from) {
    instruction& s = emit(kernel::elementwise, op::copy, id, g.nodes[id].axes);
    add_operand(s, to);
    add_operand(s, place(from, g.nodes[id].axes));
  }

  constexpr bool same_place(int a, int b) const {
    const layout& x = p.of[a];
    const layout& y = p.of[b];
    return x.where == y.where && x.leaf == y.leaf && x.offset == y.offset;
  }
};

}  // namespace weft::detail
#include "weft/header_end.hpp"
