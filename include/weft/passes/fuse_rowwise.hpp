// Prologue and epilogue fusion of rowwise operations and sums. Each function may turn node n, whose
// operands are nodes of h already, into the fused node; those that return bool say whether it did.
#pragma once

#include <limits>

#include "weft/graph/graph.hpp"

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

}  // namespace weft::detail
