// Recurrence along an axis, as jax.lax.scan.
#pragma once
#include "weft/header_begin.hpp"

#include <tuple>
#include <type_traits>

#include "weft/graph/reject.hpp"
#include "weft/graph/tensor.hpp"

namespace weft {

// The direction of a scan along its axis: from the first element to the last, or back.
enum class direction : bool { forwards, backwards };
// From the first element to the last.
inline constexpr direction forwards = direction::forwards;
// From the last element to the first.
inline constexpr direction backwards = direction::backwards;

// The result of a scan's body: the carries of the next step and, by .with(...), outputs of this
// one, which are collected instead of the carries. A body with one carry and no outputs may return
// the tensor itself. See scan.
template <class Carries, class Outputs = std::tuple<>>
struct step_end {
  Carries carries;  // a std::tuple
  Outputs outputs;  // a std::tuple, empty where the carries are collected

  // The same carries, with outputs of this step to be collected.
  template <expression... Ys>
  constexpr step_end<Carries, std::tuple<Ys...>> with(const Ys&... outputs_of_step) const {
    return {carries, {outputs_of_step...}};
  }
};
// The carries of the next step, in the order of the scan's initial values.
template <expression... Xs>
constexpr step_end<std::tuple<Xs...>> next(const Xs&... carries) {
  return {{carries...}, {}};
}

// The result of a scan. Several carries or outputs are a std::tuple.
template <class Last, class All>
struct scanned {
  Last last;  // the carries after the last step
  All all;    // the outputs of all steps, along the scan's axis
};

namespace detail {

// A single tensor counts as a list of one.
template <class X>
struct tensor_list {
  static constexpr bool valid = false;
};
template <expression X>
struct tensor_list<X> {
  static constexpr bool valid = true;
  using type = std::tuple<X>;
};
template <expression... Xs>
struct tensor_list<std::tuple<Xs...>> {
  static constexpr bool valid = true;
  using type = std::tuple<Xs...>;
};
template <class X>
using list_of = typename tensor_list<X>::type;
template <class... Xs>
constexpr auto unlisted(const std::tuple<Xs...>& list) {
  if constexpr (sizeof...(Xs) == 1)
    return std::get<0>(list);
  else
    return list;
}

// The step_end that a body's result stands for.
template <class R>
struct ends_step {
  static constexpr bool valid = false;
};
template <expression X>
struct ends_step<X> {
  static constexpr bool valid = true;
  using type = step_end<std::tuple<X>>;
};
template <class... Lists>
struct ends_step<step_end<Lists...>> {
  static constexpr bool valid = true;
  using type = step_end<Lists...>;
};
template <expression X>
constexpr step_end<std::tuple<X>> to_step_end(const X& x) {
  return {{x}, {}};
}
template <class... Lists>
constexpr step_end<Lists...> to_step_end(const step_end<Lists...>& e) {
  return e;
}
template <class Carries, class Outputs>
constexpr const auto& stacked_of(const step_end<Carries, Outputs>& e) {
  if constexpr (std::tuple_size_v<Outputs> == 0)
    return e.carries;
  else
    return e.outputs;
}

// S with the axis A inserted as in Like, the axes of a scanned operand: after P, the last axis
// before A in Like that S has, or first if there is none.
template <class A, class S, class P>
struct put_behind {
  using type = replaced<S, P, shape<P, A>>;
};
template <class A, class S>
struct put_behind<A, S, void> {
  using type = united<shape<A>, S>;
};
template <class A, class S, class P, class Like>
struct put_as_in;
template <class A, class S, class P, class... Rest>
struct put_as_in<A, S, P, shape<A, Rest...>> : put_behind<A, S, P> {};
template <class A, class S, class P, class First, class... Rest>
struct put_as_in<A, S, P, shape<First, Rest...>>
    : put_as_in<A, S, std::conditional_t<has_axis<First, S>, First, P>, shape<Rest...>> {};

// The axes of the first operand.
template <class A, class Operands>
struct leading_shape {
  using type = shape<A>;
};
template <class A, class First, class... Rest>
struct leading_shape<A, std::tuple<First, Rest...>> {
  using type = shape_t<First>;
};
template <class A, class Y, class Operands>
using stacked_shape =
    typename put_as_in<A, shape_t<Y>, void, typename leading_shape<A, Operands>::type>::type;

// Whether a step keeps the axes of a carry, in any order, and its dtype.
template <class X, class Next>
inline constexpr bool keeps_axes =
    subset<shape_t<Next>, shape_t<X>>&& shape_t<Next>::rank == shape_t<X>::rank;
template <class X, class Next>
inline constexpr bool keeps_elements = std::same_as<element_t<Next>, element_t<X>>;

template <class A, class... Xs, class... Next, class... Out, class Operands>
constexpr rule rule_of_end(const std::tuple<Xs...>*,
                           const step_end<std::tuple<Next...>, std::tuple<Out...>>*,
                           const Operands*) {
  if constexpr (sizeof...(Xs) != sizeof...(Next)) {
    return rule::count;
  } else {
    if (!(keeps_axes<Xs, Next> && ...)) return rule::other_axes;
    if (!(keeps_elements<Xs, Next> && ...)) return rule::elements;
    constexpr auto rule_of_output = [](auto... shapes) {
      if ((has_axis<A, decltype(shapes)> || ...)) return rule::taken;
      return ((decltype(shapes)::rank == max_rank) || ...) ? rule::rank : rule::none;
    };
    if constexpr (sizeof...(Out) > 0)
      return rule_of_output(shape_t<Out>{}...);
    else
      return rule_of_output(shape_t<Next>{}...);
  }
}

// The type that the body returns.
template <class A, class Body, class... Xs, class... Ys>
auto step_result(const std::tuple<Xs...>*, const std::tuple<Ys...>*)
    -> std::invoke_result_t<const Body&, tensor<element_t<Xs>, shape_t<Xs>>...,
                            tensor<element_t<Ys>, without<shape_t<Ys>, shape<A>>>...>;

template <class A, class... Xs, class... Ys, class Body>
constexpr rule rule_of_step(const std::tuple<Xs...>* initial, const std::tuple<Ys...>* operands,
                            const Body*) {
  if constexpr (!(has_axis<A, shape_t<Ys>> && ...)) {
    return rule::missing;
  } else if constexpr (!(in_graph<Xs> || ... || false) && !(in_graph<Ys> || ... || false)) {
    return rule::no_input;
  } else {
    if constexpr (!requires { step_result<A, Body>(initial, operands); }) {
      return rule::body;
    } else {
      using R = decltype(step_result<A, Body>(initial, operands));
      if constexpr (!ends_step<R>::valid)
        return rule::body;
      else
        return rule_of_end<A>(initial, static_cast<const typename ends_step<R>::type*>(nullptr),
                              operands);
    }
  }
}

template <class A, class Initial, class Operands, class Body>
constexpr rule rule_of_scan() {
  if constexpr (!axis_like<A>)
    return rule::not_an_axis;
  else if constexpr (!tensor_list<Initial>::valid || !tensor_list<Operands>::valid)
    return rule::list;
  else
    return rule_of_step<A>(static_cast<const list_of<Initial>*>(nullptr),
                           static_cast<const list_of<Operands>*>(nullptr),
                           static_cast<const Body*>(nullptr));
}

// The first carry whose axes or dtype a step changes, before and after it, for the compiler's
// message.
template <class Before, class After>
struct carry_becomes {};
template <class Xs, class Next>
struct changed_carry {
  using type = void;
};
template <class X, class... Xs, class First, class... Next>
struct changed_carry<std::tuple<X, Xs...>, std::tuple<First, Next...>>
    : std::conditional_t<keeps_axes<X, First> && keeps_elements<X, First>,
                         changed_carry<std::tuple<Xs...>, std::tuple<Next...>>,
                         std::type_identity<carry_becomes<X, First>>> {};
template <rule Broken, class A, class Initial, class Operands, class Body>
struct carry_change {
  using type = void;
};
template <rule Broken, class A, class Initial, class Operands, class Body>
requires(Broken == rule::other_axes ||
         Broken == rule::elements) struct carry_change<Broken, A, Initial, Operands, Body>
    : changed_carry<
          list_of<Initial>,
          decltype(to_step_end(step_result<A, Body>(static_cast<const list_of<Initial>*>(nullptr),
                                                    static_cast<const list_of<Operands>*>(nullptr)))
                       .carries)> {
};

// The scan's axis in the role of its steps: a pass may collect values that have the axis itself
// already.
template <class A>
inline constexpr axis_info steps_of{type_name<A>(), A::extent, least_of<length_axis_t<A>>,
                                    A::bounded, &info_of<length_axis_t<A>>};

template <class T, class S>
constexpr tensor<T, S> emit_in_scan(graph& g, node n) {
  n.type = dtype_of<T>;
  n.axes = axes_of(S{});
  return {&g, g.emit(n)};
}

template <class A, expression X>
constexpr auto element_at_step(graph& g, std::int16_t region, const X& x) {
  node n = make_node(op::scan_slice, axes_of(shape<A>{}));
  n.region = region;
  n.operand[n.operands++] = attach(g, x);
  return emit_in_scan<element_t<X>, without<shape_t<X>, shape<A>>>(g, n);
}
template <expression X>
constexpr auto carry_from(graph& g, std::int16_t region, const X& initial) {
  node n = make_node(op::carry);
  n.region = region;
  n.operand[n.operands++] = attach(g, initial);
  return emit_in_scan<element_t<X>, shape_t<X>>(g, n);
}
template <class T, class S, expression X>
constexpr void carry_on(graph& g, tensor<T, S> carry, const X& value) {
  node n = make_node(op::yield);
  n.operands = 2;
  n.operand[0] = carry.id;
  n.operand[1] = attach(g, value);
  emit_in_scan<T, S>(g, n);
}
template <class T, class S>
constexpr tensor<T, S> last_of(graph& g, tensor<T, S> carry) {
  node n = make_node(op::scan_result);
  n.operand[n.operands++] = carry.id;
  return emit_in_scan<T, S>(g, n);
}
// Collects y over the steps; a value that does not depend on the step is broadcast.
template <class A, class Operands, expression Y>
constexpr auto stack(graph& g, const Y& y) {
  const int value = attach(g, y);
  node n = g.nodes[value].region == 0 ? make_node(op::copy)
                                      : make_node(op::scan_collect, axes_of(shape<A>{}));
  n.operand[n.operands++] = value;
  return emit_in_scan<element_t<Y>, stacked_shape<A, Y, Operands>>(g, n);
}

template <class... Xs>
constexpr graph* graph_of_any(const Xs&... xs) {
  graph* g = nullptr;
  ((g = g ? g : graph_of(xs)), ...);
  return g;
}

template <class A, direction D, class... Xs, class... Ys, class Body>
constexpr auto make_scan(const std::tuple<Xs...>& initial, const std::tuple<Ys...>& operands,
                         const Body& body) {
  const auto in_graph_of = [](const auto&... xs) -> graph& { return *graph_of_any(xs...); };
  graph& g = std::apply(in_graph_of, std::tuple_cat(initial, operands));
  if (g.open_region != 0) g.refuse(model_fault::nested_scan, info_of<A>.name);
  const std::int16_t region = g.add_region({&info_of<A>, &steps_of<A>, D == direction::backwards});
  // Braced initializers, unlike a call's arguments, are evaluated from left to right.
  const auto carries = std::apply(
      [&](const Xs&... xs) { return std::tuple{carry_from(g, region, xs)...}; }, initial);
  const auto elements = std::apply(
      [&](const Ys&... ys) { return std::tuple{element_at_step<A>(g, region, ys)...}; }, operands);
  g.open_region = region;
  const auto end = to_step_end(std::apply(body, std::tuple_cat(carries, elements)));
  const auto all = std::apply(
      [&](const auto&... ys) { return std::tuple{stack<A, std::tuple<Ys...>>(g, ys)...}; },
      stacked_of(end));
  std::apply(
      [&](const auto&... carry) {
        std::apply([&](const auto&... value) { (carry_on(g, carry, value), ...); }, end.carries);
      },
      carries);
  g.open_region = 0;
  const auto last =
      std::apply([&](const auto&... carry) { return std::tuple{last_of(g, carry)...}; }, carries);
  return scanned<decltype(unlisted(last)), decltype(unlisted(all))>{unlisted(last), unlisted(all)};
}

}  // namespace detail

// scan<Pos>(h0, x, body): h_t = body(h_{t-1}, x at t) for t = 0, 1, … along Pos, h0 before the
// first step, as jax.lax.scan; scan<Pos, backwards> iterates from the last element to the first
// (reverse=True). The body is traced once, with tensors, so the model's size does not grow with the
// axis:
//
//   auto h = scan<Pos>(h0, x, [&](auto h, auto x_t) { return tanh(dot<In>(x_t, w) + h); });
//
// h0 [Batch, Hidden], x [Batch, Pos, In], in the body h [Batch, Hidden] and x_t [Batch, In]; h.last
// [Batch, Hidden] is the carry after the last step, or h0 if Pos has length 0, and h.all [Batch,
// Pos, Hidden] the carry after each step, with Pos at its position in x. The body may use other
// tensors; what does not depend on the step is computed once.
//
// Several carries or operands, or none, are std::tuples: scan<Pos>(std::tuple{h0, c0},
// std::tuple{x, mask}, body) calls body(h, c, x_t, mask_t). The body then returns next(h, c), and
// last and all are tuples. next(h, c).with(y) collects y instead of the carries: all is y over the
// steps. A carry keeps its axes, in any order, and its dtype.
//
// Scans do not nest, and a tensor of the body is not used outside of it: neither compiles, nor does
// misuse that the WEFT_REJECT overloads list.
template <class A, direction D = forwards, class Initial, class Operands, class Body>
requires(detail::rule_of_scan<A, Initial, Operands, Body>() ==
         rule::none) constexpr auto scan(const Initial& initial, const Operands& operands,
                                         const Body& body) {
  return detail::make_scan<A, D>(detail::list_of<Initial>(initial),
                                 detail::list_of<Operands>(operands), body);
}
WEFT_REJECT_IF(
    (class A, direction D = forwards, class Initial, class Operands, class Body,
     class Change = typename detail::carry_change<
         detail::rule_of_scan<A, Initial, Operands, Body>(), A, Initial, Operands, Body>::type),
    (detail::rule_of_scan<A, Initial, Operands, Body>()),
    scan(const Initial&, const Operands&, const Body&),
    (not_an_axis, "scan: name the axis to run along, as in scan<Pos>(h0, x, body)"),
    (list, "scan: initial values and operands are tensors, or std::tuples of them"),
    (missing, "scan: an operand has no such axis to run along"),
    (no_input, "scan: no initial value or operand comes from a model's input or parameter"),
    (body,
     "scan: the body takes the carries, then an element of each operand, and returns "
     "what the carries become: a tensor, or weft::next(...)"),
    (count, "scan: the body returns another number of carries than there are initial values"),
    (other_axes, "scan: the body returns a carry with other axes than its initial value"),
    (elements,
     "scan: the body returns a carry with other elements than its initial value; "
     "convert with weft::cast"),
    (taken,
     "scan: an output has the scan's axis already; rename it, or name other outputs "
     "with next(...).with(...)"),
    (rank, "scan: the outputs of all steps have more than 8 axes"))

}  // namespace weft
#include "weft/header_end.hpp"
