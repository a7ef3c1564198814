// From a graph and its memory plan to the steps of a program, while compiling.
#pragma once

#include <array>
#include <bit>
#include <stdexcept>

#include "weft/graph/chain.hpp"
#include "weft/graph/lengths.hpp"
#include "weft/graph/packed.hpp"
#include "weft/graph/rotation.hpp"
#include "weft/graph/scan.hpp"
#include "weft/kernels/attention_adjoint_scratch.hpp"
#include "weft/kernels/attention_scratch.hpp"
#include "weft/kernels/philox.hpp"
#include "weft/kernels/scratch.hpp"
#include "weft/lower/program.hpp"

namespace weft {

// Reached while compiling, these functions' names are what the compiler prints.
inline void the_model_has_more_axes_with_lengths_known_at_run_time_than_max_lengths() {
  throw std::length_error(
      "lower: the model has more axes with lengths known at run time than max_lengths");
}
inline void the_model_has_more_inputs_than_max_inputs() {
  throw std::length_error("lower: the model has more inputs than max_inputs");
}
inline void an_operation_has_more_than_8_axes_in_all() {
  throw std::length_error("lower: an operation has more than 8 axes in all");
}

inline void the_model_has_more_attentions_than_max_attentions() {
  throw std::length_error("lower: the model has more attentions than max_attentions");
}

inline void the_model_has_more_writes_than_max_writes() {
  throw std::length_error("lower: the model has more writes than max_writes");
}

// A program while it is being made: the tables have room to spare.
struct program_draft {
  step steps[2 * max_nodes]{};
  int step_count = 0;
  input_ref inputs[max_leaves]{};
  int input_count = 0;
  parameter_ref parameters[max_leaves]{};
  int parameter_count = 0;
  state_ref states[max_states]{};
  int state_count = 0;
  write_rule writes[max_writes]{};
  int write_count = 0;
  result_ref results[max_outputs]{};
  int result_count = 0;
  length_ref lengths[max_lengths]{};
  const axis_info* length_axes[max_lengths]{};
  int length_count = 0;
  length_rule_ref rules[max_rules]{};
  int rule_count = 0;
  length_requirement requirements[max_nodes]{};
  int requirement_count = 0;
  shift_ref shifts[max_nodes]{};
  int shift_count = 0;
  loop_ref loops[max_regions]{};
  int loop_count = 0;
  attention_ref attentions[max_attentions]{};
  int attention_count = 0;
  kernels::chain_link links[max_nodes]{};
  int link_count = 0;
  std::byte constants[4 * max_nodes]{};
  char text[max_text]{};
  int text_size = 0;
  std::size_t constant_bytes = 0;
  std::size_t parameter_bytes = 0;
  std::size_t gradient_bytes = 0;
  std::size_t state_bytes = 0;
  std::size_t workspace_bytes = 0;
  std::size_t scratch_offset = 0;
  std::size_t scratch_bytes = 0;
  std::size_t packed_bytes = 0;
  std::size_t once_bytes = 0;
  int once = 0;
};

// The call of a step at the bounds of all lengths, without pointers: what it takes at most.
constexpr kernels::call call_at_bounds(const step& s) {
  kernels::call c;
  c.kind = s.kind;
  c.loops = s.loops;
  c.over = s.over;
  for (int l = 0; l < s.loops; ++l) c.extent[l] = static_cast<std::ptrdiff_t>(s.extent[l].most);
  for (int o = 0; o < s.operands; ++o) {
    c.operands[o].type = s.operand[o].type;
    for (int l = 0; l < s.loops; ++l) c.operands[o].stride[l] = s.operand[o].stride[l];
  }
  c.scalar = s.scalar;
  c.scale = s.scale;
  c.then = s.then;
  c.axis_extent = static_cast<std::ptrdiff_t>(s.axis.most);
  c.axis_stride = s.axis_stride;
  return c;
}

// The same for an attention.
constexpr kernels::attention_call call_at_bounds(const step& s, const attention_ref& a) {
  auto c = attention_call_of(s, a, [&](kernels::operand& to, const operand_ref& from) {
    to.type = from.type;
    for (int l = 0; l < s.loops; ++l) to.stride[l] = from.stride[l];
  });
  for (int l = 0; l < s.loops; ++l) c.extent[l] = static_cast<std::ptrdiff_t>(s.extent[l].most);
  return c;
}

namespace detail {

class lowering {
 public:
  constexpr lowering(const graph& g, const memory_plan& p, program_draft& d)
      : g_(g), p_(p), d_(d) {}

  constexpr void run() {
    lower_ends();
    lower_rules();
    require_lengths();
    int i = 0;
    for (; i < g_.count && g_.nodes[i].once; ++i) lower(i);
    d_.once = d_.step_count;
    clear_gradients();
    for (; i < g_.count; ++i) {
      begin_loop(i);
      lower(i);
      end_loop(i);
    }
    copy_gradients();
    store_states();
    lay_out_workspace();
    lay_out_packed();
  }

 private:
  constexpr name_ref intern(std::string_view s) {
    name_ref const r{d_.text_size, static_cast<int>(s.size())};
    for (char const c : s) d_.text[d_.text_size++] = c;
    return r;
  }

  constexpr std::int16_t slot(const axis_info* axis) {
    axis = axis->length_axis();
    for (int i = 0; i < d_.length_count; ++i)
      if (d_.length_axes[i] == axis) return static_cast<std::int16_t>(i);
    if (d_.length_count == max_lengths)
      the_model_has_more_axes_with_lengths_known_at_run_time_than_max_lengths();
    d_.length_axes[d_.length_count] = axis;
    d_.lengths[d_.length_count] = {intern(axis->name), axis->extent};
    return static_cast<std::int16_t>(d_.length_count++);
  }
  constexpr extent_ref extent(const axis_info* axis) {
    return {axis->extent, static_cast<std::int16_t>(axis->bounded ? slot(axis) + 1 : 0)};
  }

  // ---- what goes in and comes out

  constexpr void lower_ends() {
    if (g_.input_count > max_inputs) the_model_has_more_inputs_than_max_inputs();
    for (int i = 0; i < g_.input_count; ++i) {
      node const& n = g_.nodes[g_.inputs[i].node];
      input_ref& r = d_.inputs[d_.input_count++];
      r.name = intern(g_.name(g_.inputs[i].name));
      r.type = n.type;
      r.rank = n.axes.count;
      for (int a = 0; a < n.axes.count; ++a) {
        r.extent[a] = extent(n.axes.at[a]);
        r.axis_name[a] = intern(n.axes.at[a]->name);
      }
    }
    for (int i = 0; i < g_.count; ++i) {  // which inputs are indices?
      node const& n = g_.nodes[i];
      if (place_of_indices(n) < 0) continue;
      int index = n.operand[place_of_indices(n)];
      while (is_view(g_.nodes[index].kind)) index = g_.nodes[index].operand[0];
      if (g_.nodes[index].kind != op::input) continue;
      input_ref& r = d_.inputs[g_.nodes[index].leaf];
      extent_ref const e = extent(n.named.at[0]);
      if (r.picks_from_name.size > 0 && r.picks_from.most <= e.most) continue;
      r.picks_from = e;
      r.picks_from_name = intern(n.named.at[0]->name);
    }
    for (int i = 0; i < g_.parameter_count; ++i) {
      axis_list const& axes = g_.nodes[g_.parameters[i].node].axes;
      parameter_ref& r = d_.parameters[d_.parameter_count++];
      r.name = intern(g_.name(g_.parameters[i].name));
      r.init = g_.parameters[i].init;
      r.offset = p_.parameter_offset[i];
      r.rank = axes.count;
      for (int a = 0; a < axes.count; ++a) r.extent[a] = axes.at[a]->extent;
      r.size = axes.extent();
    }
    for (int i = 0; i < g_.state_count; ++i) {
      node const& n = g_.nodes[g_.states[i].node];
      state_ref& r = d_.states[d_.state_count++];
      r.name = intern(g_.name(g_.states[i].name));
      r.type = n.type;
      r.offset = p_.of[g_.states[i].node].offset;
      r.rank = n.axes.count;
      for (int a = 0; a < n.axes.count; ++a) r.extent[a] = n.axes.at[a]->extent;
      r.bytes = bytes_of(n);
    }
    for (int i = 0; i < g_.output_count; ++i) {
      if (g_.outputs[i].kind == role::gradient) d_.gradient_bytes = p_.parameter_bytes;
      if (g_.outputs[i].kind != role::result) continue;
      node const& n = g_.nodes[g_.outputs[i].node];
      result_ref& r = d_.results[d_.result_count++];
      r.name = intern(g_.name(g_.outputs[i].name));
      r.rank = n.axes.count;
      for (int a = 0; a < n.axes.count; ++a) r.extent[a] = extent(n.axes.at[a]);
      r.at = place(g_.outputs[i].node, n.axes);
    }
    d_.parameter_bytes = p_.parameter_bytes;
    d_.state_bytes = p_.state_bytes;
    d_.constant_bytes = p_.constant_bytes;
    d_.once_bytes = p_.once_bytes;
  }

  constexpr void lower_rules() {
    for (int i = 0; i < g_.rule_count; ++i) {
      length_rule const& from = g_.rules[i];
      length_rule_ref& r = d_.rules[d_.rule_count++];
      r = {slot(from.target), 0, {}, from.add, from.multiply, from.divide, from.rounds_down};
      for (int s = 0; s < from.sources.count; ++s)
        r.sources[r.source_count++] = slot(from.sources.at[s]);
    }
  }

  // A slice of fixed extent, or from a fixed start, must lie inside its operand.
  constexpr void require_lengths() {
    for (int i = 0; i < g_.count; ++i) {
      node const& n = g_.nodes[i];
      if (n.kind != op::slice || !n.named.at[0]->bounded || n.named.count > 1) continue;
      axis_info const* const to = n.axes.at[g_.nodes[n.operand[0]].axes.find(n.named.at[0])];
      std::size_t const least = static_cast<std::size_t>(n.start) + (to->bounded ? 0 : to->extent);
      if (least > 0) d_.requirements[d_.requirement_count++] = {slot(n.named.at[0]), least};
    }
  }

  // ---- operands and steps

  // Node id as an operand of loops over the axes: a stride of 0 for those that it does not have.
  constexpr operand_ref place(int id, const axis_list& axes) {
    layout const& l = p_.of[id];
    node const& n = g_.nodes[id];
    operand_ref r{};
    r.where = l.where;
    r.input = static_cast<std::int16_t>(l.input);
    r.type = n.type;
    r.offset = l.offset;
    for (int a = 0; a < axes.count; ++a)
      if (int const at = n.axes.find(axes.at[a]); at >= 0) r.stride[a] = l.stride[at];
    for (int s = 0; s < l.shift_count; ++s) add_shift(r, l.shifts[s].length, l.shifts[s].stride);
    return r;
  }
  constexpr void add_shift(operand_ref& r, const axis_info* length, std::ptrdiff_t stride) {
    if (r.shift_count++ == 0) r.first_shift = static_cast<std::int16_t>(d_.shift_count);
    d_.shifts[d_.shift_count++] = {length ? slot(length) : current_step, stride};
  }

  constexpr step& add_step(kernel k, op kind, int id, const axis_list& loops) {
    step& s = d_.steps[d_.step_count++];
    s.run = k;
    s.kind = kind;
    s.node = id;
    s.scale = 1;
    s.packed = not_packed;
    s.then = op::copy;
    s.loops = loops.count;
    for (int l = 0; l < loops.count; ++l) s.extent[l] = extent(loops.at[l]);
    return s;
  }
  constexpr void add_operand(step& s, const operand_ref& r) { s.operand[s.operands++] = r; }
  // The node as the result of loops over the axes, then its operands.
  constexpr void add_all(step& s, int id, const axis_list& loops) {
    add_operand(s, place(id, loops));
    for (int j = 0; j < g_.nodes[id].operands; ++j)
      add_operand(s, place(g_.nodes[id].operand[j], loops));
  }
  static constexpr void push_new(axis_list& list, const axis_list& more) {
    for (int a = 0; a < more.count; ++a) {
      if (list.contains(more.at[a])) continue;
      if (list.count == max_rank) an_operation_has_more_than_8_axes_in_all();
      list.push(more.at[a]);
    }
  }

  constexpr void lower(int id) {
    node const& n = g_.nodes[id];
    if (is_leaf(n.kind)) {
      if (n.kind == op::constant) write_constant(n, p_.of[id].offset);
    } else if (n.inner) {
      return;  // its chain's step computes it
    } else if (is_view(n.kind)) {
      if (p_.of[id].root == id) copy_merged(id);
    } else if (is_elementwise(n.kind)) {
      elementwise(id);
    } else if (is_reduction(n.kind)) {
      axis_list loops = n.axes;
      push_new(loops, g_.nodes[n.operand[0]].axes);
      step& s = add_step(kernel::reduce, n.kind, id, loops);
      s.over = mask(loops, n.axes.count);
      add_all(s, id, loops);
    } else if (is_rowwise(n.kind)) {
      step& s = add_step(kernel::rowwise, n.kind, id, n.axes);
      s.scalar = n.scalar;
      s.scale = n.scale;
      for (int a = 0; a < n.named.count; ++a) s.over |= 1u << n.axes.find(n.named.at[a]);
      if (has_row_sums(n)) {
        s.axis = {blocks_of_rows(n), 0};
        s.axis_stride = static_cast<std::ptrdiff_t>(row_sums_offset(n, 0) / 4);
      }
      add_all(s, id, n.axes);
    } else if (n.kind == op::row_sums) {
      add_row_sums(id);
    } else if (n.kind == op::dot) {
      axis_list loops = n.axes;
      push_new(loops, g_.nodes[n.operand[0]].axes);
      push_new(loops, g_.nodes[n.operand[1]].axes);
      step& s = add_step(kernel::dot, n.kind, id, loops);
      s.scale = n.scale;
      s.then = n.then;
      add_all(s, id, loops);
    } else if (n.kind == op::attention) {
      attend(id, id);
    } else if (n.kind == op::attention_adjoint) {
      attend(id, n.operand[3]);
    } else if (n.kind == op::gather) {
      index(add_step(kernel::gather, n.kind, id, n.axes), id, n.operand[0], n.axes);
    } else if (n.kind == op::scatter_add) {
      axis_list const loops = g_.nodes[n.operand[0]].axes;
      index(add_step(kernel::scatter_add, n.kind, id, loops), id, id, loops);
    } else if (n.kind == op::write) {
      write(id);
    } else if (n.kind == op::rotate || n.kind == op::rotate_adjoint) {
      rotate(id);
    } else if (n.kind == op::positions) {
      add_all(add_step(kernel::positions, n.kind, id, n.axes), id, n.axes);
    } else if (n.kind == op::length) {
      add_all(add_step(kernel::length, n.kind, id, n.named), id, n.named);
    } else if (n.kind == op::concatenate) {
      concatenate(id);
    } else if (n.kind == op::stack) {
      stack(id);
    } else if (n.kind == op::next) {
      if (p_.of[id].root == id)
        copy(id, place(id, n.axes), n.operand[1]);
      else if (n.operand[1] != n.operand[0])
        copy(id, place(n.operand[0], n.axes), n.operand[1]);
    } else if (n.kind == op::place) {
      add_operand(add_step(kernel::zero, n.kind, id, n.axes), place(id, n.axes));
      copy_part(id, n.operand[0], n.named.at[0], n.start, n.named, 1);
    } else if (n.kind == op::overlap_add) {
      overlap_add(id);
    }
  }

  // Over the blocks of an adjoint's rows.
  constexpr void add_row_sums(int id) {
    node const& n = g_.nodes[id];
    node const& adjoint = g_.nodes[n.operand[0]];
    step& s = add_step(kernel::reduce, op::sum, id, n.axes);
    s.extent[s.loops] = {blocks_of_rows(adjoint), 0};
    s.over = 1u << s.loops;
    operand_ref sums = place(n.operand[0], {});
    sums.offset += row_sums_offset(adjoint, n.start);
    row_major(sums.stride, n.axes);
    sums.stride[s.loops++] = static_cast<std::ptrdiff_t>(n.axes.extent());
    add_operand(s, place(id, n.axes));
    add_operand(s, sums);
  }

  // ---- scans

  // Copies node `from` into an operand over the axes of node id.
  constexpr void copy(int id, const operand_ref& to, int from) {
    step& s = add_step(kernel::elementwise, op::copy, id, g_.nodes[id].axes);
    add_operand(s, to);
    add_operand(s, place(from, g_.nodes[id].axes));
  }
  // Into the place of the current step.
  constexpr void stack(int id) {
    axis_list const& axes = g_.nodes[g_.nodes[id].operand[0]].axes;
    operand_ref to = place(id, axes);
    axis_info const* const axis = g_.nodes[id].named.at[0];
    add_shift(to, nullptr, p_.of[id].stride[g_.nodes[id].axes.find(axis)]);
    step& s = add_step(kernel::elementwise, op::copy, id, axes);
    add_operand(s, to);
    add_operand(s, place(g_.nodes[id].operand[0], axes));
  }

  // A body's nodes follow one another. Before the first, carries get their beginning.
  constexpr void begin_loop(int id) {
    int const body = loop_of(g_, id);
    if (body == 0 || (id > 0 && loop_of(g_, id - 1) == body)) return;
    for (int i = id; i < g_.count && loop_of(g_, i) == body; ++i)
      if (g_.nodes[i].kind == op::carry)
        copy(i, place(i, g_.nodes[i].axes), g_.nodes[i].operand[0]);
    region const& r = g_.regions[body - 1];
    d_.loops[d_.loop_count++] = {d_.step_count, d_.step_count, r.axis, extent(r.axis), r.backwards};
  }
  // After the last, carries get what had to wait for the end of the step.
  constexpr void end_loop(int id) {
    int const body = loop_of(g_, id);
    if (body == 0 || (id + 1 < g_.count && loop_of(g_, id + 1) == body)) return;
    for (int i = id; i >= 0 && g_.nodes[i].kind == op::next; --i)
      if (p_.of[i].root == i) copy(i, place(g_.nodes[i].operand[0], g_.nodes[i].axes), i);
    loop_ref& loop = d_.loops[d_.loop_count - 1];
    loop.last = d_.step_count;
    if (loop.first == loop.last) --d_.loop_count;  // nothing but views
  }

  // The attention `forward`, or its adjoint.
  constexpr void attend(int id, int forward) {
    node const& n = g_.nodes[id];
    attention_axes const axes = attention_axes_of(g_, n);
    axis_info const *const query = axes.query, *const key = axes.key, *const depth = axes.depth,
                           *const value = axes.value, *const distance = axes.distance;
    axis_list const& loops = axes.batch;  // then the four of the operation
    // Which axes an operand has in the place of the four.
    struct own_axes {
      axis_info const* at[4];
    };
    step& s = add_step(n.kind == op::attention ? kernel::attention : kernel::attention_adjoint,
                       n.kind, id, loops);
    for (axis_info const* axis : {query, key, depth, value})
      s.extent[s.loops++] = axis ? extent(axis) : extent_ref{1, 0};
    s.scale = n.scale;
    s.scalar = n.scalar;
    s.attention = static_cast<std::int16_t>(d_.attention_count);
    if (d_.attention_count == max_attentions) the_model_has_more_attentions_than_max_attentions();
    attention_ref& a = d_.attentions[d_.attention_count++];
    a.lowest = n.lowest;
    a.highest = n.highest;
    a.length_more = n.start;
    a.origin = n.origin;
    if (distance) a.distances = static_cast<std::int64_t>(distance->extent);
    // An operand's strides in the loops: depth and value axis may be the same, so the axes that it
    // has do not tell which loops they are.
    auto const with_strides = [&](operand_ref r, const axis_list& has, const std::ptrdiff_t* stride,
                                  const own_axes& own) {
      for (int l = 0; l < max_rank; ++l) r.stride[l] = 0;
      for (int l = 0; l < s.loops; ++l) {
        axis_info const* const axis = l < loops.count ? loops.at[l] : own.at[l - loops.count];
        if (int const at = axis ? has.find(axis) : -1; at >= 0) r.stride[l] = stride[at];
      }
      return r;
    };
    auto const operand = [&](int node, const own_axes& own) {
      axis_list const& has = g_.nodes[node].axes;
      return with_strides(place(node, has), has, p_.of[node].stride, own);
    };
    auto const behind = [&](int node, std::size_t offset, const axis_list& has,
                            const own_axes& own) {  // the results that follow a node's first
      std::ptrdiff_t stride[max_rank]{};
      row_major(stride, has);
      operand_ref r = place(node, {});
      r.offset += offset;
      r.type = element::float32;
      return with_strides(r, has, stride, own);
    };
    own_axes const of_query{query, nullptr, depth, nullptr}, of_key{nullptr, key, depth, nullptr},
        of_value{nullptr, key, nullptr, value}, of_result{query, nullptr, nullptr, value},
        of_scores{query, key, nullptr, nullptr}, of_table{query, distance, nullptr, nullptr};
    a.query = operand(n.operand[0], of_query);
    a.key = operand(n.operand[1], of_key);
    a.value = operand(n.operand[2], of_value);
    auto const option = [&](attention_option what, const own_axes& own, operand_ref& to) {
      if (has_option(n, what)) to = operand(find_option(n, what), own);
      return has_option(n, what);
    };
    a.has_mask = option(attention_option::mask, of_scores, a.mask);
    a.has_bias = option(attention_option::bias, of_scores, a.bias);
    a.has_offset = option(attention_option::offset, {}, a.offset);
    a.has_lengths = option(attention_option::lengths, {}, a.lengths);
    a.has_relative = option(attention_option::relative, of_table, a.relative);
    if (option(attention_option::dropout, of_scores, a.numbers))
      a.drop = dropping(g_.nodes[find_option(n, attention_option::dropout)]);
    node const& f = g_.nodes[forward];
    a.result = operand(forward, of_result);
    a.statistics = behind(forward, statistics_offset(f), attention_rows(f), {query});
    add_operand(s, a.result);
    if (id == forward) return;
    a.g = operand(n.operand[4], of_result);
    attention_parts const parts = parts_of(n);
    int part = 0;
    auto const gradient = [&](const own_axes& own) {
      axis_list const& has = g_.nodes[parts.of[part]].axes;
      return behind(id, part_offset(g_, n, part++), has, own);
    };
    a.query_gradient = s.operand[0] = gradient(of_query);
    a.key_gradient = gradient(of_key);
    a.value_gradient = gradient(of_value);
    a.has_bias_gradient = has_option(n, attention_option::bias_gradient);
    a.has_relative_gradient = has_option(n, attention_option::relative_gradient);
    if (a.has_bias_gradient) a.bias_gradient = gradient(of_scores);
    if (a.has_relative_gradient) a.relative_gradient = gradient(of_table);
  }

  static constexpr kernels::dropping dropping(const node& numbers) {
    return {static_cast<std::uint32_t>(numbers.start), kernels::drop_below(numbers.scalar)};
  }

  static constexpr unsigned mask(const axis_list& loops, int from) {
    unsigned m = 0;
    for (int l = from; l < loops.count; ++l) m |= 1u << l;
    return m;
  }

  constexpr void elementwise(int id) {
    node const& n = g_.nodes[id];
    step& s = add_step(kernel::elementwise, n.kind, id, n.axes);
    chain const c = chain_of(g_, id);
    if (c.count == 1 && n.kind != op::dropout) return add_all(s, id, n.axes);
    add_operand(s, place(id, n.axes));
    for (int i = 0; i < c.input_count; ++i) add_operand(s, place(c.inputs[i], n.axes));
    s.first_link = static_cast<std::int16_t>(d_.link_count);
    s.link_count = static_cast<std::int8_t>(c.count);
    for (int i = 0; i < c.count; ++i) {
      node const& m = g_.nodes[c.nodes[i]];
      kernels::chain_link& l = d_.links[d_.link_count++];
      l.kind = m.kind;
      l.type = m.type;
      if (m.kind == op::dropout) l.drop = dropping(g_.nodes[m.operand[1]]);
      for (int j = 0; j < m.operands; ++j) {
        int const input = c.find_input(m.operand[j]);
        l.from[j] = static_cast<std::int8_t>(
            input >= 0 ? input : kernels::max_link_inputs + c.find_node(m.operand[j]));
      }
    }
  }

  // A step that goes by index along an axis of the node `table`.
  constexpr void index(step& s, int id, int table, const axis_list& loops) {
    axis_info const* const axis = g_.nodes[id].named.at[0];
    s.axis = extent(axis);
    s.axis_stride = p_.of[table].stride[g_.nodes[table].axes.find(axis)];
    add_all(s, id, loops);
  }

  // Along the pairs; where an operand has numbers, a step goes by as many as one pair is from the
  // next.
  constexpr void rotate(int id) {
    node const& n = g_.nodes[id];
    axis_info const *const numbers = n.named.at[0], *const pairs = n.named.at[1];
    axis_list loops = n.axes;
    if (int const at = loops.find(numbers); at >= 0) loops.at[at] = pairs;
    int const row = loops.find(pairs);
    step& s =
        add_step(n.kind == op::rotate ? kernel::rotate : kernel::rotate_adjoint, n.kind, id, loops);
    s.over = 1u << row;
    s.scalar = n.scalar;
    s.axis = extent(numbers);
    pair_steps const along = pair_steps_of(n);
    s.axis_stride = static_cast<std::ptrdiff_t>(along.partner);
    auto const add = [&](int node) {
      operand_ref r = place(node, loops);
      // A single pair's second number is one behind its first, however pairs are called.
      auto const next = static_cast<std::ptrdiff_t>(along.partner == 1 ? 2 : along.next);
      if (int const at = g_.nodes[node].axes.find(numbers); at >= 0)
        r.stride[row] = p_.of[node].stride[at] * next;
      add_operand(s, r);
    };
    add(id);
    for (int j = 0; j < n.operands; ++j) add(n.operand[j]);
  }

  // Rows go to where the buffer has their axis; the buffer itself too, if it is not there.
  constexpr void write(int id) {
    node const& n = g_.nodes[id];
    axis_info const* const into = n.named.at[0];
    if (!same_place(id, n.operand[0])) {
      step& copy = add_step(kernel::elementwise, op::copy, id, n.axes);
      add_operand(copy, place(id, n.axes));
      add_operand(copy, place(n.operand[0], n.axes));
    }
    axis_list loops{};
    for (int a = 0; a < n.axes.count; ++a)
      loops.push(n.axes.at[a] == into ? n.named.at[1] : n.axes.at[a]);
    step& s = add_step(kernel::write, n.kind, id, loops);
    s.axis = extent(into);
    s.axis_stride = p_.of[id].stride[n.axes.find(into)];
    s.over = 1u << n.axes.find(into);
    add_operand(s, place(id, loops));
    s.operand[0].stride[n.axes.find(into)] = s.axis_stride;
    for (int j = 1; j < n.operands; ++j) add_operand(s, place(n.operand[j], loops));
    require_room(id);
  }
  constexpr bool same_place(int a, int b) const {
    layout const& x = p_.of[a];
    layout const& y = p_.of[b];
    return x.where == y.where && x.offset == y.offset;
  }

  // What can be checked of a write before a run; once for all that put rows at the same places.
  constexpr void require_room(int id) {
    node const& n = g_.nodes[id];
    auto const at_the_same_places = [&](const node& m) {
      return m.kind == op::write && m.operands == n.operands && m.operand[2] == n.operand[2] &&
             m.operand[3] == n.operand[3] && m.named == n.named;
    };
    for (int i = 0; i < id; ++i)
      if (at_the_same_places(g_.nodes[i])) return;
    auto const axes_of = [&](int j) {
      return j < n.operands ? g_.nodes[n.operand[j]].axes : axis_list{};
    };
    axis_list loops = axes_of(2);
    push_new(loops, axes_of(3));
    write_rule r{};
    r.loops = loops.count;
    for (int l = 0; l < loops.count; ++l) r.extent[l] = extent(loops.at[l]);
    r.at = known(n.operand[2], loops);
    if (n.operands > 3) {
      r.count = known(n.operand[3], loops);
      if (!r.count.is_known) r.at.is_known = false;
    }
    if (!r.at.is_known && !r.count.is_known) return;
    r.room = extent(n.named.at[0]);
    r.room_name = intern(n.named.at[0]->name);
    r.rows = extent(n.named.at[1]);
    r.rows_name = intern(n.named.at[1]->name);
    if (d_.write_count == max_writes) the_model_has_more_writes_than_max_writes();
    d_.writes[d_.write_count++] = r;
  }

  constexpr known_number known(int id, const axis_list& loops) {
    known_number k{};
    axis_list const& axes = g_.nodes[id].axes;
    int root = id;
    while (g_.nodes[root].kind == op::rename) root = g_.nodes[root].operand[0];
    node const& n = g_.nodes[root];
    if (n.kind != op::input && n.kind != op::state) return k;
    bool const is_input = n.kind == op::input;
    k.is_known = true;
    k.input = static_cast<std::int16_t>(is_input ? n.leaf : -1);
    operand_ref const r = place(id, loops);
    k.offset = is_input ? 0 : r.offset;
    for (int l = 0; l < loops.count; ++l) {
      k.axis[l] = static_cast<std::int8_t>(axes.find(loops.at[l]));
      k.stride[l] = r.stride[l];
    }
    k.name = is_input ? d_.inputs[n.leaf].name : d_.states[n.leaf].name;
    return k;
  }

  // Copies operand `from` to where the result has it along `axis`, beginning at `start` and the
  // lengths of the axes in `after` from the given place on.
  constexpr void copy_part(int id, int from, const axis_info* axis, std::int64_t start,
                           const axis_list& after, int first_after) {
    axis_list const& loops = g_.nodes[from].axes;
    int const at = g_.nodes[id].axes.find(axis);
    std::ptrdiff_t const stride = p_.of[id].stride[at];
    operand_ref to = place(id, loops);
    for (int l = 0; l < loops.count; ++l)  // the operand's axis has another name
      if (!g_.nodes[id].axes.contains(loops.at[l])) to.stride[l] = stride;
    to.offset += static_cast<std::size_t>(start * stride * bytes(g_.nodes[id].type));
    for (int j = first_after; j < after.count; ++j) add_shift(to, after.at[j], stride);
    step& s = add_step(kernel::elementwise, op::copy, id, loops);
    add_operand(s, to);
    add_operand(s, place(from, loops));
  }

  // For each place in a window, all windows at once: no two of them meet there.
  constexpr void overlap_add(int id) {
    node const& n = g_.nodes[id];
    int const from = n.operand[0];
    axis_list const& axes = g_.nodes[from].axes;
    int const tap = axes.find(n.named.at[2]);
    axis_list loops{};
    for (int a = 0; a < axes.count; ++a)
      if (a != tap) loops.push(axes.at[a]);
    add_operand(add_step(kernel::zero, n.kind, id, n.axes), place(id, n.axes));
    std::ptrdiff_t const stride = p_.of[id].stride[n.axes.find(n.named.at[0])];
    operand_ref to = place(id, loops), part = place(from, loops);
    to.stride[loops.find(n.named.at[1])] = stride * n.lowest;
    for (std::size_t t = 0; t < n.named.at[2]->extent; ++t) {
      step& s = add_step(kernel::elementwise, op::add, id, loops);
      for (operand_ref const& o : {to, to, part}) add_operand(s, o);
      to.offset += static_cast<std::size_t>(stride * n.highest * bytes(n.type));
      part.offset += static_cast<std::size_t>(p_.of[from].stride[tap] * bytes(n.type));
    }
  }

  constexpr void concatenate(int id) {
    node const& n = g_.nodes[id];
    axis_info const* const whole = n.axes.at[g_.nodes[n.operand[0]].axes.find(n.named.at[0])];
    std::int64_t start = 0;
    axis_list after{};
    for (int j = 0; j < n.operands; ++j) {
      if (p_.of[n.operand[j]].root != id) copy_part(id, n.operand[j], whole, start, after, 0);
      if (n.named.at[j]->bounded)
        after.push(n.named.at[j]);
      else
        start += static_cast<std::int64_t>(n.named.at[j]->extent);
    }
  }

  constexpr void copy_merged(int id) {
    node const& n = g_.nodes[id];
    axis_list const& loops = g_.nodes[n.operand[0]].axes;
    operand_ref to = place(id, loops);
    std::ptrdiff_t stride = p_.of[id].stride[n.axes.find(new_axis(n.axes, loops))];
    for (int j = n.named.count - 1; j >= 0; --j) {
      to.stride[loops.find(n.named.at[j])] = stride;
      stride *= static_cast<std::ptrdiff_t>(n.named.at[j]->extent);
    }
    step& s = add_step(kernel::elementwise, op::copy, id, loops);
    add_operand(s, to);
    add_operand(s, place(n.operand[0], loops));
  }

  constexpr void write_constant(const node& n, std::size_t offset) {
    std::uint32_t const bits =
        n.type == element::float32 ? std::bit_cast<std::uint32_t>(static_cast<float>(n.scalar))
        : n.type == element::int32 ? static_cast<std::uint32_t>(static_cast<std::int32_t>(n.scalar))
                                   : static_cast<std::uint32_t>(n.scalar != 0);
    auto const raw = std::bit_cast<std::array<std::byte, 4>>(bits);
    for (std::size_t i = 0; i < 4; ++i) d_.constants[offset + i] = raw[i];
  }

  // ---- gradients

  // Loops over a parameter's axes run to the lengths; beyond them its gradient is 0.
  constexpr void clear_gradients() {
    for (int i = 0; i < g_.output_count; ++i) {
      output const& o = g_.outputs[i];
      if (o.kind != role::gradient) continue;
      node const& n = g_.nodes[o.node];
      if (!n.axes.bounded()) continue;
      step& s = add_step(kernel::zero, op::copy, o.node, n.axes);
      for (int l = 0; l < s.loops; ++l) s.extent[l].length = 0;
      add_operand(s, gradient(o));
    }
  }
  constexpr void copy_gradients() {
    for (int i = 0; i < g_.output_count; ++i) {
      output const& o = g_.outputs[i];
      if (o.kind != role::gradient) continue;
      layout const& l = p_.of[o.node];
      if (l.where == block::gradients && l.offset == p_.parameter_offset[o.leaf]) continue;
      node const& n = g_.nodes[o.node];
      step& s = add_step(kernel::elementwise, op::copy, o.node, n.axes);
      add_operand(s, gradient(o));
      add_operand(s, place(o.node, n.axes));
    }
  }
  // ---- states

  // What a state becomes, where it was not computed there.
  constexpr void store_states() {
    for (int i = 0; i < g_.output_count; ++i) {
      output const& o = g_.outputs[i];
      if (o.kind != role::update || same_place(o.node, g_.states[o.leaf].node)) continue;
      axis_list const& axes = g_.nodes[o.node].axes;
      step& s = add_step(kernel::elementwise, op::copy, o.node, axes);
      add_operand(s, place(g_.states[o.leaf].node, axes));
      add_operand(s, place(o.node, axes));
    }
  }

  // Where the gradient of a parameter belongs.
  constexpr operand_ref gradient(const output& o) {
    node const& n = g_.nodes[o.node];
    operand_ref r{};
    r.where = block::gradients;
    r.offset = p_.parameter_offset[o.leaf];
    row_major(r.stride, n.axes);
    return r;
  }

  constexpr std::size_t scratch_of(const step& s) const {
    if (s.run != kernel::attention && s.run != kernel::attention_adjoint)
      return kernels::scratch_bytes(call_at_bounds(s));
    kernels::attention_call const c = call_at_bounds(s, d_.attentions[s.attention]);
    return s.run == kernel::attention ? kernels::attention_scratch_bytes(c)
                                      : kernels::attention_adjoint_scratch_bytes(c);
  }

  constexpr void lay_out_workspace() {
    std::size_t scratch = 0;
    for (int i = 0; i < d_.step_count; ++i) {
      std::size_t const b = scratch_of(d_.steps[i]);
      if (scratch < b) scratch = b;
    }
    d_.scratch_offset = p_.workspace_bytes;
    d_.scratch_bytes = align(scratch);
    d_.workspace_bytes = p_.workspace_bytes + d_.scratch_bytes;
    for (int i = 0; i < d_.input_count; ++i) {
      d_.inputs[i].staging = d_.workspace_bytes;
      d_.workspace_bytes += align(bytes_of(g_.nodes[g_.inputs[i].node]));
    }
  }

  // Parameters that give the columns of a contraction, with axes whose extents are known.
  constexpr void lay_out_packed() {
    for (int i = 0; i < d_.step_count; ++i) {
      step& s = d_.steps[i];
      if (s.run != kernel::dot) continue;
      kernels::call const c = call_at_bounds(s);
      operand_ref const& columns = s.operand[kernels::columns_operand(c)];
      bool pack = columns.where == block::parameters && columns.shift_count == 0 &&
                  kernels::can_be_packed(c);
      for (int l = 0; l < s.loops; ++l)
        pack = pack && (columns.stride[l] == 0 || s.extent[l].fixed());
      if (!pack) continue;
      s.packed = d_.packed_bytes;
      // Half of every offset is aligned too.
      d_.packed_bytes +=
          kernels::round_up(kernels::packed_bytes(c, precision::float32), 2 * alignment);
    }
  }

  const graph& g_;
  const memory_plan& p_;
  program_draft& d_;
};

}  // namespace detail

// The tables of a program at their exact sizes: what ends up in the binary.
template <int Steps, int Inputs, int Parameters, int Results, int Lengths, int Rules,
          int Requirements, int Shifts, int Loops, int Attentions, int Links, int States,
          int Writes, std::size_t Constants, int Text>
struct program_tables {
  table<step, Steps> steps;
  table<input_ref, Inputs> inputs;
  table<parameter_ref, Parameters> parameters;
  table<result_ref, Results> results;
  table<length_ref, Lengths> lengths;
  table<length_rule_ref, Rules> rules;
  table<length_requirement, Requirements> requirements;
  table<shift_ref, Shifts> shifts;
  table<loop_ref, Loops> loops;
  table<attention_ref, Attentions> attentions;
  table<kernels::chain_link, Links> links;
  table<state_ref, States> states;
  table<write_rule, Writes> writes;
  alignas(4) table<std::byte, Constants> constants;
  table<char, Text> text;
  std::size_t parameter_bytes, gradient_bytes, state_bytes, workspace_bytes, scratch_offset,
      scratch_bytes, packed_bytes, once_bytes;
  int once;
};

namespace detail {

constexpr program_draft draft(const graph& g) {
  program_draft d;
  memory_plan const p = plan(g);
  lowering(g, p, d).run();
  return d;
}

template <class Source>
constexpr auto tables() {
  constexpr program_draft d = draft(Source::g.unpack());
  return program_tables<d.step_count, d.input_count, d.parameter_count, d.result_count,
                        d.length_count, d.rule_count, d.requirement_count, d.shift_count,
                        d.loop_count, d.attention_count, d.link_count, d.state_count, d.write_count,
                        d.constant_bytes, d.text_size>{cut<d.step_count>(d.steps),
                                                       cut<d.input_count>(d.inputs),
                                                       cut<d.parameter_count>(d.parameters),
                                                       cut<d.result_count>(d.results),
                                                       cut<d.length_count>(d.lengths),
                                                       cut<d.rule_count>(d.rules),
                                                       cut<d.requirement_count>(d.requirements),
                                                       cut<d.shift_count>(d.shifts),
                                                       cut<d.loop_count>(d.loops),
                                                       cut<d.attention_count>(d.attentions),
                                                       cut<d.link_count>(d.links),
                                                       cut<d.state_count>(d.states),
                                                       cut<d.write_count>(d.writes),
                                                       cut<d.constant_bytes>(d.constants),
                                                       cut<d.text_size>(d.text),
                                                       d.parameter_bytes,
                                                       d.gradient_bytes,
                                                       d.state_bytes,
                                                       d.workspace_bytes,
                                                       d.scratch_offset,
                                                       d.scratch_bytes,
                                                       d.packed_bytes,
                                                       d.once_bytes,
                                                       d.once};
}

}  // namespace detail

// The program of a graph. Source has the graph as its static constexpr member `g`.
template <class Source>
struct lowered {
  static constexpr auto tables = detail::tables<Source>();
  static constexpr weft::program program{tables.steps,
                                         tables.inputs.span(),
                                         tables.parameters.span(),
                                         tables.states.span(),
                                         tables.writes.span(),
                                         tables.results.span(),
                                         tables.lengths.span(),
                                         tables.rules.span(),
                                         tables.requirements.span(),
                                         tables.shifts.span(),
                                         tables.loops.span(),
                                         tables.attentions.span(),
                                         tables.links.span(),
                                         tables.constants.span(),
                                         {tables.text.at, tables.text.size()},
                                         tables.parameter_bytes,
                                         tables.gradient_bytes,
                                         tables.state_bytes,
                                         tables.workspace_bytes,
                                         tables.scratch_offset,
                                         tables.scratch_bytes,
                                         tables.packed_bytes,
                                         tables.once};
};

}  // namespace weft
