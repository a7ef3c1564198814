// The critical path of a run, and the path length between two positions of a sequence (Vaswani et
// al. 2017, table 1).
#pragma once
#include "weft/header_begin.hpp"

#include <algorithm>
#include <cstdint>

#include "weft/fault.hpp"
#include "weft/graph/attention.hpp"
#include "weft/graph/graph.hpp"
#include "weft/graph/lengths.hpp"
#include "weft/graph/ops.hpp"

namespace weft {

namespace detail {

constexpr double step_count(const graph& g, int region) {
  return static_cast<double>(g.regions[region - 1].axis->extent);
}
// The region all of whose steps come before node i; 0: none.
constexpr int region_left(const graph& g, int i) {
  const node& n = g.nodes[i];
  const bool leaves = n.kind == op::scan_result || n.kind == op::scan_collect;
  return leaves ? g.nodes[n.operand[0]].region : 0;
}

}  // namespace detail

// The critical path of a run: the longest sequence of operations each of which needs the one
// before, every length at its bound. A step of a scan needs the step before it.
constexpr double sequential_operations(const graph& g) {
  double until[max_nodes]{};  // in a body: from the step's beginning
  double whole[max_regions + 1]{};
  double longest = 0;
  const auto measure = [&](int i) {
    const node& n = g.nodes[i];
    const int region = loop_of(g, i);
    for (int j = 0; j < n.operands; ++j)
      if (region == 0 || loop_of(g, n.operand[j]) == region)
        until[i] = std::max(until[i], until[n.operand[j]]);
    until[i] += !is_leaf(n.kind) && !is_view(n.kind) && n.kind != op::carry && !n.fused && !n.once;
  };
  for (int i = 0; i < g.count; ++i) {
    const int region = loop_of(g, i);
    if (region != 0 && whole[region] == 0) {  // the body's first node: the others follow it
      double entry = 0, body = 0;
      for (int k = i; k < g.count && loop_of(g, k) == region; ++k) {
        measure(k);
        body = std::max(body, until[k]);
        for (int j = 0; j < g.nodes[k].operands; ++j)
          if (const int from = g.nodes[k].operand[j]; loop_of(g, from) != region)
            entry = std::max(entry, until[from]);
      }
      whole[region] = entry + body * detail::step_count(g, region);
    }
    if (region == 0) measure(i);
    if (const int left = detail::region_left(g, i); left != 0) until[i] = whole[left];
    if (g.nodes[i].region == 0) longest = std::max(longest, until[i]);
  }
  return longest;
}

// Not constexpr: reached while compiling, it is an error that prints its name.
inline void the_positions_have_more_names_than_paths_follow() {
  detail::fault("path_length: the positions have more names than paths follow");
}

namespace detail {

// What an element at position t depends on: the positions from t + low to t + high, through `hops`
// operations that mix positions.
struct receptive_field {
  bool any;
  double low, high;
  double hops;
};

class receptive_field_finder;

// What an entry's function receptive_field sees: its node, whose operand has an axis of positions
// that the result lacks, and the operands' receptive field.
struct axis_position_change {
  receptive_field_finder& finder;
  const node& n;
  receptive_field operands;

  // The axis of the result that the operand lacks.
  constexpr const axis_info* new_axis() const;
  // From here on, `axis` is one of positions.
  constexpr void follow(const axis_info* axis);
  constexpr receptive_field of_operand() const { return operands; }
  constexpr receptive_field moved(double by) const;      // position t is t + by of the operand
  constexpr receptive_field widened(double high) const;  // and depends on `high` more after it
  constexpr receptive_field everywhere() const;          // on every position
  constexpr receptive_field mixed() const;               // the same, by one more operation
};

template <op K>
constexpr receptive_field receptive_field_of(axis_position_change& c) {
  if constexpr (requires { op_entry<K>::receptive_field(c); })
    return op_entry<K>::receptive_field(c);
  else
    return c.mixed();
}
inline constexpr auto receptive_fields =
    table_of_operations([]<op K>() { return &receptive_field_of<K>; });

class receptive_field_finder {
 public:
  // Along `axis` and its aliases, and along the axes made from it by slice, pad and unfold.
  constexpr receptive_field_finder(const graph& g, const axis_info* axis)
      : g_(g), whole_(static_cast<double>(axis->extent) - 1) {
    family_[count_++] = axis->length_axis();
    for (int i = 0; i < g.count; ++i) of_[i] = find(g.nodes[i]);
  }
  // The union over all outputs.
  constexpr receptive_field widest() const {
    receptive_field r{};
    for (int i = 0; i < g_.output_count; ++i) r = both(r, of_[g_.outputs[i].node]);
    return r;
  }

 private:
  constexpr bool is_position(const axis_info* a) const {
    for (int i = 0; i < count_; ++i)
      if (a && a->length_axis() == family_[i]) return true;
    return false;
  }
  constexpr bool has_position(const axis_list& axes) const {
    for (int i = 0; i < axes.count; ++i)
      if (is_position(axes.at[i])) return true;
    return false;
  }
  constexpr void add_family(const axis_info* a) {
    if (is_position(a)) return;
    if (count_ == max_family) the_positions_have_more_names_than_paths_follow();
    family_[count_++] = a->length_axis();
  }

  static constexpr receptive_field both(const receptive_field& a, const receptive_field& b) {
    if (!a.any || !b.any) return a.any ? a : b;
    return {true, std::min(a.low, b.low), std::max(a.high, b.high), std::max(a.hops, b.hops)};
  }
  constexpr receptive_field moved(receptive_field r, double low, double high, double hops) const {
    return {r.any, std::max(-whole_, r.low + low), std::min(whole_, r.high + high), r.hops + hops};
  }
  constexpr receptive_field mixed(const receptive_field& r) const {
    return {r.any, -whole_, whole_, r.hops + 1};
  }

  constexpr receptive_field find(const node& n) {
    if (n.kind == op::input) return {has_position(n.axes), 0, 0, 0};
    if (is_attention(n.kind)) return attended(n);
    if (n.kind == op::carry) return carried(n);
    receptive_field r{};
    bool loses = is_rowwise(n.kind) && has_position(row_axes(n));
    for (int j = 0; j < n.operands; ++j) {
      const node& x = g_.nodes[n.operand[j]];
      r = both(r, of_[n.operand[j]]);
      for (int a = 0; a < x.axes.count; ++a)
        loses |= is_position(x.axes.at[a]) && !n.axes.contains(x.axes.at[a]);
    }
    if (!loses) return r;
    axis_position_change change{*this, n, r};
    return receptive_fields[n.kind](change);
  }

  constexpr receptive_field attended(const node& n) const {
    const attention_axes axes = attention_axes_of(g_, n);
    receptive_field seen{}, seeing{};  // of keys and values; of what each query has
    for_each_operand(n, [&](const slot& s, int id) {
      receptive_field& r = s.what == role::key || s.what == role::value ? seen : seeing;
      r = both(r, of_[id]);
    });
    if (!is_position(axes.key)) return both(seeing, seen);
    // An offset is known only at run time.
    const bool banded = is_position(axes.query) && find_operand(n, role::offset) < 0;
    const auto within = [&](std::int64_t distance, double far) {
      return banded ? std::clamp(static_cast<double>(distance), -whole_, whole_) : far;
    };
    return both(seeing,
                moved(seen, within(band_lowest(n), -whole_), within(band_highest(n), whole_), 1));
  }

  // A carry depends on all steps before it, through each of them.
  constexpr receptive_field carried(const node& n) const {
    const region& r = g_.regions[n.region - 1];
    const double steps = static_cast<double>(r.axis->extent);
    if (!is_position(r.axis)) return {true, -whole_, whole_, steps};
    return {true, r.backwards ? 0 : -whole_, r.backwards ? whole_ : 0, steps};
  }

  friend axis_position_change;
  static constexpr int max_family = 32;
  const graph& g_;
  double whole_;
  const axis_info* family_[max_family]{};
  int count_ = 0;
  receptive_field of_[max_nodes]{};
};

constexpr const axis_info* axis_position_change::new_axis() const {
  return weft::new_axis(n.axes, finder.g_.nodes[n.operand[0]].axes);
}
constexpr void axis_position_change::follow(const axis_info* axis) {
  finder.add_family(axis);
}
constexpr receptive_field axis_position_change::moved(double by) const {
  return finder.moved(operands, by, by, 0);
}
constexpr receptive_field axis_position_change::widened(double high) const {
  return finder.moved(operands, 0, high, 1);
}
constexpr receptive_field axis_position_change::everywhere() const {
  return {operands.any, -finder.whole_, finder.whole_, operands.hops};
}
constexpr receptive_field axis_position_change::mixed() const {
  return finder.mixed(operands);
}

}  // namespace detail

// The maximum, over two positions along `axis`, of the shortest path between them in operations
// that mix positions (attention, a window of a convolution, a step of a scan), with the model
// applied repeatedly where once does not reach. 0 where it mixes no positions.
constexpr double longest_path(const graph& g, const axis_info* axis) {
  const detail::receptive_field r = detail::receptive_field_finder(g, axis).widest();
  const double far = std::max(-r.low, r.high);
  if (!r.any || far <= 0) return 0;
  const auto distance = static_cast<std::int64_t>(axis->extent) - 1;
  const auto each = static_cast<std::int64_t>(far);
  return r.hops * static_cast<double>((distance + each - 1) / each);
}

}  // namespace weft
#include "weft/header_end.hpp"
