// What no run can change is computed once, before the first of them.
#pragma once

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
    for (int i = g.count - 1; i >= 0; --i) choose(i);
  }

  constexpr bool finds_any() const { return finds_any_; }

  // What is computed once comes first. What is worth no memory, and both parts need, is computed in
  // both.
  constexpr graph run() const {
    graph h = empty_like(g_);
    int to[max_nodes]{};
    for (int i = 0; i < g_.count; ++i)
      if (needed_[i]) emit(h, i, to, true);
    for (int i = 0; i < g_.count; ++i)
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

  // Worth to be kept?
  static constexpr bool is_expensive(op o) {
    bool const function = o >= op::exp && o <= op::gelu_tanh && o != op::relu;
    return function || o == op::gelu_adjoint || o == op::gelu_tanh_adjoint || is_reduction(o) ||
           is_rowwise(o) || o == op::dot || o == op::attention || o == op::attention_adjoint ||
           o == op::gather || o == op::scatter_add;
  }

  // Elements of what is computed once are those at the bounds: each must be the same at any length.
  constexpr bool depends_on_lengths(const node& n) const {
    if (is_elementwise(n.kind) || n.kind == op::positions || n.kind == op::rename) return false;
    if (n.named.bounded()) return true;
    axis_list from{};  // bounded axes of the operands
    for (int j = 0; j < n.operands; ++j) {
      axis_list const& axes = g_.nodes[n.operand[j]].axes;
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
    node const& n = g_.nodes[i];
    if ((is_leaf(n.kind) && n.kind != op::constant) || n.region != 0) return;
    for (int j = 0; j < n.operands; ++j)
      if (!known_[n.operand[j]]) return;
    if (depends_on_lengths(n)) return;
    known_[i] = true;
    for (int j = 0; j < n.operands; ++j) size_[i] = std::max(size_[i], size_[n.operand[j]]);
    bool const fuses = is_elementwise(n.kind) || (is_view(n.kind) && n.kind != op::merge);
    if (is_expensive(n.kind) || (size_[i] > 0 && !fuses)) size_[i] = n.axes.extent();
  }

  // Users come before what they use.
  constexpr void choose(int i) {
    node const& n = g_.nodes[i];
    bool const view = is_view(n.kind) && n.kind != op::merge;
    kept_[i] = size_[i] > 0 && (needed_[i] || (!view && n.axes.extent() <= size_[i]));
    needed_[i] = needed_[i] || kept_[i];
    finds_any_ = finds_any_ || kept_[i];
    for (int j = 0; needed_[i] && j < n.operands; ++j) needed_[n.operand[j]] = true;
  }

  const graph& g_;
  bool finds_any_ = false;
  bool known_[max_nodes]{};  // the same in every run
  // Of what costs much and is behind a known node: the elements of the largest, as they would be
  // kept if all that follows were left to the run; 0 where there is none.
  std::size_t size_[max_nodes]{};
  bool needed_[max_nodes]{};  // by what is computed once
  bool kept_[max_nodes]{};    // for the runs
};

}  // namespace detail

// Marks as `once` what depends on no input, parameter, state, dropout or length, and costs a
// function, a reduction, a contraction or a gather: the table of sinusoidal positions, the cosines
// and sines of rotary ones. These nodes come first. An engine computes them when it gets its
// memory, every length at its bound; a run reads as far as its own lengths go.
//
// What mixes elements along an axis of unknown length goes by the length, and so does what a scan's
// body computes: these stay. So does what only spreads a smaller table by cheap arithmetic, as a
// product of slopes and distances does: it is not worth its memory, and fuses with its user.
//
// After attention has been recognised, which goes by how its mask is computed; before fusion, which
// keeps apart what is computed once from what is not.
constexpr graph hoist(graph g) {
  detail::hoister const h(g);
  if (!h.finds_any()) return g;
  return h.run();
}

}  // namespace weft
