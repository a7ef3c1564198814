// Pattern matching: softmax(QKᵀ)V becomes one attention operation, which reads keys and values of
// 16 bits as they are.
#pragma once
#include "weft/header_begin.hpp"

#include <cstdint>
#include <limits>

#include "weft/graph/attention.hpp"
#include "weft/graph/graph.hpp"
#include "weft/passes/eliminate_dead_code.hpp"
#include "weft/passes/match_attention.hpp"
#include "weft/passes/simplify.hpp"

namespace weft {

namespace detail {

class attention_fuser {
 public:
  explicit constexpr attention_fuser(const graph& g) : g_(g), matcher_(g) {}

  constexpr graph run() {
    graph h = empty_like(g_);
    int to[max_nodes]{};
    for (int i = 0; i < g_.count; ++i) {
      node n = g_.nodes[i];
      if (n.kind == op::dot) {
        if (attention_match f = no_match; matcher_.match(n, f))
          n = make(h, f, n.axes, to);
        else
          move(n, to);
      } else {
        move(n, to);
      }
      to[i] = h.emit(n);
    }
    remap_interface(h, g_, to, nullptr);
    return eliminate_dead_code(h);
  }

 private:
  static constexpr void move(node& n, const int* to) {
    for (int j = 0; j < n.operands; ++j) n.operand[j] = to[n.operand[j]];
  }

  // The attention node, whose operands are emitted into h.
  constexpr node make(graph& h, const attention_match& f, const axis_list& axes, const int* to) {
    axis_list named{3, {f.key_axis, f.depth_axis, f.value_axis}};
    if (f.query_axis) named.push(f.query_axis);
    node n = make_node(op::attention, named);
    n.axes = axes;
    n.scale = f.scale;
    soft_cap_of(n) = f.soft_cap;
    band_lowest(n) = f.lowest;
    band_highest(n) = f.highest;
    length_more(n) = f.length_more;
    relative_origin(n) = f.origin;
    for (const slot& s : weft::attention_slots)
      if (const int id = is_operand(s) ? operand(h, f, s.what, to) : -1; id >= 0)
        add_operand(n, s.what, id);
    return n;
  }
  // The operand in a role, emitted into h where it is more than a node of the match; -1: none.
  constexpr int operand(graph& h, const attention_match& f, role what, const int* to) {
    switch (what) {
      case role::mask:
        return joined_masks(h, f, to);
      case role::bias:
        return sum_of_biases(h, f, to);
      case role::begins:
        return f[what] < 0 ? -1 : shifted(h, to[f[what]], f.begin_more);
      case role::relative:
        return f.relative.node < 0 ? -1 : scaled(h, f.relative, to);
      default:
        return f[what] < 0 ? -1 : to[f[what]];
    }
  }
  constexpr int joined_masks(graph& h, const attention_match& f, const int* to) {
    if (f.mask_count == 0) return -1;
    int all = to[f.masks[0]];
    for (int i = 1; i < f.mask_count; ++i) all = joined(h, op::logical_and, all, to[f.masks[i]]);
    return all;
  }
  constexpr int sum_of_biases(graph& h, const attention_match& f, const int* to) {
    if (f.bias_count == 0) return -1;
    int all = scaled(h, f.biases[0], to);
    for (int i = 1; i < f.bias_count; ++i)
      all = joined(h, op::add, all, scaled(h, f.biases[i], to));
    return all;
  }
  constexpr int scaled(graph& h, const attention_match::addend& a, const int* to) {
    if (a.times == 1) return to[a.node];
    node c = make_node(op::constant);
    constant_value(c) = a.times;
    return joined(h, op::multiply, to[a.node], made(h, c));
  }
  // An int32 node plus a constant, clamped to what int32 has: keys are far from there.
  constexpr int shifted(graph& h, int id, std::int64_t by) {
    using limits = std::numeric_limits<std::int32_t>;
    const auto number = [&](std::int64_t value) {
      node c = make_node(op::constant);
      c.type = dtype::int32;
      constant_value(c) = static_cast<double>(value);
      return made(h, c);
    };
    if (by == 0) return id;
    const int clamped = by > 0 ? joined(h, op::minimum, id, number(limits::max() - by))
                               : joined(h, op::maximum, id, number(limits::min() - by));
    return joined(h, op::add, clamped, number(by));
  }
  // An elementwise operation on a and b, with the axes of both.
  constexpr int joined(graph& h, op kind, int a, int b) {
    node n = make_node(kind);
    n.type = h.nodes[a].type;
    n.axes = h.nodes[a].axes;
    for (int i = 0; i < h.nodes[b].axes.count; ++i)
      if (!n.axes.contains(h.nodes[b].axes.at[i])) n.axes.push(h.nodes[b].axes.at[i]);
    n.operands = 2;
    n.operand[0] = a;
    n.operand[1] = b;
    return made(h, n);
  }
  // The id of n in h: an equal node made for an earlier attention is reused, since layers often
  // share a mask or a bias.
  constexpr int made(graph& h, node n) {
    n.region = region_of(h, n);
    for (int i = 0; i < made_count_; ++i)
      if (same_node(h.nodes[made_[i]], n)) return made_[i];
    return made_[made_count_++] = h.emit(n);
  }

  const graph& g_;
  attention_matcher matcher_;
  int made_[max_nodes]{};
  int made_count_ = 0;
};

}  // namespace detail

// dropout(softmax(where(mask, cap(scale QKᵀ) + bias, -∞))) V, in this or a shorter form, becomes
// one operation that never stores the scores, if nothing else needs them. A mask that compares key
// with query positions becomes a band, which an int32 of the batch may shift, as in
// positions<Cache>() <= positions<Pos>() + offset; one that compares key positions with an int32 of
// the batch or the queries alone, as positions<KeyPos>() < lengths, becomes a limit of the keys
// that are visible: one from below, and one from above. These cost nothing and save the work on
// what they hide. Sums with such an int32 are treated as if they never overflowed;
// nn::causal(offset) has none, so that it is the same mask for any offset.
//
// Biases are summed, except for a relative one, which the operation gathers itself:
// gather<Distance>(table, i), with i = positions<KeyPos>() - (positions<Pos>() + offset) + origin
// clamped to the table by maximum and minimum, or in its range anyway. The table may have a row for
// each query. The offset is an int32 of the batch, or none, and has to be the band's, if there is
// one.
//
// The keys' part of a softmax over a sink and the scores, see nn::softmax_with_sink, is matched as
// well.
//
// A mask that replaces scores by a finite value is not matched: a query that it hides all keys from
// has equal weights, not none. Nor is a sum inside the soft cap.
//
// Runs before differentiation: the operation has an adjoint, with the gradients for its biases.
constexpr graph fuse_attention(const graph& g) {
  return detail::attention_fuser(g).run();
}

// Where keys or values of an attention are converted from bfloat16, as those of a cache are, it
// reads what they are converted from: its kernel converts a block of them at a time. Not for
// training, since the adjoint reads float32 only.
constexpr graph read_narrow_keys(graph g) {
  for (int i = 0; i < g.count; ++i) {
    node& n = g.nodes[i];
    if (!is_attention(n.kind)) continue;
    for_each_operand(n, [&](const slot& s, int& id) {
      const node& from = g.nodes[id];
      if (s.narrow && from.kind == op::cast && g.nodes[from.operand[0]].type == dtype::bfloat16 &&
          g.nodes[from.operand[0]].axes == from.axes)
        id = from.operand[0];
    });
  }
  return eliminate_dead_code(g);
}

}  // namespace weft
#include "weft/header_end.hpp"
