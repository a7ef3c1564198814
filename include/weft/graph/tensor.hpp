// Handles to nodes. The type of a handle states only the type of the elements and the axes; the id
// of the node is a value.
#pragma once
#include "weft/header_begin.hpp"

#include <concepts>
#include <cstdint>

#include "weft/axes/fixed_string.hpp"
#include "weft/axes/shape.hpp"
#include "weft/graph/graph.hpp"
#include "weft/graph/reject.hpp"

namespace weft {

// Whether tensors can have elements T: float, std::int32_t, bool and weft::bfloat16.
template <class T>
inline constexpr bool is_dtype = false;
template <>
inline constexpr bool is_dtype<float> = true;
template <>
inline constexpr bool is_dtype<std::int32_t> = true;
template <>
inline constexpr bool is_dtype<bool> = true;
template <>
inline constexpr bool is_dtype<bfloat16> = true;

template <class T>
inline constexpr dtype dtype_of = dtype::float32;
template <>
inline constexpr dtype dtype_of<std::int32_t> = dtype::int32;
template <>
inline constexpr dtype dtype_of<bool> = dtype::boolean;
template <>
inline constexpr dtype dtype_of<bfloat16> = dtype::bfloat16;

// Implicit conversions of C++ that a tensor does not support, to a condition or a number. Overload
// resolution selects such a member, which is rejected like other invalid uses, see reject.hpp.
#define WEFT_REJECT_CONVERSIONS                                                                    \
  WEFT_REJECT_MEMBER(                                                                              \
      "condition: what a tensor holds comes with a run; choose with weft::where(mask, a, b)",      \
      explicit operator As() const, std::same_as<bool> As)                                         \
  WEFT_REJECT_MEMBER(                                                                              \
      "number: what a tensor holds comes with a run; of std::exp and others weft has its own, as " \
      "weft::exp(x)",                                                                              \
      operator As() const, std::same_as<double> As)

namespace detail {

// Its name appears in messages.
template <class Variable>
struct before {};

}  // namespace detail

// A tensor of a model: a node of the graph that is being traced, with elements T and axes S, a
// weft::shape. It is a handle, and holds no elements: those come with a run.
template <class T, class S>
struct tensor {
  graph* g;  // the graph
  int id;    // the index of the node

  WEFT_REJECT_CONVERSIONS

 private:
  WEFT_REJECT_CALL(
      "assign: a variable keeps its elements and axes; give the new tensor a name of its own",
      (detail::before<tensor>), (class After), (!std::same_as<After, tensor>),
      constexpr tensor& operator=(const After&) { return *this; })
};

// A detached expression: nodes that belong to no graph yet, such as positions<KeyPos>() <=
// positions<Pos>(). They are copied into the graph of the first tensor that they are combined with.
// The last node is the result.
template <class T, class S, int Size>
struct fragment {
  node nodes[Size];  // operands before their users

  WEFT_REJECT_CONVERSIONS
};

template <class X>
struct expression_traits;
template <class T, class S>
struct expression_traits<tensor<T, S>> {
  using element = T;
  using shape = S;
  static constexpr int fragment_size = 0;
};
template <class T, class S, int Size>
struct expression_traits<fragment<T, S, Size>> {
  using element = T;
  using shape = S;
  static constexpr int fragment_size = Size;
};

#if defined(__clang__)
// The result of a rejected use (see reject.hpp). Clang goes on with it, and drops the message if
// the enclosing expression is invalid. So it is a scalar, and has the members of the results of
// layers and scans.
struct rejected : fragment<float, shape<>, 1> {
  static const rejected output, weights, memory_weights, keys, values, last, all;
};
inline constexpr rejected rejected::output{}, rejected::weights{}, rejected::memory_weights{},
    rejected::keys{}, rejected::values{}, rejected::last{}, rejected::all{};
template <>
struct expression_traits<rejected> : expression_traits<fragment<float, shape<>, 1>> {};
#endif

// An operand of the DSL's operations: a tensor, or a fragment.
template <class X>
concept expression = requires {
  typename expression_traits<X>::shape;
};
// The elements of an operand: float, std::int32_t, bool or weft::bfloat16.
template <expression X>
using element_t = typename expression_traits<X>::element;
// The axes of an operand, a weft::shape.
template <expression X>
using shape_t = typename expression_traits<X>::shape;
template <class X>
inline constexpr bool in_graph = expression_traits<X>::fragment_size == 0;

template <class... Axes>
constexpr axis_list axes_of(shape<Axes...>) {
  static_assert(sizeof...(Axes) <= max_rank, "a tensor has at most 8 axes");
  return {static_cast<std::int8_t>(sizeof...(Axes)), {&info_of<Axes>...}};
}

// The id of x in g; the nodes of a fragment are copied into g.
template <class T, class S>
constexpr int attach(graph& g, tensor<T, S> x) {
  const int region = g.nodes[x.id].region;
  if (region != 0 && region != g.open_region) g.refuse(model_fault::out_of_body, "");
  return x.id;
}
template <class T, class S, int Size>
constexpr int attach(graph& g, const fragment<T, S, Size>& x) {
  const int first = g.count;
  int last = 0;
  for (node n : x.nodes) {
    for (int i = 0; i < n.operands; ++i) n.operand[i] += first;
    if (n.kind == op::constant && fault_of_value(n) != 0)
      g.refuse(static_cast<model_fault>(fault_of_value(n)), "");
    last = g.emit(n);
  }
  return last;
}

namespace detail {

template <class T, class S>
constexpr graph* graph_of(tensor<T, S> x) {
  return x.g;
}
template <class T, class S, int Size>
constexpr graph* graph_of(const fragment<T, S, Size>&) {
  return nullptr;
}

}  // namespace detail

// Appends node n, whose optional operands are marked, with its operands; Out and S are the result's
// element type and axes. Gives a fragment if no operand is in a graph.
template <class Out, class S, expression... Xs>
constexpr auto append(node n, const Xs&... operands) {
  n.type = dtype_of<Out>;
  n.axes = axes_of(S{});
  n.operands = 0;
  if constexpr ((in_graph<Xs> || ...)) {
    graph* g = nullptr;
    ((g = g ? g : detail::graph_of(operands)), ...);
    ((n.operand[n.operands++] = attach(*g, operands)), ...);
    return tensor<Out, S>{g, g->emit(n)};
  } else {
    fragment<Out, S, (expression_traits<Xs>::fragment_size + ... + 1)> f{};
    int size = 0;
    const auto join = [&](const auto& x) {
      const int first = size;
      for (node m : x.nodes) {
        for (int i = 0; i < m.operands; ++i) m.operand[i] += first;
        f.nodes[size++] = m;
      }
      n.operand[n.operands++] = size - 1;
    };
    (join(operands), ...);
    f.nodes[size] = n;
    return f;
  }
}

}  // namespace weft
#include "weft/header_end.hpp"
