// The pattern of attention in a graph: softmax(QKᵀ)V with scale, soft cap, masks, biases, dropout.
#pragma once
#include "weft/header_begin.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "weft/graph/graph.hpp"
#include "weft/passes/affine_index.hpp"

namespace weft::detail {

// The operands and attributes of a match; ids are of nodes in the matched graph.
struct attention_match {
  static constexpr int max_terms = 16;

  // A node that is added to the scores, times a constant.
  struct addend {
    int node;
    double times;
  };

  // Operands that are nodes by their slots; -1: there is none. Masks, biases and the relative bias
  // are below.
  int nodes[attention_slots.size()]{};
  addend biases[max_terms]{};
  int bias_count = 0;
  double scale = 1, soft_cap = 0;
  const axis_info *key_axis = nullptr, *depth_axis = nullptr, *value_axis = nullptr,
                  *query_axis = nullptr;
  std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  std::int64_t highest = std::numeric_limits<std::int64_t>::max();
  std::int64_t begin_more = 0, length_more = 0;  // added to the begins and the lengths
  int masks[max_terms]{};                        // that are joined by and, and are no band
  int mask_count = 0;
  addend relative{-1, 1};  // a table indexed by distance
  std::int64_t origin = 0;

  constexpr attention_match() {
    for (int& id : nodes) id = -1;
  }
  constexpr int& operator[](role what) { return nodes[attention_slot(what)]; }
  constexpr int operator[](role what) const { return nodes[attention_slot(what)]; }
};
// Copying it is cheaper to evaluate than making one.
inline constexpr attention_match no_match;

static_assert(handles_operands_of_attention({role::query, role::key, role::value, role::mask,
                                             role::bias, role::offset, role::begins, role::lengths,
                                             role::relative, role::sink, role::element_ids}),
              "fuse-attention: no pattern finds an operand of attention");
// Finds attention in g, which must outlive it.
class attention_matcher {
 public:
  explicit constexpr attention_matcher(const graph& g) : g_(g) {
    for (int i = 0; i < g.count; ++i)
      for (int j = 0; j < g.nodes[i].operands; ++j) ++uses_[g.nodes[i].operand[j]];
    for (int i = 0; i < g.output_count; ++i) uses_[g.outputs[i].node] = many;
  }

  // Whether n is the dot of a softmax over keys, or its dropout, with values; then fills f.
  constexpr bool match(const node& n, attention_match& f) const {
    for (int weights = 0; weights < 2; ++weights) {
      int id = n.operand[weights], element_ids = -1;
      if (at(id).kind == op::dropout && only_here(id)) {
        element_ids = at(id).operand[1];
        id = at(id).operand[0];
      }
      f = no_match;
      const int scores = match_softmax(id, f);
      if (scores < 0) continue;
      f[role::element_ids] = element_ids;
      f[role::value] = n.operand[1 - weights];
      if (match_scores(scores, n.region, f) && find_axes(n, at(id), f) && split_conjunctions(f)) {
        match_positions(f);
        find_relative_bias(at(id), f);
        return true;
      }
    }
    return false;
  }

 private:
  using addend = attention_match::addend;

  static constexpr int many = max_nodes;
  static constexpr int max_terms = attention_match::max_terms;

  constexpr const node& at(int id) const { return g_.nodes[id]; }
  constexpr bool is_constant(int id) const { return at(id).kind == op::constant; }
  constexpr bool is_zero(int id) const { return is_constant(id) && constant_value(at(id)) == 0; }
  constexpr bool only_here(int id) const { return uses_[id] == 1; }

  // Matches a softmax along one axis, the keys'; with a sink, the part of it that is the keys', as
  // nn::softmax_with_sink has it. Returns what the softmax of the keys is of; -1 if it is neither.
  constexpr int match_softmax(int id, attention_match& f) const {
    const auto is_softmax = [&](int of) {
      return at(of).kind == op::softmax && only_here(of) && row_axes(at(of)).count == 1;
    };
    if (is_softmax(id)) {
      f.key_axis = row_axes(at(id)).at[0];
      return at(id).operand[0];
    }
    const node& part = at(id);
    if (part.kind != op::slice || !only_here(id) || !is_softmax(part.operand[0])) return -1;
    const axis_info* const whole = row_axes(at(part.operand[0])).at[0];
    const node& both = at(at(part.operand[0]).operand[0]);
    if (both.kind != op::concatenate || !only_here(at(part.operand[0]).operand[0]) ||
        both.operands != 2 || !both.axes.contains(whole) || part.axes.contains(whole))
      return -1;
    const axis_info *const one = concatenated_axes(both).at[0], *const keys =
                                                                    concatenated_axes(both).at[1];
    if (one->bounded || one->extent != 1 || slice_offset(part) != 1 ||
        slice_axes(part).count != 1 || !part.axes.contains(keys))
      return -1;
    f.key_axis = keys;
    f[role::sink] = both.operand[0];
    // A sink is broadcast to the scores' other axes by adding it to zeros.
    const node& first = at(f[role::sink]);
    if (first.kind == op::copy) f[role::sink] = first.operand[0];
    for (int j = 0; first.kind == op::add && j < 2; ++j)
      if (is_zero(first.operand[j])) f[role::sink] = first.operand[1 - j];
    return at(f[role::sink]).axes.contains(keys) ? -1 : both.operand[1];
  }

  // The constant that n scales operand 0 by, as a factor; 0 if n does something else.
  constexpr double factor(const node& n) const {
    const bool divides = n.kind == op::divide;
    if ((!divides && n.kind != op::multiply) || !is_constant(n.operand[1])) return 0;
    const double c = constant_value(at(n.operand[1]));
    return c == 0 ? 0 : divides ? 1 / c : c;
  }
  // n, with the constant operand of a product second.
  constexpr node constant_second(node n) const {
    if (n.kind == op::multiply && is_constant(n.operand[0])) std::swap(n.operand[0], n.operand[1]);
    return n;
  }

  // Matches softmax's operand, from the outside in: where(mask, ., -infinity), sums with biases,
  // soft cap, scale, dot; the latter in `region`, the same scan body or none.
  constexpr bool match_scores(int id, int region, attention_match& f) const {
    if (at(id).kind == op::where && only_here(id)) {
      const node& n = at(id);
      if (!is_constant(n.operand[2]) ||
          constant_value(at(n.operand[2])) != -std::numeric_limits<double>::infinity())
        return false;
      f.masks[f.mask_count++] = n.operand[0];
      id = n.operand[1];
    }
    return match_sum(id, 1, region, f);
  }
  constexpr bool match_sum(int id, double times, int region, attention_match& f) const {
    id = peel_factors(id, times);
    if (at(id).kind != op::add || !only_here(id)) return match_products(id, times, region, f);
    if (f.bias_count == max_terms) return false;
    const int before = f.bias_count;
    for (int scores = 0; scores < 2; ++scores) {
      f.bias_count = before;
      f.biases[f.bias_count++] = {at(id).operand[1 - scores], times};
      if (match_sum(at(id).operand[scores], times, region, f)) return true;
    }
    return false;
  }
  constexpr bool match_products(int id, double times, int region, attention_match& f) const {
    // times * tanh(c * s): the kernel computes cap * tanh(scale * s / cap), so cap = times and
    // scale = times * c.
    f.soft_cap = 0;
    if (at(id).kind == op::tanh && only_here(id) && times > 0) {
      f.soft_cap = times;
      id = peel_factors(at(id).operand[0], times);
    }
    f.scale = times;
    const node& n = at(id);
    if (n.kind != op::dot || !only_here(id) || n.region != region) return false;
    const bool keys_right = at(n.operand[1]).axes.contains(f.key_axis);
    f[role::query] = n.operand[keys_right ? 0 : 1];
    f[role::key] = n.operand[keys_right ? 1 : 0];
    f.depth_axis = nullptr;
    for (int a = 0; a < at(f[role::query]).axes.count; ++a) {
      const axis_info* const axis = at(f[role::query]).axes.at[a];
      if (n.axes.contains(axis)) continue;
      if (f.depth_axis) return false;  // more than one
      f.depth_axis = axis;
    }
    return f.depth_axis && !at(f[role::query]).axes.contains(f.key_axis) &&
           at(f[role::key]).axes.contains(f.key_axis);
  }
  // Peels constant factors off node id, multiplying `times` by them; returns what they scale.
  constexpr int peel_factors(int id, double& times) const {
    for (; only_here(id); id = constant_second(at(id)).operand[0]) {
      const double by = factor(constant_second(at(id)));
      if (by == 0) break;
      times *= by;
    }
    return id;
  }

  // Finds the roles of the axes of n, the dot of weights and values; false if it is no attention.
  constexpr bool find_axes(const node& n, const node& weights, attention_match& f) const {
    const axis_list& of_value = at(f[role::value]).axes;
    if (!of_value.contains(f.key_axis) || n.axes.contains(f.key_axis)) return false;
    if (at(f[role::value]).type != dtype::float32) return false;
    f.value_axis = nullptr;
    for (int a = 0; a < of_value.count; ++a) {
      const axis_info* const axis = of_value.at[a];
      if (axis == f.key_axis || weights.axes.contains(axis)) continue;
      if (f.value_axis) return false;
      f.value_axis = axis;
    }
    if (!f.value_axis) return false;
    // Only the key axis is reduced, and no mask or bias has the depth axis.
    if (weights.axes.contains(f.depth_axis)) return false;
    for (int a = 0; a < weights.axes.count; ++a)
      if (weights.axes.at[a] != f.key_axis && !n.axes.contains(weights.axes.at[a])) return false;
    // The query axis is one that only the query has: that whose positions a mask compares with the
    // keys', or the longest, which heads that share keys may be in steps of few queries.
    f.query_axis = nullptr;
    bool is_compared = false;
    for (int a = 0; a < at(f[role::query]).axes.count; ++a) {
      const axis_info* const axis = at(f[role::query]).axes.at[a];
      if (axis == f.depth_axis || at(f[role::key]).axes.contains(axis) || of_value.contains(axis))
        continue;
      const bool compared = f.mask_count > 0 && has_positions(f.masks[0], axis);
      if (!f.query_axis || (compared && !is_compared) ||
          (compared == is_compared && f.query_axis->extent < axis->extent))
        f.query_axis = axis, is_compared = compared;
    }
    const int batch = n.axes.count - 1 - (f.query_axis != nullptr);
    return batch + 4 <= max_rank;
  }

  // Whether a mask depends on the positions along an axis.
  constexpr bool has_positions(int mask, const axis_info* axis) const {
    const node& n = at(mask);
    if (n.kind == op::positions) return n.axes.contains(axis);
    const bool is_part = n.kind == op::logical_and || n.kind == op::less ||
                         n.kind == op::less_equal || n.kind == op::add || n.kind == op::subtract;
    for (int j = 0; is_part && j < n.operands; ++j)
      if (has_positions(n.operand[j], axis)) return true;
    return false;
  }

  // Splits masks joined by logical_and into their operands. False if there are too many.
  constexpr bool split_conjunctions(attention_match& f) const {
    for (int i = 0; i < f.mask_count;) {
      const node& n = at(f.masks[i]);
      if (n.kind != op::logical_and) {
        ++i;
        continue;
      }
      if (f.mask_count == max_terms) return false;
      f.masks[f.mask_count++] = n.operand[1];
      f.masks[i] = n.operand[0];
    }
    return true;
  }

  // Moves masks that are affine in key and query positions into a band and its offset, and others
  // that compare key positions into begins and lengths. A band has one offset, so where there is
  // any, masks with another one, or with none, stay masks.
  constexpr void match_positions(attention_match& f) const {
    for (int i = 0; i < f.mask_count && f[role::offset] < 0; ++i)
      if (const affine_index p = affine_mask(f.masks[i], f); p.keys * p.queries == -1)
        f[role::offset] = p.times == 0 ? -1 : p.other;
    for (int i = 0; i < f.mask_count;) {
      if (intersect_band(affine_mask(f.masks[i], f), f) || intersect_limits(f.masks[i], f))
        f.masks[i] = f.masks[--f.mask_count];
      else
        ++i;
    }
  }

  // The p of a comparison written as p <= 0; unknown if it is not affine.
  constexpr affine_index affine_mask(int id, const attention_match& f) const {
    const node& n = at(id);
    if (n.kind != op::less && n.kind != op::less_equal) return {};
    affine_index p =
        affine_index::difference(as_affine(n.operand[0], f), as_affine(n.operand[1], f));
    p.constant += n.kind == op::less;
    // The offset is added to query positions, so its sign is opposite to the keys'.
    if (p.times != 0 && p.times != -p.keys) return {};
    return p;
  }

  // Makes a comparison of key positions with an int32 that may have the queries' axis, but not the
  // keys', the begins or the lengths; false if it is another form, or there are some already.
  constexpr bool intersect_limits(int id, attention_match& f) const {
    const node& n = at(id);
    if (n.kind != op::less && n.kind != op::less_equal) return false;
    const std::int64_t strict = n.kind == op::less;
    for (int side = 0; side < 2; ++side) {
      const affine_index key = as_affine(n.operand[side], f);
      const int limit = n.operand[1 - side];
      if (!key.known || key.keys != 1 || key.queries != 0 || key.times != 0 || is_constant(limit) ||
          at(limit).type != dtype::int32 || at(limit).axes.contains(f.key_axis))
        continue;
      if ((side == 0 ? f[role::lengths] : f[role::begins]) >= 0 || key.constant > 1 << 30 ||
          key.constant < -(1 << 30))
        return false;
      (side == 0 ? f[role::lengths] : f[role::begins]) = limit;
      if (side == 0)
        f.length_more = 1 - strict - key.constant;
      else
        f.begin_more = strict - key.constant;
      return true;
    }
    return false;
  }

  // Intersects the band or the lengths with p <= 0; false if it is neither's form.
  constexpr bool intersect_band(const affine_index& p, attention_match& f) const {
    if (!p.known) return false;
    const bool shifted = p.times != 0;
    if (p.keys * p.queries == -1) {  // ±(key - query - offset) + constant
      if (shifted ? p.other != f[role::offset] : f[role::offset] >= 0) return false;
      if (p.keys == 1)
        f.highest = std::min(f.highest, -p.constant);
      else
        f.lowest = std::max(f.lowest, p.constant);
      return true;
    }
    if (p.queries != 0) return false;
    if (p.keys == -1 && !shifted) return p.constant <= 0;  // true for every key
    if (p.keys != 1 || !shifted || f[role::lengths] >= 0) return false;
    f[role::lengths] = p.other;
    f.length_more = 1 - p.constant;
    return true;
  }

  // Moves one relative bias out of the biases.
  constexpr void find_relative_bias(const node& weights, attention_match& f) const {
    for (int i = 0; i < f.bias_count; ++i)
      if (const addend from = f.biases[i]; match_relative_bias(from, weights, f)) {
        f.biases[i] = f.biases[--f.bias_count];
        return;
      }
  }
  // Looks into sums; the other operand of one with a relative bias becomes a separate bias.
  constexpr bool match_relative_bias(addend from, const node& weights, attention_match& f) const {
    from.node = peel_factors(from.node, from.times);
    const node& n = at(from.node);
    if (n.kind == op::gather) return match_relative_gather(from, weights, f);
    if (n.kind != op::add || f.bias_count == max_terms) return false;
    for (int j = 0; j < 2; ++j) {
      if (!match_relative_bias({n.operand[j], from.times}, weights, f)) continue;
      f.biases[f.bias_count++] = {n.operand[1 - j], from.times};
      return true;
    }
    return false;
  }
  // Whether the gather's index is key - query - offset + origin, clamped to the table's range.
  constexpr bool match_relative_gather(const addend& from, const node& weights,
                                       attention_match& f) const {
    const node& n = at(from.node);
    const axis_list& of_table = at(n.operand[0]).axes;
    const axis_info* const distance = indexed_axis(n);
    if (distance->bounded || of_table.contains(f.key_axis) || weights.axes.contains(distance))
      return false;
    const clamped index = peel_clamps(n.operand[1]);
    const affine_index p = as_affine(index.node, f);
    const bool along_both = p.keys == 1 && p.queries == (f.query_axis ? -1 : 0);
    const bool shifted = p.times != 0;
    if (!p.known || !along_both || (shifted && p.times != -1)) return false;
    const int offset = shifted ? p.other : -1;
    const bool banded = f.lowest != std::numeric_limits<std::int64_t>::min() ||
                        f.highest != std::numeric_limits<std::int64_t>::max();
    if (banded && offset != f[role::offset]) return false;
    // On a side without a clamp no index may be out of range, where gather gives 0.
    const auto last = [](const axis_info* axis) {
      return axis ? static_cast<std::int64_t>(axis->extent) - 1 : 0;
    };
    const bool from_first =
        index.low == 0 || (index.low < 0 && !shifted && p.constant >= last(f.query_axis));
    const bool to_last =
        index.high == last(distance) || (index.high > last(distance) && !shifted &&
                                         p.constant + last(f.key_axis) <= last(distance));
    if (!from_first || !to_last) return false;
    f.relative = {n.operand[0], from.times};
    f.origin = p.constant;
    f[role::offset] = offset;
    return true;
  }
  // A node clamped to [low, high].
  struct clamped {
    int node;
    std::int64_t low, high;
  };
  constexpr clamped peel_clamps(int id) const {
    clamped c{id, std::numeric_limits<std::int64_t>::min(),
              std::numeric_limits<std::int64_t>::max()};
    for (;;) {
      node n = at(c.node);
      if (n.kind != op::maximum && n.kind != op::minimum) break;
      if (is_constant(n.operand[0])) std::swap(n.operand[0], n.operand[1]);
      if (!is_constant(n.operand[1])) break;
      const auto bound = static_cast<std::int64_t>(constant_value(at(n.operand[1])));
      if (n.kind == op::maximum)
        c.low = std::max(c.low, bound);
      else
        c.high = std::min(c.high, bound);
      c.node = n.operand[0];
    }
    return c;
  }

  constexpr affine_index as_affine(int id, const attention_match& f) const {
    return detail::as_affine(g_, id, {f.key_axis, f.query_axis});
  }

  const graph& g_;
  int uses_[max_nodes]{};
};

}  // namespace weft::detail
#include "weft/header_end.hpp"
