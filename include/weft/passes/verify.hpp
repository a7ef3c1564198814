// Whether a graph is well-formed: what every pass may rely on, and has to keep.
#pragma once
#include "weft/header_begin.hpp"

#include <string_view>

#include "weft/graph/attention.hpp"
#include "weft/graph/graph.hpp"
#include "weft/graph/op_table.hpp"

namespace weft {

namespace detail {

constexpr bool is_subset(const axis_list& some, const axis_list& of) {
  for (int a = 0; a < some.count; ++a)
    if (!of.contains(some.at[a])) return false;
  return true;
}

class verifier {
 public:
  explicit constexpr verifier(const graph& g) : g_(g) {}

  // What is wrong with node i; empty: nothing.
  constexpr std::string_view fault(int i) const {
    const node& n = g_.nodes[i];
    const auto& of = info(n.kind);
    if (!has_its_operands(n)) return "the number of operands";
    for (int j = 0; j < n.operands; ++j)
      if (n.operand[j] < 0 || n.operand[j] >= i) return "an operand that does not come before it";
    for (int a = 0; a < n.axes.count; ++a)
      for (int b = 0; b < a; ++b)
        if (n.axes.at[a] == n.axes.at[b]) return "an axis twice";
    if (!names_its_numbers(n)) return "an attribute that its operation has no name for";
    if (const std::string_view what = fault_of_region(n); !what.empty()) return what;
    if (const std::string_view what = fault_of_scan(n); !what.empty()) return what;
    if (of.in == op_class::elementwise) return fault_of_elementwise(n, of.types);
    if (of.in == op_class::rowwise && !same_axes_in_any_order(n.axes, axes(n, 0)))
      return "axes that are not its operand's";
    if (n.kind == op::sum || n.kind == op::max) return fault_of_reduction(n);
    if (of.in == op_class::contraction) return fault_of_contraction(n);
    if (of.in == op_class::attention) return fault_of_attention(n);
    return {};
  }
  constexpr std::string_view fault_of_body(int i) const {
    // The nodes of a scan's body follow one another.
    const int body = loop_of(g_, i);
    if (body == 0 || i == 0 || loop_of(g_, i - 1) == body) return {};
    for (int k = i + 1; k < g_.count; ++k)
      if (loop_of(g_, k) == body && loop_of(g_, k - 1) != body) return "a body in two parts";
    return {};
  }

 private:
  constexpr const axis_list& axes(const node& n, int j) const {
    return g_.nodes[n.operand[j]].axes;
  }
  // Whether there is an operand for each slot that says so.
  static constexpr bool has_its_operands(const node& n) {
    int slots = 0;
    bool repeats = false;
    for (int s = 0; s < info(n.kind).slot_count; ++s) {
      const slot& of = info(n.kind).slots[s];
      if (!is_operand(of) || !has_slot(n, s)) continue;
      ++slots;
      repeats = repeats || of.is == presence::repeated;
    }
    return n.operands == slots ||
           (repeats && n.operands > slots && n.operands <= most_operands(n.kind));
  }
  static constexpr bool names_its_numbers(const node& n) {
    bool all = true;
    for_each_number(
        n, [&](const auto& words, auto x, auto usual) { all = all && (words[0] || x == usual); });
    return all;
  }
  constexpr dtype type(const node& n, int j) const { return g_.nodes[n.operand[j]].type; }

  constexpr bool is_carry(const node& n, int j) const {
    return g_.nodes[n.operand[j]].kind == op::carry;
  }

  // What may be read where, see region_of.
  constexpr std::string_view fault_of_region(const node& n) const {
    const bool enters = n.kind == op::carry || n.kind == op::scan_slice;
    const bool leaves = n.kind == op::scan_result || n.kind == op::scan_collect;
    if (n.region < 0 || n.region > g_.region_count || (enters && n.region == 0) ||
        n.region != region_of(g_, n))
      return "a scan that is not its operands'";
    for (int j = 0; j < n.operands; ++j) {
      const int region = g_.nodes[n.operand[j]].region;
      if (leaves ? region == 0 : region != (enters ? 0 : n.region) && region != 0)
        return "an operand of another scan";
    }
    return {};
  }
  // See graph/graph.hpp.
  constexpr std::string_view fault_of_scan(const node& n) const {
    if ((n.kind == op::yield || n.kind == op::scan_result) && !is_carry(n, 0))
      return "an operand that is no carry";
    if (n.kind == op::scan_result && !same_axes_in_any_order(n.axes, axes(n, 0)))
      return "axes that are not the carry's";
    if (n.kind == op::carry && (!is_subset(axes(n, 0), n.axes) || type(n, 0) != n.type))
      return "an initial value of other axes or elements";
    if (n.kind == op::yield && (!is_subset(axes(n, 1), axes(n, 0)) || type(n, 1) != type(n, 0)))
      return "a new value of other axes or elements";
    if (n.kind != op::scan_slice && n.kind != op::scan_collect) return {};
    const axis_list& whole = n.kind == op::scan_slice ? axes(n, 0) : n.axes;
    const axis_list& part = n.kind == op::scan_slice ? n.axes : axes(n, 0);
    if (whole.count != part.count + 1 || !is_subset(part, whole) ||
        !whole.contains(scanned_axis(n)) || part.contains(scanned_axis(n)))
      return "axes that do not follow from the scanned one";
    return {};
  }
  constexpr std::string_view fault_of_elementwise(const node& n, element_types types) const {
    bool same = true;
    const auto is_number = [](dtype e) { return e == dtype::float32 || e == dtype::int32; };
    for (int j = 0; j < n.operands; ++j) {
      const bool ids = g_.nodes[n.operand[j]].kind == op::element_ids;
      if (!ids && !is_subset(axes(n, j), n.axes)) return "an operand with axes that it lacks";
      same = same && type(n, j) == type(n, 0);
    }
    bool good = true;
    switch (types) {
      case element_types::floats:
        good = same && n.type == dtype::float32 && type(n, 0) == dtype::float32;
        break;
      case element_types::numbers:
        good = same && n.type == type(n, 0) && is_number(n.type);
        break;
      case element_types::same:
        good = same && n.type == type(n, 0);
        break;
      case element_types::comparison:
        good = same && n.type == dtype::boolean && is_number(type(n, 0));
        break;
      case element_types::equality:
        good = same && n.type == dtype::boolean && type(n, 0) != dtype::bfloat16;
        break;
      case element_types::booleans:
        good = same && n.type == dtype::boolean && type(n, 0) == dtype::boolean;
        break;
      case element_types::mixed:
        break;
    }
    return good ? std::string_view() : "element types that the operation lacks";
  }
  constexpr std::string_view fault_of_reduction(const node& n) const {
    if (!is_subset(n.axes, axes(n, 0))) return "an axis that its operand lacks";
    for (int a = 0; a < axes(n, 0).count; ++a)
      if (n.axes.contains(axes(n, 0).at[a]) == n.named.contains(axes(n, 0).at[a]))
        return "axes that do not follow from those that it names";
    return {};
  }
  constexpr std::string_view fault_of_contraction(const node& n) const {
    for (int a = 0; a < n.axes.count; ++a)
      if (!axes(n, 0).contains(n.axes.at[a]) && !axes(n, 1).contains(n.axes.at[a]))
        return "an axis that no factor has";
    for (int j = 2; j < n.operands; ++j)
      if (!is_subset(axes(n, j), n.axes)) return "an addend with axes that it lacks";
    return {};
  }

  // Each operand has the elements and no axes but those that its slot says.
  constexpr std::string_view fault_of_attention(const node& n) const {
    std::string_view fault;
    const attention_axes all = attention_axes_of(g_, n);
    for_each_operand(n, [&](const slot& s, int id) {
      const node& x = g_.nodes[id];
      axis_list may = s.loops & over::batch ? all.batch : axis_list{};
      for (unsigned loop = over::query; loop <= over::distance; loop *= 2)
        if (const axis_info* const axis = axis_of(all, s.loops & loop)) may.push(axis);
      if (!is_subset(x.axes, may)) fault = "an operand with axes that its role lacks";
      const bool narrow = s.narrow && x.type == dtype::bfloat16;
      if (s.by == access::reads && x.type != s.type && !narrow)
        fault = "an operand with elements that its role lacks";
    });
    return fault;
  }

  const graph& g_;
};

}  // namespace detail

// The first node with a fault, and what it has; -1: the graph is well-formed.
struct graph_fault {
  int node;
  std::string_view what;
};
constexpr graph_fault verify(const graph& g, bool grouped = false) {
  const detail::verifier v(g);
  for (int i = 0; i < g.count; ++i) {
    if (const std::string_view what = v.fault(i); !what.empty()) return {i, what};
    if (!grouped) continue;
    if (const std::string_view what = v.fault_of_body(i); !what.empty()) return {i, what};
  }
  for (int i = 0; i < g.output_count; ++i)
    if (g.outputs[i].node < 0 || g.outputs[i].node >= g.count) return {0, "an output of no node"};
  return {-1, {}};
}

}  // namespace weft
#include "weft/header_end.hpp"
