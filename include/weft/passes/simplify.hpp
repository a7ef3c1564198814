// Common subexpression elimination, constant folding, copy propagation, algebraic identities
// and dead-code elimination.
#pragma once
#include "weft/header_begin.hpp"

#include <bit>
#include <cstdint>
#include <limits>
#include <utility>

#include "weft/graph/graph.hpp"
#include "weft/graph/ops.hpp"
#include "weft/passes/eliminate_dead_code.hpp"

namespace weft {

namespace detail {

constexpr bool same_node(const node& a, const node& b) {
  if (a.kind != b.kind || a.region != b.region || a.type != b.type || a.operands != b.operands ||
      a.start != b.start ||
      std::bit_cast<std::uint64_t>(a.scalar) != std::bit_cast<std::uint64_t>(b.scalar) ||
      a.scale != b.scale || a.epilogue != b.epilogue || a.present != b.present ||
      a.lowest != b.lowest || a.highest != b.highest || a.origin != b.origin)
    return false;
  for (int i = 0; i < a.operands; ++i)
    if (a.operand[i] != b.operand[i]) return false;
  return a.axes == b.axes && a.named == b.named;
}

// Whether `some` is a subsequence of `all`.
constexpr bool is_in_order(const axis_list& some, const axis_list& all) {
  int found = 0;
  for (int i = 0; i < all.count && found < some.count; ++i)
    if (all.at[i] == some.at[found]) ++found;
  return found == some.count;
}

// Builds a graph, reusing an equal node that is there already instead of emitting a new one.
class value_numbering {
 public:
  explicit constexpr value_numbering(graph& g) : g_(g) {}

  // The id of a node with n's value: folded, found or emitted.
  constexpr int add(node n) {
    propagate_copies(n);
    if (const int same = folded(n); same >= 0 && g_.nodes[same].axes == n.axes) return same;
    const bool own = n.kind == op::carry || n.kind == op::yield;
    if (own || n.kind == op::input || n.kind == op::parameter || n.kind == op::state)
      return g_.emit(n);
    n.region = region_of(g_, n);
    if (has_flag(n.kind, op_flag::commutes) && n.operand[0] > n.operand[1])
      std::swap(n.operand[0], n.operand[1]);
    std::uint32_t at = hash(n);
    for (; table_[at % table_size] != 0; ++at)
      if (const int id = table_[at % table_size] - 1; same_node(g_.nodes[id], n)) return id;
    const int id = g_.emit(n);
    table_[at % table_size] = id + 1;
    return id;
  }

  // ---- for the entries' functions fold, which give the id of a node with n's value, or -1; they
  // may make n a simpler node.

  constexpr const node& operand(const node& n, int i) const { return g_.nodes[n.operand[i]]; }
  constexpr bool is_constant(const node& n, int i, double value) const {
    return operand(n, i).kind == op::constant && constant_value(operand(n, i)) == value;
  }
  // Whether operand i has n's axes and dtype, so that it could replace n.
  constexpr bool is_like(const node& n, int i) const {
    return operand(n, i).axes == n.axes && operand(n, i).type == n.type;
  }

  // Elementwise operations broadcast by themselves.
  constexpr void propagate_copies(node& n) const {
    if (!is_elementwise(n.kind)) return;
    for (int j = 0; j < n.operands; ++j) {
      const node& copy = operand(n, j);
      if (copy.kind == op::copy && is_in_order(operand(copy, 0).axes, copy.axes))
        n.operand[j] = copy.operand[0];
    }
  }

  // The constant `value` of n's elements; -1 for a finite one that they do not hold, which is left
  // to the kernels: an int32 wraps there, and a float overflows.
  constexpr int constant(const node& n, double value) {
    node c = make_node(op::constant);
    c.type = n.type;
    using int32 = std::numeric_limits<std::int32_t>;
    if (n.type == dtype::int32 && !(value >= int32::min() && value <= int32::max())) return -1;
    const double size = value < 0 ? -value : value;
    if (size > double{std::numeric_limits<float>::max()} &&
        size <= std::numeric_limits<double>::max())
      return -1;
    constant_value(c) =
        n.type == dtype::int32      ? static_cast<double>(static_cast<std::int32_t>(value))
        : n.type == dtype::boolean  ? (value != 0)
        : n.type == dtype::bfloat16 ? static_cast<double>(bfloat16(static_cast<float>(value)))
                                    : static_cast<double>(static_cast<float>(value));
    return add(c);
  }

  // For x >= 0. Newton's iteration, which descends to the root from above.
  static constexpr double square_root(double x) {
    if (x == 0) return 0;
    double root = x > 1 ? x : 1;
    for (double next = (root + x / root) / 2; next < root; next = (root + x / root) / 2)
      root = next;
    return root;
  }
  // Value `id`, a scalar, with the axes of n.
  static constexpr node broadcast(const node& n, int id) {
    node copy = make_node(op::copy);
    copy.type = n.type;
    copy.axes = n.axes;
    copy.operands = 1;
    copy.operand[0] = id;
    return copy;
  }

  // A sum of pads, as the gradients for slices are, becomes a concatenation of their operands, if
  // these cover the whole axis without overlap.
  constexpr bool pads_to_concatenate(node& n) const {
    node joined = make_node(op::concatenate);
    joined.type = n.type;
    joined.axes = n.axes;
    const axis_info* whole = nullptr;
    std::int64_t starts[max_rank]{};
    if (!collect_pads(n.operand[1], joined, whole, starts) ||
        !collect_pads(n.operand[0], joined, whole, starts))
      return false;
    std::int64_t next = 0;
    for (int i = 0; i < joined.operands; ++i) {
      if (starts[i] != next) return false;
      next += static_cast<std::int64_t>(concatenated_axes(joined).at[i]->extent);
    }
    if (next != static_cast<std::int64_t>(whole->extent)) return false;
    n = joined;
    return true;
  }
  // Inserts the operands of the pads that node id is the sum of, sorted by start.
  constexpr bool collect_pads(int id, node& joined, const axis_info*& whole,
                              std::int64_t* starts) const {
    const node& p = g_.nodes[id];
    if (!(p.axes == joined.axes)) return false;
    if (p.kind == op::add)
      return collect_pads(p.operand[1], joined, whole, starts) &&
             collect_pads(p.operand[0], joined, whole, starts);
    if (p.kind != op::pad || slice_axes(p).count != 1 || joined.operands == max_rank) return false;
    if (whole && whole != sliced_axis(p)) return false;
    whole = sliced_axis(p);
    const axis_info* const axis = operand(p, 0).axes.at[p.axes.find(whole)];
    if (whole->bounded || axis->bounded) return false;
    int at = joined.operands++;
    axis_list& parts = concatenated_axes(joined);
    parts.count = joined.operands;
    for (; at > 0 && starts[at - 1] > slice_offset(p); --at) {
      starts[at] = starts[at - 1];
      joined.operand[at] = joined.operand[at - 1];
      parts.at[at] = parts.at[at - 1];
    }
    starts[at] = slice_offset(p);
    joined.operand[at] = p.operand[0];
    parts.at[at] = axis;
    return true;
  }

  constexpr int arithmetic(const node& n) {
    const bool additive = n.kind == op::add || n.kind == op::subtract;
    const double neutral = additive ? 0 : 1;
    if (is_constant(n, 1, neutral) && is_like(n, 0)) return n.operand[0];
    if ((n.kind == op::add || n.kind == op::multiply) && is_constant(n, 0, neutral) &&
        is_like(n, 1))
      return n.operand[1];
    if (!is_finite_constant(n, 0) || !is_finite_constant(n, 1)) return -1;
    const double a = constant_value(operand(n, 0));
    const double b = constant_value(operand(n, 1));
    if (n.kind == op::divide && b == 0) return -1;
    return constant(n, n.kind == op::add        ? a + b
                       : n.kind == op::subtract ? a - b
                       : n.kind == op::multiply ? a * b
                                                : a / b);
  }
  // Others are left to the kernels: compilers reject a constant expression that becomes NaN.
  constexpr bool is_finite_constant(const node& n, int i) const {
    const double largest = std::numeric_limits<double>::max();
    if (operand(n, i).kind != op::constant) return false;
    const double x = constant_value(operand(n, i));
    return -largest <= x && x <= largest;
  }

 private:
  static constexpr std::uint32_t table_size = 2 * max_nodes;

  static constexpr std::uint32_t hash(const node& n) {
    const auto bits = std::bit_cast<std::uint64_t>(n.scalar);
    std::uint32_t h = static_cast<std::uint32_t>(n.kind) + static_cast<std::uint32_t>(n.start);
    h = h * 31 + static_cast<std::uint32_t>(bits ^ (bits >> 32));
    for (int i = 0; i < n.operands; ++i) h = h * 31 + static_cast<std::uint32_t>(n.operand[i]);
    return h * 2654435761u >> 7;
  }

  constexpr int folded(node& n);

  graph& g_;
  int table_[table_size]{};  // id + 1; 0: free
};

inline constexpr auto folds = table_of_operations([]<op K>() -> int (*)(value_numbering&, node&) {
  if constexpr (requires(value_numbering & s, node & n) { op_entry<K>::fold(s, n); })
    return &op_entry<K>::fold;
  else
    return nullptr;
});

// The id of an existing node or constant with n's value; -1: none. May make n a simpler node.
constexpr int value_numbering::folded(node& n) {
  const auto fold = folds[n.kind];
  return fold ? fold(*this, n) : -1;
}

}  // namespace detail

// Outputs are preserved up to rounding of constants to their dtype and the sign of a zero that 0 is
// added to. This holds for NaN and infinities too: nothing is folded that they would change, such
// as x * 0, x - x, x == x or !(x < y).
constexpr graph simplify(const graph& original) {
  const graph g = eliminate_dead_code(original);
  graph h = detail::empty_like(g);
  detail::value_numbering build(h);
  int to[max_nodes]{};
  for (int i = 0; i < g.count && !h.rejected; ++i) {
    node n = g.nodes[i];
    for (int j = 0; j < n.operands; ++j) n.operand[j] = to[n.operand[j]];
    to[i] = build.add(n);
  }
  detail::remap_interface(h, g, to, nullptr);
  return eliminate_dead_code(h);
}

}  // namespace weft
#include "weft/header_end.hpp"
