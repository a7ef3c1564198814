// Where a model declares its inputs and, under a path, its parameters and states.
#pragma once
#include "weft/header_begin.hpp"

#include <concepts>
#include <cstdint>
#include <string_view>

#include "weft/axes/fixed_string.hpp"
#include "weft/graph/reject.hpp"
#include "weft/graph/tensor.hpp"

namespace weft {

namespace detail {

// Flattens axes and shapes into one shape.
template <class A>
struct listed {
  using type = shape<A>;
};
template <class... Axes>
struct listed<shape<Axes...>> {
  using type = shape<Axes...>;
};
template <class... Axes>
using joined = decltype((shape<>{} | ... | typename listed<Axes>::type{}));

// The rule that an input, a parameter or a state of T [Axes...] breaks.
template <class... Axes>
constexpr rule rule_of_leaf_axes(shape<Axes...>) {
  if (!(axis_like<Axes> && ...)) return rule::not_an_axis;
  if (!distinct<shape<Axes...>>) return rule::twice;
  if (sizeof...(Axes) > max_rank) return rule::rank;
  return rule::none;
}
template <class T, class... Axes>
constexpr rule rule_of_leaf() {
  if constexpr (!is_dtype<T>)
    return rule::elements;
  else
    return rule_of_leaf_axes(joined<Axes...>{});
}

// The rule that an update breaks.
template <class State, class Value>
constexpr rule rule_of_update() {
  if constexpr (!expression<State> || !expression<Value>) {
    return rule::tensor;
  } else {
    if (!std::same_as<element_t<State>, element_t<Value>>) return rule::elements;
    if (!std::same_as<shape_t<State>, shape_t<Value>>) return rule::other_axes;
    return in_graph<State> ? rule::none : rule::states;
  }
}

}  // namespace detail

// What a model's function gets: it declares inputs, parameters and states in it. A scope has a
// path, which begins the names of its parameters and states, and is passed to layers by value.
class scope {
 public:
  // The scope of a graph that is being traced, with an empty path: weft makes it.
  explicit constexpr scope(graph& g) : g_(&g) {}

  // A nested scope: the names of its parameters and states begin with "part.", as in PyTorch. `s /
  // "layer" / 3` is "layer.3". A name may have at most max_path characters.
  constexpr scope operator/(std::string_view part) const {
    scope inner = *this;
    if (size_ > 0) inner.append(".");
    inner.append(part);
    return inner;
  }
  // The same with a number as the part, which is not negative.
  constexpr scope operator/(int index) const {
    char digits[12]{};
    int n = 12;
    do digits[--n] = static_cast<char>('0' + index % 10);
    while (index /= 10);
    return *this / std::string_view(digits + n, static_cast<std::size_t>(12 - n));
  }

  // The same scope, in which declaring a parameter again, with the same axes, gives the same
  // parameter: weight tying.
  constexpr scope shared() const {
    scope s = *this;
    s.shared_ = true;
    return s;
  }

  // A parameter: float32 [Axes...], row-major in this order; a weft::shape among the axes stands
  // for its axes. Its name is the scope's path and Name, its initial values are `init`. Except in
  // shared(), a second parameter of the same name is an error when the model is used. The name ends
  // with `suffix`.
  template <fixed_string Name, class... Axes>
  constexpr tensor<float, detail::joined<Axes...>> param(initializer init = init::normal(0, 0.02),
                                                         std::string_view suffix = {}) const {
    using S = detail::joined<Axes...>;
    scope whole = *this / Name.view();
    whole.append(suffix);
    if (const int i = whole.find(g_->parameters, g_->parameter_count); i >= 0) {
      if (!shared_) g_->refuse(model_fault::two_parameters, whole.path());
      if (g_->nodes[g_->parameters[i].node].axes == axes_of(S{}))
        return {g_, g_->parameters[i].node};
      g_->refuse(model_fault::shared_parameter, whole.path());
    }
    if (init.fan_in > 0) init.fan_out = static_cast<double>(S::extent) / init.fan_in;
    return {g_, whole.declare<float>(op::parameter, S{}, g_->parameters, g_->parameter_count,
                                     model_fault::parameters, init)};
  }
  WEFT_REJECT_IF((fixed_string Name, class... Axes), (detail::rule_of_leaf<float, Axes...>()),
                 param(initializer = {}, std::string_view = {}) const, WEFT_NO_AXIS("param"),
                 WEFT_AXIS_TWICE("param"), WEFT_RANK_OF_ONE("param"))

  // An input: T [Axes...], which a run is given as weft::arg<Name>. T is float, std::int32_t,
  // bool or weft::bfloat16. The name has no path; a second input of the same name is an error when
  // the model is used.
  template <fixed_string Name, class T, class... Axes>
  constexpr tensor<T, detail::joined<Axes...>> input() const {
    const scope named = scope(*g_) / Name.view();
    if (named.find(g_->inputs, g_->input_count) >= 0)
      g_->refuse(model_fault::two_inputs, Name.view());
    return {g_, named.declare<T>(op::input, detail::joined<Axes...>{}, g_->inputs, g_->input_count,
                                 model_fault::inputs)};
  }
  WEFT_REJECT_IF((fixed_string Name, class T, class... Axes), (detail::rule_of_leaf<T, Axes...>()),
                 input() const, WEFT_NO_DTYPE("input"), WEFT_NO_AXIS("input"),
                 WEFT_AXIS_TWICE("input"), WEFT_RANK_OF_ONE("input"))

  // A state: T [Axes...], which a module keeps between runs; zeros initially and after reset(). Its
  // name is the scope's path and Name. The tensor is the state before the run, wherever it is used;
  // `update` sets the state after the run.
  //
  // An axis whose length no argument determines has its bound as length. Memory is allocated for
  // the bounds; a run reads and writes only the elements within its lengths.
  template <fixed_string Name, class T, class... Axes>
  constexpr tensor<T, detail::joined<Axes...>> state() const {
    const scope whole = *this / Name.view();
    if (whole.find(g_->states, g_->state_count) >= 0)
      g_->refuse(model_fault::two_states, whole.path());
    return {g_, whole.declare<T>(op::state, detail::joined<Axes...>{}, g_->states, g_->state_count,
                                 model_fault::states)};
  }
  WEFT_REJECT_IF((fixed_string Name, class T, class... Axes), (detail::rule_of_leaf<T, Axes...>()),
                 state() const, WEFT_NO_DTYPE("state"), WEFT_NO_AXIS("state"),
                 WEFT_AXIS_TWICE("state"), WEFT_RANK_OF_ONE("state"))

  // Sets the state to `value` at the end of the run, at most once for each state. All reads of the
  // state in this run give its value before the run.
  //
  // Runs of module<Model, Results...> update only the states that the results depend on.
  template <class State, class Value>
  requires(detail::rule_of_update<State, Value>() ==
           rule::none) constexpr void update(const State& state, const Value& value) const {
    if (g_->rejected) return;
    if (g_->nodes[state.id].kind != op::state) return g_->refuse(model_fault::no_state, "");
    output o{};
    o.kind = output_kind::update;
    o.leaf = g_->nodes[state.id].leaf;
    o.name = g_->states[o.leaf].name;
    o.node = attach(*g_, value);
    if (g_->nodes[o.node].region != 0) return g_->refuse(model_fault::out_of_body, "");
    for (int i = 0; i < g_->output_count; ++i)
      if (g_->outputs[i].kind == output_kind::update && g_->outputs[i].leaf == o.leaf)
        return g_->refuse(model_fault::two_updates, g_->name(o.name));
    g_->outputs[g_->output_count++] = o;
  }
  // The path: the parts, joined by dots.
  constexpr std::string_view path() const { return {path_, static_cast<std::size_t>(size_)}; }

 private:
  constexpr void append(std::string_view part) {
    if (size_ + static_cast<int>(part.size()) > max_path)
      return g_->refuse(model_fault::long_name, path());
    for (const char c : part) {
      path_[size_++] = c;
      hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 16777619u;  // FNV-1a
    }
  }
  constexpr int find(leaf* leaves, int count) const {
    return g_->find_or_expect(leaves, count, path(), hash_);
  }
  // Declares a leaf with the path as its name.
  template <class T, class S, int Most>
  constexpr int declare(op kind, S axes, leaf (&leaves)[Most], int& count, model_fault more,
                        initializer init = {}) const {
    node n = make_node(kind);
    n.type = dtype_of<T>;
    n.axes = axes_of(axes);
    if (count == Most) g_->refuse(more, path());
    if (g_->rejected) return g_->emit(n);
    n.leaf = count;
    const int id = g_->emit(n);
    leaves[count++] = {g_->intern(path()), id, init, hash_, {}, false};
    return id;
  }

  // An update gives nothing, so that a model with a wrong one is evaluated all the same.
  WEFT_REJECT_CALLS((detail::rule_of_update<State, Value>()), (State, Value),
                    (class State, class Value),
                    (constexpr void update(const State&, const Value&) const {}),
                    (elements,
                     "update: the value's elements are not those of the state; convert with "
                     "weft::cast"),
                    (other_axes,
                     "update: the value's axes are not those of the state, in their order"),
                    (states, "update: what is updated is no state, as s.state<...>() gives it"),
                    (tensor, "update: it takes a state and a tensor, such as weft::constant(1.0f)"))

  graph* g_;
  char path_[max_path]{};
  int size_ = 0;
  std::uint32_t hash_ = 2166136261u;  // of the path
  bool shared_ = false;
};

}  // namespace weft
#include "weft/header_end.hpp"
