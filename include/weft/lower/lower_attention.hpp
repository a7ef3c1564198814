// Lowers attention and its adjoint.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/attention.hpp"
#include "weft/kernels/philox.hpp"
#include "weft/lower/lowering.hpp"

namespace weft::detail {

constexpr kernels::dropout_params dropout_params_of(const node& numbers) {
  return {static_cast<std::uint32_t>(rng_stream(numbers)), drop_threshold(dropout_rate(numbers))};
}

// Gives the operands of an attention or its adjoint, node `id`, by slot.
class attention_lowering {
 public:
  constexpr attention_lowering(lowering& ctx, int id)
      : ctx_(ctx), id_(id), n_(ctx.g.nodes[id]), axes_(attention_axes_of(ctx.g, n_)) {}

  constexpr const attention_axes& axes() const { return axes_; }

  // Of one that is there.
  constexpr operand_ref operand(const slot& s) {
    if (s.by == access::writes) return in_loops(s, id_);
    const int from = find_operand(n_, s.by == access::of_result ? role::result : s.what);
    if (is_operand(s)) return in_loops(s, from);
    // A further result, row-major in its node's buffer.
    const int node = s.by == access::own ? id_ : from;
    const int shape = find_operand(n_, s.gradient_of);
    const axis_list has =
        is_gradient(s) ? ctx_.g.nodes[shape].axes : attention_rows(ctx_.g.nodes[node]);
    operand_ref r = ctx_.place(node, {});
    r.offset += is_gradient(s) ? part_offset(ctx_.g, n_, gradients_++)
                               : statistics_offset(ctx_.g.nodes[node]);
    r.type = dtype::float32;
    std::ptrdiff_t stride[max_rank]{};
    row_major(stride, has);
    return in_loops(s, r, has, stride);
  }

 private:
  constexpr operand_ref in_loops(const slot& s, int node) {
    return in_loops(s, ctx_.place(node, {}), ctx_.g.nodes[node].axes, ctx_.p.of[node].stride);
  }
  // With strides in the loops that the slot says. The loop decides, not the axis: the depth and the
  // value axis may be the same.
  constexpr operand_ref in_loops(const slot& s, operand_ref r, const axis_list& has,
                                 const std::ptrdiff_t* stride) const {
    const int batch = axes_.batch.count;
    const axis_info* const last[]{axis_of(axes_, s.loops & over::query),
                                  axis_of(axes_, s.loops & (over::key | over::distance)),
                                  axis_of(axes_, s.loops & over::depth),
                                  axis_of(axes_, s.loops & over::value)};
    for (int a = 0; a < has.count; ++a) {
      if (const int l = axes_.batch.find(has.at[a]); l >= 0) r.stride[l] = stride[a];
      for (int l = 0; l < 4; ++l)
        if (has.at[a] == last[l]) r.stride[batch + l] = stride[a];
    }
    return r;
  }

  lowering& ctx_;
  const int id_;
  const node& n_;
  const attention_axes axes_;
  std::int64_t gradients_ = 0;  // those before
};

constexpr void lower_attention(lowering& ctx, int id) {
  const node& n = ctx.g.nodes[id];
  attention_lowering of(ctx, id);
  const attention_axes& axes = of.axes();
  instruction& s = ctx.emit(n.kind == op::attention ? kernel::attention : kernel::attention_adjoint,
                            n.kind, id, axes.batch);
  for (const axis_info* axis : {axes.query, axes.key, axes.depth, axes.value})
    s.extent[s.loops++] = axis ? ctx.extent(axis) : extent_ref{1, 0};
  s.scale = n.scale;
  s.scalar = soft_cap_of(n);
  const auto& entry = info(n.kind);
  for (int o = 0; o < entry.slot_count; ++o)
    ctx.add_operand(s, has_slot(n, o) ? of.operand(entry.slots[o]) : absent);
  lowered_attention& a =
      ctx.next(ctx.d.attentions, ctx.d.count.attentions, model_fault::attentions);
  s.attention = static_cast<std::int16_t>(ctx.d.count.attentions - 1);
  a.lowest = band_lowest(n);
  a.highest = band_highest(n);
  a.length_more = length_more(n);
  a.origin = relative_origin(n);
  if (axes.distance) a.distances = static_cast<std::int64_t>(axes.distance->extent);
  if (const int ids = find_operand(n, role::element_ids); ids >= 0)
    a.drop = dropout_params_of(ctx.g.nodes[ids]);
}

}  // namespace weft::detail
#include "weft/header_end.hpp"
