// Prologue and epilogue fusion: an elementwise operation next to a contraction or a rowwise
// operation becomes part of it, applied while values are in registers or in L1. The remaining
// elementwise operations form fusion groups of one instruction each. This saves memory passes.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/fusion_group.hpp"
#include "weft/graph/graph.hpp"
#include "weft/passes/fuse_rowwise.hpp"
#include "weft/passes/simplify.hpp"

namespace weft {

namespace detail {

class elementwise_grouper {
 public:
  explicit constexpr elementwise_grouper(graph& g) : g_(g) {}

  // In reverse order, so that all users of a node are assigned to groups before it.
  constexpr void run() {
    for (int i = 0; i < g_.output_count; ++i) end_[g_.outputs[i].node] = several;
    for (int i = g_.count - 1; i >= 0; --i) {
      node& n = g_.nodes[i];
      n.fused = joins(i);
      const int end = n.fused ? end_[i] - 1 : i;
      for (int j = 0; j < n.operands; ++j) {
        int& users_end = end_[n.operand[j]];
        users_end = users_end == 0 || users_end == end + 1 ? end + 1 : several;
      }
    }
  }

 private:
  static constexpr int several = max_nodes + 1;

  // Whether one group alone uses node i, iterates as it does, and has room for it.
  constexpr bool joins(int i) {
    node& n = g_.nodes[i];
    if (!is_elementwise(n.kind) || end_[i] == 0 || end_[i] == several) return false;
    const node& last = g_.nodes[end_[i] - 1];
    if (!is_elementwise(last.kind) || !(last.axes == n.axes) || !same_schedule(last, n))
      return false;
    int inputs[max_fused_inputs + 3]{};
    int input_count = 0;
    const auto read = [&](int id) {
      for (int j = 0; j < input_count; ++j)
        if (inputs[j] == id) return;
      inputs[input_count++] = id;
    };
    const fusion_group c = fusion_group_of(g_, end_[i] - 1);
    for (int j = 0; j < c.input_count; ++j)
      if (c.inputs[j] != i) read(c.inputs[j]);
    for (int j = 0; j < n.operands; ++j) read(n.operand[j]);
    return c.count < max_fused_ops && input_count <= max_fused_inputs;
  }

  graph& g_;
  int end_[max_nodes]{};  // id + 1 of the last node of the group that uses it; 0: unused
};

}  // namespace detail

// Marks as fused the elementwise nodes that only one fusion group uses.
constexpr void group_elementwise(graph& g) {
  detail::elementwise_grouper(g).run();
}

inline constexpr int max_addends = 2;  // biases and residuals of one dot, beside lhs and rhs

namespace detail {

class fuser {
 public:
  explicit constexpr fuser(const graph& g) : g_(g) {
    for (int i = 0; i < g.count; ++i)
      for (int j = 0; j < g.nodes[i].operands; ++j) ++uses_[g.nodes[i].operand[j]];
    for (int i = 0; i < g.output_count; ++i) uses_[g.outputs[i].node] = many;
  }

  constexpr graph run() {
    graph h = empty_like(g_);
    int to[max_nodes]{};
    for (int i = 0; i < g_.count; ++i) {
      node n = g_.nodes[i];
      for (int j = 0; j < n.operands; ++j) n.operand[j] = to[n.operand[j]];
      fuse_prologue(h, g_.nodes[i], n);
      if (const int same = is_masked_already(h, n); same >= 0) {
        to[i] = same;
        continue;
      }
      if (!fuse_epilogue(h, g_.nodes[i], n) && !fuse_epilogue_of_second(h, g_.nodes[i], n))
        fuse_rowwise_epilogue(h, g_.nodes[i], n);
      to[i] = h.emit(n);
    }
    remap_interface(h, g_, to, nullptr);
    h = eliminate_dead_code(h);  // what was fused
    if (fuse_norm_parameter_gradients(h)) h = eliminate_dead_code(h);
    if (fold_residual_sums(h)) h = eliminate_dead_code(h);
    group_elementwise(h);
    return h;
  }

 private:
  static constexpr int many = max_nodes;

  // Operand j, if it is a dot that can take n as its epilogue and has no other user; else null.
  constexpr const node* contraction(const graph& h, const node& original, const node& n,
                                    int j) const {
    const node& c = h.nodes[n.operand[j]];
    const bool only_here = uses_[original.operand[j]] == 1;
    const bool alike = c.axes == n.axes && same_schedule(c, n);
    return c.kind == op::dot && c.epilogue == op::copy && only_here && alike ? &c : nullptr;
  }

  // If n's first operand is a dot whose epilogue can do n's work, n becomes that dot. Returns
  // whether it did.
  constexpr bool fuse_epilogue(const graph& h, const node& original, node& n) const {
    if (n.operands == 0) return false;
    const node* const c = contraction(h, original, n, 0);
    if (!c) return false;
    node fused = *c;
    if (has_flag(n.kind, op_flag::epilogue)) {
      fused.epilogue = n.kind;
    } else if (n.kind == op::add) {
      if (!add(fused, n.operand[1])) return false;
    } else if (const double by = factor(h, n); by != 0 && c->operands == 2) {
      fused.scale *= by;
    } else {
      return false;
    }
    n = fused;
    return true;
  }

  // The same for the second operand of a sum or a product.
  constexpr bool fuse_epilogue_of_second(const graph& h, const node& original, node& n) const {
    if (n.kind != op::add && n.kind != op::multiply) return false;
    node turned = n;
    node turned_original = original;
    std::swap(turned.operand[0], turned.operand[1]);
    std::swap(turned_original.operand[0], turned_original.operand[1]);
    if (!fuse_epilogue(h, turned_original, turned)) return false;
    n = turned;
    return true;
  }

  // Fuses n's producers into it.
  constexpr void fuse_prologue(const graph& h, const node& original, node& n) const {
    if (n.kind == op::dot) fold_scales(h, n);
    fold_mask(h, n, factor);
    if (is_adjoint_of_normalization(n.kind) && uses_[original.operand[1]] == 1) fold_gain(h, n);
    fold_one_hot(h, n);
    if (n.kind == op::sum && uses_[original.operand[0]] == 1) fold_multiply(h, n);
  }

  // Fuses n into the rowwise operation that it follows, if that has no other user.
  constexpr void fuse_rowwise_epilogue(const graph& h, const node& original, node& n) const {
    if (n.kind != op::add && n.kind != op::multiply) return;
    for (int j = 0; j < 2; ++j)
      if (uses_[original.operand[j]] == 1 && same_schedule(h.nodes[n.operand[j]], n) &&
          (fold_affine(h, n, j) || fold_residual(h, n, j)))
        return;
  }

  // Fuses residual sums into normalizations with gain and bias; false where there is none.
  static constexpr bool fold_residual_sums(graph& h) {
    int uses[max_nodes]{};
    for (int i = 0; i < h.count; ++i)
      for (int j = 0; j < h.nodes[i].operands; ++j) ++uses[h.nodes[i].operand[j]];
    for (int i = 0; i < h.output_count; ++i) uses[h.outputs[i].node] = many;
    bool any = false;
    for (int i = 0; i < h.count; ++i) {
      fold_residual_sum(h, h.nodes[i], uses);
      any = any || (is_normalization(h.nodes[i].kind) && h.nodes[i].operands == 4);
    }
    return any;
  }

  // The constant that n scales its operand 0 by; 0 if n does something else.
  static constexpr double factor(const graph& h, const node& n) {
    if (n.kind == op::negate) return -1;
    if (n.kind != op::multiply && n.kind != op::divide) return 0;
    const node& c = h.nodes[n.operand[1]];
    if (c.kind != op::constant || constant_value(c) == 0) return 0;  // 1 / 0 is no constant
    if (!(h.nodes[n.operand[0]].axes == n.axes)) return 0;
    return n.kind == op::multiply ? constant_value(c) : 1 / constant_value(c);
  }

  // Moves a constant scale of lhs or rhs to the dot.
  static constexpr void fold_scales(const graph& h, node& dot) {
    for (int j = 0; j < 2; ++j) {
      const node& scaled = h.nodes[dot.operand[j]];
      const double by = scaled.type == dtype::float32 ? factor(h, scaled) : 0;
      if (by == 0) continue;
      dot.scale *= by;
      dot.operand[j] = scaled.operand[0];
    }
  }

  // In where(mask, g, 0), with g the adjoint of a softmax under the same mask, g is already 0 where
  // the mask is false, since the weights are a factor of it. Returns g then, else -1.
  static constexpr int is_masked_already(const graph& h, const node& n) {
    if (n.kind != op::where) return -1;
    const node& g = h.nodes[n.operand[1]];
    if (!is_constant(h, n.operand[2], 0) || g.kind != op::softmax_adjoint) return -1;
    if (!(g.axes == n.axes)) return -1;
    const node& weights = h.nodes[g.operand[0]];
    if (weights.kind != op::softmax) return -1;
    return weights.operands == 2 && weights.operand[1] == n.operand[0] ? n.operand[1] : -1;
  }

  static constexpr bool add(node& dot, int addend) {
    if (dot.operands == 2 + max_addends) return false;
    add_operand(dot, dot.operands == 2 ? role::addend : role::second_addend, addend);
    return true;
  }

  const graph& g_;
  int uses_[max_nodes]{};
};

}  // namespace detail

// Outputs change by rounding only: division by a constant becomes a product with its reciprocal.
// What is computed once before a scan, or before all runs, is not computed again.
//
//   dot -> * or / a constant          dot with that scale; likewise for a scaled lhs or rhs
//   dot -> + a tensor, twice          dot with that bias or residual
//   dot -> relu, gelu, tanh, sigmoid  dot with that function in its epilogue
//   a mask, a scale -> softmax        softmax with that mask and scale
//   softmax_adjoint -> a mask         softmax_adjoint, if the softmax had the same mask
//   normalize -> * gain, + bias       normalize with both; a residual sum -> that: its operand too
//   * gain -> normalize_adjoint       normalize_adjoint with the gain; -> +: and that addend
//   sums beside normalize_adjoint     norm_parameter_gradient, for gain and bias (attributes.hpp)
//   (the same for rms_normalize)
//   scatter_add -> log_softmax_adj.   log_softmax_adjoint of one value and index per row
//   multiply -> sum                   sum of products
//   elementwise -> elementwise        fusion group: one instruction (see fusion_group.hpp)
constexpr graph fuse(const graph& g) {
  return detail::fuser(g).run();
}

}  // namespace weft
#include "weft/header_end.hpp"
