// Prologue and epilogue fusion of rowwise operations and sums. Each function may turn node n, whose
// operands are nodes of h already, into the fused node; those that return bool say whether it did.
//
// The gradients for a normalization's gain and bias are fused into the pass over its rows that
// computes the gradient for its operand: see graph/attributes.hpp.
#pragma once
#include "weft/header_begin.hpp"

#include <limits>

#include "weft/graph/graph.hpp"
#include "weft/passes/eliminate_dead_code.hpp"

namespace weft::detail {

constexpr bool is_constant(const graph& h, int id, double value) {
  return h.nodes[id].kind == op::constant && constant_value(h.nodes[id]) == value;
}

// Whether n's axes are those of its operand j, in the same order.
constexpr bool as_operand(const graph& h, const node& n, int j) {
  return h.nodes[n.operand[j]].axes == n.axes;
}

// normalize(x) * gain becomes normalize(x, gain), and normalize(x, gain) + bias becomes
// normalize(x, gain, bias). Normalize is operand j of n and must have no other user.
constexpr bool fold_affine(const graph& h, node& n, int j) {
  node normal = h.nodes[n.operand[j]];
  const bool gain = n.kind == op::multiply && normal.operands == 1;
  const bool bias = n.kind == op::add && normal.operands == 2;
  if (!is_normalization(normal.kind) || !(gain || bias) || !(normal.axes == n.axes)) return false;
  add_operand(normal, gain ? role::gain : role::bias, n.operand[1 - j]);
  n = normal;
  return true;
}

// normalize(x + y, gain, bias) becomes normalize(x, gain, bias, y), if n alone uses the sum.
constexpr void fold_residual_sum(const graph& h, node& n, const int* uses) {
  if (!is_normalization(n.kind) || n.operands != 3 || uses[n.operand[0]] != 1) return;
  const node& sum = h.nodes[n.operand[0]];
  if (sum.kind != op::add || sum.type != dtype::float32 || !same_schedule(sum, n)) return;
  const int whole = as_operand(h, sum, 0) ? 0 : 1;
  if (!as_operand(h, sum, whole)) return;
  n.operand[0] = sum.operand[whole];
  add_operand(n, role::addend, sum.operand[1 - whole]);
}

// normalize_adjoint(x, g, gain) + y becomes normalize_adjoint(x, g, gain, y). The adjoint is
// operand j of n and must have no other user.
constexpr bool fold_residual(const graph& h, node& n, int j) {
  node adjoint = h.nodes[n.operand[j]];
  if (n.kind != op::add || !is_adjoint_of_normalization(adjoint.kind) || adjoint.operands != 3 ||
      !(adjoint.axes == n.axes))
    return false;
  add_operand(adjoint, role::addend, n.operand[1 - j]);
  n = adjoint;
  return true;
}

// normalize_adjoint(x, g * gain) becomes normalize_adjoint(x, g, gain).
constexpr void fold_gain(const graph& h, node& n) {
  if (!is_adjoint_of_normalization(n.kind) || n.operands != 2) return;
  const node& product = h.nodes[n.operand[1]];
  if (product.kind != op::multiply || !(product.axes == n.axes) || !same_schedule(product, n))
    return;
  const int g = h.nodes[product.operand[0]].axes == n.axes ? 0 : 1;
  if (!as_operand(h, product, g)) return;
  n.operand[1] = product.operand[g];
  add_operand(n, role::gain, product.operand[1 - g]);
}

// log_softmax_adjoint(y, scatter_add(v, indices)) with one value per row, as in the gradient of
// cross-entropy, becomes log_softmax_adjoint(y, v, indices): the zeros of the one-hot rows are
// never written.
constexpr void fold_one_hot(const graph& h, node& n) {
  if (n.kind != op::log_softmax_adjoint || n.operands != 2) return;
  const node& scattered = h.nodes[n.operand[1]];
  if (scattered.kind != op::scatter_add || !(scattered.axes == n.axes)) return;
  const axis_list& rows = h.nodes[scattered.operand[0]].axes;
  const bool row_by_row = row_axes(n).count == 1 && row_axes(n).at[0] == indexed_axis(scattered) &&
                          rows.count + 1 == n.axes.count;
  if (!row_by_row) return;
  n.operand[1] = scattered.operand[0];
  add_operand(n, role::indices, scattered.operand[1]);
}

// softmax(where(mask, x * scale, -infinity)) becomes softmax(x, mask) with that scale.
constexpr void fold_mask(const graph& h, node& n, double (*factor)(const graph&, const node&)) {
  if (n.kind != op::softmax || n.operands != 1) return;
  const node& masked = h.nodes[n.operand[0]];
  if (masked.kind == op::where && as_operand(h, masked, 1) &&
      is_constant(h, masked.operand[2], -std::numeric_limits<double>::infinity())) {
    n.operand[0] = masked.operand[1];
    add_operand(n, role::mask, masked.operand[0]);
  }
  const node& scaled = h.nodes[n.operand[0]];
  const double by = factor(h, scaled);
  if (by == 0 || !same_schedule(scaled, n)) return;
  n.scale *= by;
  n.operand[0] = scaled.operand[0];
}

// sum(x * y) becomes sum(x, y), a sum of products.
constexpr void fold_multiply(const graph& h, node& n) {
  if (n.kind != op::sum || n.type != dtype::float32 || n.operands != 1) return;
  const node& product = h.nodes[n.operand[0]];
  if (product.kind != op::multiply || !as_operand(h, product, 0) || !as_operand(h, product, 1) ||
      !same_schedule(product, n))
    return;
  n.operand[0] = product.operand[0];
  add_operand(n, role::factor, product.operand[1]);
}

class norm_parameter_gradient_fuser {
 public:
  explicit constexpr norm_parameter_gradient_fuser(const graph& h) : h_(h) {
    for (int i = 0; i < h.count; ++i) {
      const node& n = h.nodes[i];
      for (int j = 0; j < n.operands; ++j) read_[n.operand[j]] = true;
    }
    for (int i = 0; i < h.count; ++i) {
      const node& n = h.nodes[i];
      // A sum that another node reads may be needed before the adjoint.
      if (n.kind != op::sum || n.type != dtype::float32 || read_[i]) continue;
      if (n.operands == 1) bias_[n.operand[0]] = i + 1;
      if (n.operands == 2)
        for (int j = 0; j < 2; ++j)
          if (is_normalization(h.nodes[n.operand[1 - j]].kind)) gain_[n.operand[j]] = i + 1;
    }
  }

  // Whether anything was fused; then `result` is the new graph.
  constexpr bool run(graph& result) {
    bool any = false;
    for (int i = 0; i < h_.count; ++i) {
      if (!wants_parameter_gradients(i)) continue;
      any = true;
      const int g = h_.nodes[i].operand[1];
      moved_[gain_[g] - 1] = true;
      if (bias_[g] > 0 && is_sum_of_rows(h_.nodes[bias_[g] - 1], h_.nodes[i]))
        moved_[bias_[g] - 1] = true;
    }
    if (any) result = moved();
    return any;
  }

 private:
  // Whether `sum` reduces over all rows of the adjoint.
  static constexpr bool is_sum_of_rows(const node& sum, const node& adjoint) {
    return sum.axes == row_axes_in_order(adjoint) && same_schedule(sum, adjoint);
  }

  // Whether node i is a normalization's adjoint whose gain's gradient is computed too.
  constexpr bool wants_parameter_gradients(int i) const {
    const node& n = h_.nodes[i];
    if (!is_adjoint_of_normalization(n.kind) || n.operands < 3 || n.region != 0) return false;
    if (n.axes.count == max_rank || row_axes(n).bounded()) return false;
    if (gain_[n.operand[1]] == 0) return false;
    const node& sum = h_.nodes[gain_[n.operand[1]] - 1];
    if (!is_sum_of_rows(sum, n)) return false;
    for (int j = 0; j < 2; ++j) {
      const node& normal = h_.nodes[sum.operand[j]];
      if (normal.kind == normalization_of_adjoint(n.kind) && normal.operands == 1 &&
          normal.operand[0] == n.operand[0] && row_axes(normal) == row_axes(n) &&
          epsilon_of(normal) == epsilon_of(n) && sum.operand[1 - j] == n.operand[1])
        return true;
    }
    return false;
  }

  constexpr graph moved() const {
    graph to_graph = empty_like(h_);
    int to[max_nodes]{};
    for (int i = 0; i < h_.count; ++i) {
      if (moved_[i]) continue;
      node n = h_.nodes[i];
      const bool sums = wants_parameter_gradients(i);
      if (sums) mark(n, role::partial_sums);
      for (int j = 0; j < n.operands; ++j) n.operand[j] = to[n.operand[j]];
      to[i] = to_graph.emit(n);
      if (!sums) continue;
      const int g = h_.nodes[i].operand[1];
      for (int which = 0; which < 2; ++which) {
        const int sum = (which == 0 ? gain_[g] : bias_[g]) - 1;
        if (sum < 0 || !moved_[sum]) continue;
        node s = make_node(op::norm_parameter_gradient);
        s.axes = h_.nodes[sum].axes;
        norm_parameter(s) = which;
        add_operand(s, role::x, to[i]);
        to[sum] = to_graph.emit(s);
      }
    }
    remap_interface(to_graph, h_, to, nullptr);
    return to_graph;
  }

  const graph& h_;
  bool read_[max_nodes]{};                     // by any node
  int gain_[max_nodes]{}, bias_[max_nodes]{};  // of g: the sum's id + 1; 0: none
  bool moved_[max_nodes]{};
};

// Afterwards the product with the gain may be the only user of normalize(x), which then takes gain
// and bias. False, and h unchanged, where there is nothing to fuse.
constexpr bool fuse_norm_parameter_gradients(graph& h) {
  graph with_sums;
  if (!norm_parameter_gradient_fuser(h).run(with_sums)) return false;
  h = with_sums;
  int uses[max_nodes]{};
  for (int i = 0; i < h.count; ++i)
    for (int j = 0; j < h.nodes[i].operands; ++j) ++uses[h.nodes[i].operand[j]];
  for (int i = 0; i < h.output_count; ++i) ++uses[h.outputs[i].node];
  for (int i = 0; i < h.count; ++i) {
    node& n = h.nodes[i];
    if (n.kind != op::add && n.kind != op::multiply) continue;
    for (int j = 0; j < 2; ++j)
      if (uses[n.operand[j]] == 1 && same_schedule(h.nodes[n.operand[j]], n) &&
          fold_affine(h, n, j))
        break;
  }
  return true;
}

}  // namespace weft::detail
#include "weft/header_end.hpp"
