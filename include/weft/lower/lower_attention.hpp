// Lowers attention and its adjoint.
#pragma once

#include "weft/graph/attention.hpp"
#include "weft/kernels/philox.hpp"
#include "weft/lower/lowering.hpp"

namespace weft::detail {

constexpr kernels::dropout_params dropout_params_of(const node& numbers) {
  return {static_cast<std::uint32_t>(rng_stream(numbers)), drop_threshold(dropout_rate(numbers))};
}

// Lowers node `id`: the attention `forward` itself, or its adjoint.
constexpr void lower_attention(lowering& ctx, int id, int forward) {
  const node& n = ctx.g.nodes[id];
  const attention_axes axes = attention_axes_of(ctx.g, n);
  const axis_info *const query = axes.query, *const key = axes.key, *const depth = axes.depth,
                         *const value = axes.value, *const distance = axes.distance;
  const axis_list& loops = axes.batch;  // then query, key, depth and value
  // The axes of an operand in the last four loops; null where it has none.
  struct own_axes {
    const axis_info* at[4];
  };
  instruction& s = ctx.emit(n.kind == op::attention ? kernel::attention : kernel::attention_adjoint,
                            n.kind, id, loops);
  for (const axis_info* axis : {query, key, depth, value})
    s.extent[s.loops++] = axis ? ctx.extent(axis) : extent_ref{1, 0};
  s.scale = n.scale;
  s.scalar = soft_cap_of(n);
  attention_ref& a = ctx.next(ctx.d.attentions, ctx.d.count.attentions, model_fault::attentions);
  s.attention = static_cast<std::int16_t>(ctx.d.count.attentions - 1);
  a.lowest = band_lowest(n);
  a.highest = band_highest(n);
  a.length_more = length_more(n);
  a.origin = relative_origin(n);
  if (distance) a.distances = static_cast<std::int64_t>(distance->extent);
  // Sets an operand's strides in the loops. `own` says which axis belongs to which loop, since the
  // depth and the value axis may be the same.
  const auto with_strides = [&](operand_ref r, const axis_list& has, const std::ptrdiff_t* stride,
                                const own_axes& own) {
    for (int l = 0; l < max_rank; ++l) r.stride[l] = 0;
    for (int l = 0; l < s.loops; ++l) {
      const axis_info* const axis = l < loops.count ? loops.at[l] : own.at[l - loops.count];
      if (const int at = axis ? has.find(axis) : -1; at >= 0) r.stride[l] = stride[at];
    }
    return r;
  };
  const auto operand = [&](int node, const own_axes& own) {
    const axis_list& has = ctx.g.nodes[node].axes;
    return with_strides(ctx.place(node, has), has, ctx.p.of[node].stride, own);
  };
  const auto at_offset = [&](int node, std::size_t offset, const axis_list& has,
                             const own_axes& own) {  // a further result of a node; offset in bytes
    std::ptrdiff_t stride[max_rank]{};
    row_major(stride, has);
    operand_ref r = ctx.place(node, {});
    r.offset += offset;
    r.type = dtype::float32;
    return with_strides(r, has, stride, own);
  };
  const own_axes of_query{query, nullptr, depth, nullptr}, of_key{nullptr, key, depth, nullptr},
      of_value{nullptr, key, nullptr, value}, of_result{query, nullptr, nullptr, value},
      of_scores{query, key, nullptr, nullptr}, of_table{query, distance, nullptr, nullptr};
  a.query = operand(n.operand[0], of_query);
  a.key = operand(n.operand[1], of_key);
  a.value = operand(n.operand[2], of_value);
  const auto option = [&](attention_option what, const own_axes& own, operand_ref& to) {
    if (has_option(n, what)) to = operand(find_option(n, what), own);
    return has_option(n, what);
  };
  a.has_mask = option(attention_option::mask, of_scores, a.mask);
  a.has_bias = option(attention_option::bias, of_scores, a.bias);
  a.has_offset = option(attention_option::offset, {}, a.offset);
  const own_axes of_queries{query, nullptr, nullptr, nullptr};
  a.has_begins = option(attention_option::begins, of_queries, a.begins);
  a.has_lengths = option(attention_option::lengths, of_queries, a.lengths);
  a.has_relative = option(attention_option::relative, of_table, a.relative);
  a.has_sink = option(attention_option::sink, of_queries, a.sink);
  if (option(attention_option::dropout, of_scores, a.numbers))
    a.drop = dropout_params_of(ctx.g.nodes[find_option(n, attention_option::dropout)]);
  const node& f = ctx.g.nodes[forward];
  a.result = operand(forward, of_result);
  a.statistics = at_offset(forward, statistics_offset(f), attention_rows(f), {query});
  ctx.add_operand(s, a.result);
  if (id == forward) return;
  a.g = operand(n.operand[4], of_result);
  const attention_parts parts = parts_of(n);
  int part = 0;
  const auto gradient = [&](const own_axes& own) {
    const axis_list& has = ctx.g.nodes[parts.of[part]].axes;
    return at_offset(id, part_offset(ctx.g, n, part++), has, own);
  };
  a.query_gradient = s.operand[0] = gradient(of_query);
  a.key_gradient = gradient(of_key);
  a.value_gradient = gradient(of_value);
  a.has_bias_gradient = has_option(n, attention_option::bias_gradient);
  a.has_relative_gradient = has_option(n, attention_option::relative_gradient);
  a.has_sink_gradient = has_option(n, attention_option::sink_gradient);
  if (a.has_bias_gradient) a.bias_gradient = gradient(of_scores);
  if (a.has_relative_gradient) a.relative_gradient = gradient(of_table);
  if (a.has_sink_gradient) a.sink_gradient = gradient(of_queries);
}

}  // namespace weft::detail
