// Loop-invariant code motion across runs: nodes that depend on no input, parameter, state or length
// are computed once, before the first run.
#pragma once
#include "weft/header_begin.hpp"

#include <algorithm>
#include <cstddef>

#include "weft/graph/graph.hpp"
#include "weft/passes/eliminate_dead_code.hpp"

namespace weft {

namespace detail {

class hoister {
 public:
  explicit constexpr hoister(const graph& g) : g_(g) {
    for (int i = 0; i < g.count; ++i) estimate(i);
    for (int i = 0; i < g.count; ++i) want_indices(g.nodes[i]);
    for (int i = g.count - 1; i >= 0; --i) choose(i);
  }

  constexpr bool finds_any() const { return finds_any_; }

  // Invariant nodes come first. Those that are not worth caching, and that both parts need, are
  // duplicated.
  constexpr graph run() const {
    graph h = empty_like(g_);
    int to[max_nodes]{};
    for (int i = 0; i < g_.count && !h.rejected; ++i)
      if (needed_[i]) emit(h, i, to, true);
    for (int i = 0; i < g_.count && !h.rejected; ++i)
      if (!kept_[i]) emit(h, i, to, false);
    remap_interface(h, g_, to, nullptr);
    return eliminate_dead_code(h);
  }

 private:
  constexpr void emit(graph& h, int i, int* to, bool once) const {
    node n = g_.nodes[i];
    n.once = once;
    for (int j = 0; j < n.operands; ++j) n.operand[j] = to[n.operand[j]];
    to[i] = h.emit(n);
  }

  // Whether an element of n may differ between lengths: invariant nodes are computed with all
  // lengths at their bounds.
  constexpr bool depends_on_lengths(const node& n) const {
    if (has_flag(n.kind, op_flag::any_length)) return false;
    // At the bounds an index may lie outside that no run uses.
    if (n.named.bounded() || (refuses_indices(n) && n.axes.bounded())) return true;
    axis_list from{};  // bounded axes of the operands
    for (int j = 0; j < n.operands; ++j) {
      const axis_list& axes = g_.nodes[n.operand[j]].axes;
      for (int a = 0; a < axes.count; ++a) {
        if (!axes.at[a]->bounded || from.contains(axes.at[a])) continue;
        if (!n.axes.contains(axes.at[a])) return true;
        from.push(axes.at[a]);
      }
    }
    for (int a = 0; a < n.axes.count; ++a)
      if (n.axes.at[a]->bounded && !from.contains(n.axes.at[a])) return true;
    return false;
  }

  constexpr void estimate(int i) {
    const node& n = g_.nodes[i];
    if ((is_leaf(n.kind) && n.kind != op::constant) || n.region != 0) return;
    for (int j = 0; j < n.operands; ++j)
      if (!known_[n.operand[j]]) return;
    if (depends_on_lengths(n)) return;
    known_[i] = true;
    for (int j = 0; j < n.operands; ++j) size_[i] = std::max(size_[i], size_[n.operand[j]]);
    const bool fuses = is_elementwise(n.kind) || (is_view(n.kind) && n.kind != op::merge);
    if (has_flag(n.kind, op_flag::expensive) || (size_[i] > 0 && !fuses))
      size_[i] = n.axes.extent();
  }

  // No indexed operation fuses with the arithmetic of its indices, so that cheap ones are worth it.
  constexpr void want_indices(const node& n) {
    if (n.named.count == 0 || !has(n, role::indices)) return;
    int at = find_operand(n, role::indices);
    while (is_view(g_.nodes[at].kind)) at = g_.nodes[at].operand[0];
    const axis_list& axes = g_.nodes[at].axes;
    int bounded = 0;
    for (int a = 0; a < axes.count; ++a) bounded += axes.at[a]->bounded;
    if (known_[at] && bounded < 2) size_[at] = axes.extent();
  }

  // Called for users before their operands.
  constexpr void choose(int i) {
    const node& n = g_.nodes[i];
    const bool view = is_view(n.kind) && n.kind != op::merge;
    kept_[i] = size_[i] > 0 && (needed_[i] || (!view && n.axes.extent() <= size_[i]));
    needed_[i] = needed_[i] || kept_[i];
    finds_any_ = finds_any_ || kept_[i];
    for (int j = 0; needed_[i] && j < n.operands; ++j) needed_[n.operand[j]] = true;
  }

  const graph& g_;
  bool finds_any_ = false;
  bool known_[max_nodes]{};  // invariant
  // Elements of the largest expensive result that a known node depends on, as it would be cached if
  // everything after it were left to the runs; 0: none.
  std::size_t size_[max_nodes]{};
  bool needed_[max_nodes]{};  // by the invariant part
  bool kept_[max_nodes]{};    // cached for the runs
};

}  // namespace detail

// Marks as `once` what depends on no input, parameter, state, dropout or length, and costs a
// function, a reduction, a contraction or a gather: the table of sinusoidal positions, the cosines
// and sines of rotary ones. These nodes come first. An engine computes them when it gets its
// memory, every length at its bound; a run reads them up to its own lengths.
// So are indices that cheap arithmetic makes of positions, unless two of their axes have run-time
// lengths, and they would take much more memory at the bounds than in most runs.
//
// Nodes that mix elements along an axis of run-time length depend on that length and stay in the
// run, as do those of a scan's body. So does what only broadcasts a smaller table by cheap
// arithmetic, as a product of slopes and distances does: it is not worth its memory, and fuses with
// its user.
//
// Runs after fuse_attention, which matches how a mask is computed, and before fuse, which keeps
// invariant nodes and others separate.
constexpr graph hoist(graph g) {
  const detail::hoister h(g);
  if (!h.finds_any()) return g;
  return h.run();
}

}  // namespace weft
#include "weft/header_end.hpp"
