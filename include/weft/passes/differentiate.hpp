// Reverse-mode differentiation, from graph to graph.
#pragma once

#include <stdexcept>

#include "weft/graph/attention.hpp"
#include "weft/graph/graph.hpp"
#include "weft/graph/scan.hpp"
#include "weft/passes/eliminate_dead_code.hpp"
#include "weft/passes/rematerialize.hpp"

namespace weft {

// Not constexpr: reached while compiling, they are errors that print their names.
inline void this_operation_has_no_second_derivative() {
  throw std::logic_error("differentiate: this operation has no second derivative");
}
inline void only_a_result_without_axes_can_be_differentiated() {
  throw std::logic_error("differentiate: only a result without axes can be differentiated");
}

namespace detail {

class differentiator {
 public:
  explicit constexpr differentiator(graph& g) : g_(g), body_(g) {
    for (bool again = true; again;) {
      again = false;
      for (int i = 0; i < g.count; ++i) {
        node const& n = g_.nodes[i];
        depends_[i] = depends_[i] || n.kind == op::parameter;
        for (int j = 0; j < n.operands; ++j) depends_[i] = depends_[i] || depends_[n.operand[j]];
        depends_[i] = depends_[i] && n.type == dtype::float32;
        if (n.kind != op::yield || !depends_[i] || depends_[n.operand[0]]) continue;
        depends_[n.operand[0]] = again = true;
      }
    }
  }

  // Appends the nodes that compute the gradient of the scalar `loss` with respect to every node
  // that depends on a parameter.
  constexpr void run(int loss) {
    gradient_[loss] = constant(1) + 1;
    for (int i = loss; i >= 0; --i) {
      if (loop_of(g_, i) > 0)
        i = scan_pullback(i);
      else if (gradient_[i] > 0 && depends_[i])
        propagate(i, gradient_[i] - 1);
    }
  }

  // The gradient for node i; zeros of its shape where the loss does not depend on it.
  constexpr int gradient(int i) {
    if (gradient_[i] > 0) return gradient_[i] - 1;
    return elementwise(op::copy, g_.nodes[i].axes, constant(0));
  }

 private:
  constexpr int constant(double value) {
    node n = make_node(op::constant);
    n.scalar = value;
    return g_.emit(n);
  }

  template <class... Ids>
  constexpr int emit(node n, const axis_list& axes, Ids... operands) {
    n.axes = axes;
    n.operands = 0;
    ((n.operand[n.operands++] = operands), ...);
    return g_.emit(n);
  }
  template <class... Ids>
  constexpr int elementwise(op kind, const axis_list& axes, Ids... operands) {
    node n = make_node(kind);
    if (is_comparison(kind)) n.type = dtype::boolean;
    return emit(n, axes, operands...);
  }

  // Node id summed over the axes that `axes` lacks.
  constexpr int sum_to(const axis_list& axes, int id) {
    if (g_.nodes[id].axes == axes) return id;
    node n = make_node(op::sum);
    for (int i = 0; i < g_.nodes[id].axes.count; ++i)
      if (!axes.contains(g_.nodes[id].axes.at[i])) n.named.push(g_.nodes[id].axes.at[i]);
    return emit(n, axes, id);
  }

  // Adds `id` to the gradient for node `to`, summed over the axes along which `to` was broadcast.
  constexpr void accumulate(int to, int id) {
    if (body_.open() && g_.nodes[to].region == 0) return capture(to, id);
    int const g = sum_to(g_.nodes[to].axes, id);
    gradient_[to] =
        1 + (gradient_[to] > 0 ? elementwise(op::add, g_.nodes[to].axes, gradient_[to] - 1, g) : g);
  }

  // Forward value id where gradients are being emitted: inside a scan's adjoint, its replay.
  constexpr int value(int id) { return body_.open() ? body_.value(id) : id; }

  constexpr void propagate(int i, int g) {
    node const n = g_.nodes[i];
    if (n.operands == 0) return;
    axis_list const axes = n.axes;
    int const x = n.operand[0];
    int const y = n.operand[1];
    auto const vx = [&] { return value(x); };
    auto const vy = [&] { return value(y); };
    auto const vi = [&] { return value(i); };
    auto const wants = [&](int operand) { return depends_[n.operand[operand]]; };
    auto const times = [&](int a, int b) { return elementwise(op::multiply, axes, a, b); };
    switch (n.kind) {
      case op::add:
        if (wants(0)) accumulate(x, g);
        if (wants(1)) accumulate(y, g);
        break;
      case op::subtract:
        if (wants(0)) accumulate(x, g);
        if (wants(1)) accumulate(y, elementwise(op::negate, axes, g));
        break;
      case op::multiply:
        if (wants(0)) accumulate(x, times(g, vy()));
        if (wants(1)) accumulate(y, times(g, vx()));
        break;
      case op::divide: {
        int const over = elementwise(op::divide, axes, g, vy());
        if (wants(0)) accumulate(x, over);
        if (wants(1)) accumulate(y, elementwise(op::negate, axes, times(over, vi())));
        break;
      }
      case op::maximum:
      case op::minimum: {  // ties share the gradient, as PyTorch's do
        int const half = times(g, constant(0.5));
        int const tie = elementwise(op::equal, axes, vx(), vy());
        auto const share = [&](int lesser, int greater) {
          int const won = elementwise(op::less, axes, lesser, greater);
          return elementwise(op::where, axes, won, g,
                             elementwise(op::where, axes, tie, half, constant(0)));
        };
        bool const greatest = n.kind == op::maximum;
        if (wants(0)) accumulate(x, greatest ? share(vy(), vx()) : share(vx(), vy()));
        if (wants(1)) accumulate(y, greatest ? share(vx(), vy()) : share(vy(), vx()));
        break;
      }
      case op::where:
        if (wants(1)) accumulate(y, elementwise(op::where, axes, vx(), g, constant(0)));
        if (wants(2)) accumulate(n.operand[2], elementwise(op::where, axes, vx(), constant(0), g));
        break;
      case op::copy:
      case op::cast:  // from float32 to float32: no other is differentiable
        accumulate(x, g);
        break;
      case op::negate:
        accumulate(x, elementwise(op::negate, axes, g));
        break;
      case op::exp:
        accumulate(x, times(g, vi()));
        break;
      case op::log:
        accumulate(x, elementwise(op::divide, axes, g, vx()));
        break;
      case op::sqrt:
        accumulate(x, elementwise(op::divide, axes, times(g, constant(0.5)), vi()));
        break;
      case op::tanh:
        accumulate(x, times(g, elementwise(op::subtract, axes, constant(1), times(vi(), vi()))));
        break;
      case op::erf: {  // 2/sqrt(π) exp(-x²)
        int const slope =
            elementwise(op::exp, axes, elementwise(op::negate, axes, times(vx(), vx())));
        accumulate(x, times(g, times(constant(1.1283791670955126), slope)));
        break;
      }
      case op::sin:
        accumulate(x, times(g, elementwise(op::cos, axes, vx())));
        break;
      case op::cos:
        accumulate(x, elementwise(op::negate, axes, times(g, elementwise(op::sin, axes, vx()))));
        break;
      case op::sigmoid:
        accumulate(x, times(g, times(vi(), elementwise(op::subtract, axes, constant(1), vi()))));
        break;
      case op::dropout:  // under the same mask
        accumulate(x, elementwise(op::dropout, axes, g, vy()));
        break;
      case op::relu:
        accumulate(x, elementwise(op::relu_adjoint, axes, vx(), g));
        break;
      case op::gelu:
        accumulate(x, elementwise(op::gelu_adjoint, axes, vx(), g));
        break;
      case op::gelu_tanh:
        accumulate(x, elementwise(op::gelu_tanh_adjoint, axes, vx(), g));
        break;
      case op::sum:
        accumulate(x, elementwise(op::copy, g_.nodes[x].axes, g));
        break;
      case op::max: {  // ties share the gradient, as torch.amax's do
        axis_list const whole = g_.nodes[x].axes;
        int const one = elementwise(op::where, whole, elementwise(op::equal, whole, vx(), vi()),
                                    constant(1), constant(0));
        int const count = sum_to(axes, one);
        accumulate(x,
                   elementwise(op::multiply, whole, one, elementwise(op::divide, axes, g, count)));
        break;
      }
      case op::softmax:
        accumulate(x, adjoint(op::softmax_adjoint, n, vi(), g));
        break;
      case op::log_softmax:
        accumulate(x, adjoint(op::log_softmax_adjoint, n, vi(), g));
        break;
      case op::normalize:
      case op::rms_normalize:
        accumulate(x, adjoint(adjoint_of_normalization(n.kind), n, vx(), g));
        break;
      case op::dot:
        if (wants(0) && !defer_contraction(x, y, g))
          accumulate(x, emit(make_node(op::dot), g_.nodes[x].axes, g, vy()));
        if (wants(1) && !defer_contraction(y, x, g))
          accumulate(y, emit(make_node(op::dot), g_.nodes[y].axes, vx(), g));
        break;
      case op::attention:
        attention_pullback(n, vi(), g);
        break;
      case op::rotate: {
        int const sine = value(n.operand[2]);
        if (wants(0)) accumulate(x, rotate_back(n, g, vy(), sine));
        if (wants(1)) accumulate(y, angle_gradient(n, 0, vx(), g));
        if (wants(2)) accumulate(n.operand[2], angle_gradient(n, 1, vx(), g));
        break;
      }
      case op::gather:
        accumulate(x, indexed(op::scatter_add, n, g_.nodes[x].axes, g, vy()));
        break;
      case op::scatter_add:
        accumulate(x, indexed(op::gather, n, g_.nodes[x].axes, g, vy()));
        break;
      case op::scan_result:
        final_[x] = 1 + (final_[x] > 0 ? elementwise(op::add, axes, final_[x] - 1, g) : g);
        break;
      case op::scan_slice: {  // every step's gradient at its index
        node s = make_node(op::scan_collect);
        s.named = n.named;
        defer({x, emit(s, g_.nodes[x].axes, g), 0});
        break;
      }
      case op::rename:
        accumulate(x, emit(make_node(op::rename), g_.nodes[x].axes, g));
        break;
      case op::split: {
        node back = make_node(op::merge);
        back.named = n.named;
        accumulate(x, emit(back, g_.nodes[x].axes, g));
        break;
      }
      case op::merge:
        accumulate(x, merge_pullback(n, g));
        break;
      case op::slice:
        accumulate(x, part(op::pad, g_.nodes[x].axes, n.named, n.start, g));
        break;
      case op::pad:
        accumulate(x, part(op::slice, g_.nodes[x].axes, n.named, n.start, g));
        break;
      case op::unfold:
        accumulate(x, windowed(op::fold, g_.nodes[x].axes, n, g));
        break;
      case op::fold:
        accumulate(x, windowed(op::unfold, g_.nodes[x].axes, n, g));
        break;
      case op::concatenate:
        concatenate_pullback(n, g);
        break;
      default:
        this_operation_has_no_second_derivative();
    }
  }

  // ---- scans

  // A contribution to the gradient for a node outside a body: `a`, or the contraction of a and b.
  // It is emitted after the body, whose values it reads.
  struct deferred_term {
    int to, a, b;  // b: id + 1; 0: none
  };
  // The sum of one step's gradients for an outer node; in the end the carry that accumulates it.
  struct closure_gradient {
    int to, sum;
  };
  constexpr void defer(const deferred_term& l) { deferred_[deferred_count_++] = l; }

  // The pullback of the scan whose body's last node is `end`; returns the body's first node. The
  // adjoint is a scan in the other direction; its carries are the gradients for the carries.
  constexpr int scan_pullback(int end) {
    int const body = loop_of(g_, end);
    int first = end;
    bool wanted = false;
    for (; first >= 0 && loop_of(g_, first) == body; --first)
      wanted = wanted || (depends_[first] && (gradient_[first] > 0 || final_[first] > 0));
    ++first;
    if (!wanted) return first;

    body_.begin(body);
    int carry_gradient[max_nodes]{};  // the adjoint's carry
    for (int i = first; i <= end; ++i)
      if (g_.nodes[i].kind == op::carry && depends_[i])
        carry_gradient[i] =
            body_.carry(g_.nodes[i].axes, final_[i] > 0 ? final_[i] - 1 : constant(0));
    for (int i = end; i >= first; --i) {
      node const n = g_.nodes[i];
      if (n.kind == op::yield) {
        if (depends_[n.operand[1]]) accumulate(n.operand[1], carry_gradient[n.operand[0]]);
      } else if (n.kind == op::scan_collect) {
        if (depends_[i] && gradient_[i] > 0)
          accumulate(n.operand[0], body_.element(gradient_[i] - 1, n.named));
      } else if (n.kind != op::carry && depends_[i] && gradient_[i] > 0) {
        propagate(i, gradient_[i] - 1);
      }
    }
    for (int i = first; i <= end; ++i)
      if (carry_gradient[i] > 0)
        body_.end_step(carry_gradient[i], gradient_[i] > 0 ? gradient_[i] - 1 : constant(0));
    for (int i = 0; i < captured_count_; ++i) {
      int const to = captured_[i].to, sum = captured_[i].sum;
      int const total = body_.carry(g_.nodes[to].axes, constant(0));
      body_.end_step(total, elementwise(op::add, g_.nodes[to].axes, total, sum));
      captured_[i].sum = total;
    }
    body_.end();

    for (int i = first; i <= end; ++i)
      if (carry_gradient[i] > 0 && depends_[g_.nodes[i].operand[0]])
        accumulate(g_.nodes[i].operand[0],
                   emit(make_node(op::scan_result), g_.nodes[i].axes, carry_gradient[i]));
    for (int i = 0; i < captured_count_; ++i) {
      int const to = captured_[i].to, total = captured_[i].sum;
      accumulate(to, emit(make_node(op::scan_result), g_.nodes[to].axes, total));
    }
    captured_count_ = 0;
    for (int i = 0; i < deferred_count_; ++i) {
      auto const [to, a, b] = deferred_[i];
      accumulate(to, b > 0 ? emit(make_node(op::dot), g_.nodes[to].axes, a, b - 1) : a);
    }
    deferred_count_ = 0;
    return first;
  }

  // A step's gradient for a node outside. If it has to be reduced within the step too, all steps
  // are collected and reduced once, after the scan; else a carry of the adjoint accumulates it.
  constexpr void capture(int to, int id) {
    if (!(g_.nodes[id].axes == g_.nodes[to].axes) && g_.nodes[id].axes.count < max_rank)
      return defer({to, body_.stack(id), 0});
    int const g = sum_to(g_.nodes[to].axes, id);
    for (int i = 0; i < captured_count_; ++i)
      if (captured_[i].to == to) {
        captured_[i].sum = elementwise(op::add, g_.nodes[to].axes, captured_[i].sum, g);
        return;
      }
    captured_[captured_count_++] = {to, g};
  }

  // The gradient for `to`, an operand from outside the scan that is contracted with `other`, as one
  // contraction over all steps instead of a small one in each. False where this does not apply.
  constexpr bool defer_contraction(int to, int other, int g) {
    if (!body_.open() || g_.nodes[to].region != 0) return false;
    if (g_.nodes[other].axes.count == max_rank || g_.nodes[g].axes.count == max_rank) return false;
    int const values = body_.values(other);
    defer({to, body_.stack(g), values + 1});
    return true;
  }

  constexpr int adjoint(op kind, const node& n, int first, int g) {
    node a = make_node(kind);
    a.named = n.named;
    a.scalar = n.scalar;
    return emit(a, n.axes, first, g);
  }
  constexpr int indexed(op kind, const node& n, const axis_list& axes, int g, int indices) {
    node a = make_node(kind);
    a.named = n.named;
    return emit(a, axes, g, indices);
  }
  constexpr int part(op kind, const axis_list& axes, const axis_list& named, std::int64_t start,
                     int g) {
    node a = make_node(kind);
    a.named = named;
    a.start = start;
    return emit(a, axes, g);
  }

  // Rotates g by the negated angles of the rotation n.
  constexpr int rotate_back(const node& n, int g, int cosine, int sine) {
    node a = make_node(op::rotate);
    a.named = n.named;
    a.start = n.start;
    return emit(a, n.axes, g, cosine, elementwise(op::negate, g_.nodes[sine].axes, sine));
  }
  // The gradient for its cosines (which = 0) or its sines (1).
  constexpr int angle_gradient(const node& n, double which, int x, int g) {
    node a = make_node(op::rotate_adjoint);
    a.named = n.named;
    a.start = n.start;
    a.scalar = which;
    axis_list axes = n.axes;
    axes.at[axes.find(n.named.at[0])] = n.named.at[1];
    return emit(a, axes, x, g);
  }

  constexpr int windowed(op kind, const axis_list& axes, const node& n, int g) {
    node a = make_node(kind);
    a.named = n.named;
    a.lowest = n.lowest;
    a.highest = n.highest;
    return emit(a, axes, g);
  }

  // Splits the merged axis in place, then copies to the operand's axis order where that differs.
  constexpr int merge_pullback(const node& n, int g) {
    axis_list const whole = g_.nodes[n.operand[0]].axes;
    axis_list apart{};
    for (int i = 0; i < n.axes.count; ++i) {
      if (whole.contains(n.axes.at[i])) {
        apart.push(n.axes.at[i]);
      } else {
        for (int j = 0; j < n.named.count; ++j) apart.push(n.named.at[j]);
      }
    }
    node s = make_node(op::split);
    s.named = n.named;
    int const id = emit(s, apart, g);
    return apart == whole ? id : elementwise(op::copy, whole, id);
  }

  // One node computes the gradients for query, key and value, and for biases that need one.
  constexpr void attention_pullback(const node& n, int result, int g) {
    node a = n;
    a.kind = op::attention_adjoint;
    a.axes = {};
    a.operands = 0;
    auto const take = [&](int id) { a.operand[a.operands++] = id; };
    for (int j = 0; j < 3; ++j) take(value(n.operand[j]));
    take(result);
    take(g);
    for (int j = 3; j < n.operands; ++j) take(value(n.operand[j]));
    attention_parts parts{3, {n.operand[0], n.operand[1], n.operand[2]}};
    auto const ask_for = [&](attention_option gradient, attention_option option) {
      int const of = find_option(n, option);
      if (of < 0 || !depends_[of]) return;
      a.options = static_cast<std::uint8_t>(a.options | bit_of(gradient));
      parts.of[parts.count++] = of;
    };
    ask_for(attention_option::bias_gradient, attention_option::bias);
    ask_for(attention_option::relative_gradient, attention_option::relative);
    int const all = g_.emit(a);
    for (int j = 0; j < parts.count; ++j) {
      if (!depends_[parts.of[j]]) continue;
      node p = make_node(op::get_result);
      p.start = j;
      accumulate(parts.of[j], emit(p, g_.nodes[parts.of[j]].axes, all));
    }
  }

  // Each operand's gradient is the slice of g at its offset.
  constexpr void concatenate_pullback(const node& n, int g) {
    int at = 0;
    while (g_.nodes[n.operand[0]].axes.contains(n.axes.at[at])) ++at;
    axis_list after{};
    after.push(n.axes.at[at]);
    std::int64_t start = 0;
    for (int i = 0; i < n.operands; ++i) {
      axis_info const* const axis = n.named.at[i];
      if (depends_[n.operand[i]]) {
        axis_list axes = n.axes;
        axes.at[at] = axis;
        int id = part(op::slice, axes, after, start, g);
        if (!(axes == g_.nodes[n.operand[i]].axes))
          id = elementwise(op::copy, g_.nodes[n.operand[i]].axes, id);
        accumulate(n.operand[i], id);
      }
      if (i + 1 == n.operands) break;
      if (axis->bounded)
        after.push(axis->length_axis());
      else
        start += static_cast<std::int64_t>(axis->extent);
    }
  }

  graph& g_;
  forward_replay body_;
  bool depends_[max_nodes]{};
  int gradient_[max_nodes]{};  // id + 1; 0: none
  int final_[max_nodes]{};     // likewise, for a carry's value after the last step
  deferred_term deferred_[max_nodes]{};
  int deferred_count_ = 0;
  closure_gradient captured_[max_nodes]{};
  int captured_count_ = 0;
};

}  // namespace detail

// Reverse mode: g with further outputs, the gradient of its output number `loss`, which must have
// no axes, for every parameter, in the parameters' order and each of its parameter's shape.
constexpr graph differentiate(graph g, int loss) {
  if (g.nodes[g.outputs[loss].node].axes.count != 0)
    only_a_result_without_axes_can_be_differentiated();
  detail::differentiator reverse(g);
  reverse.run(g.outputs[loss].node);
  for (int i = 0; i < g.parameter_count; ++i) {
    output o{};
    o.kind = role::gradient;
    o.name = g.parameters[i].name;
    o.node = reverse.gradient(g.parameters[i].node);
    o.leaf = i;
    g.outputs[g.output_count++] = o;
  }
  return g.region_count > 0 ? eliminate_dead_code(g) : g;
}

}  // namespace weft
