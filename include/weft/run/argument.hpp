// Arguments by name, checked against the model's inputs while compiling.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <type_traits>

#include "weft/axes/text.hpp"
#include "weft/graph/tensor.hpp"
#include "weft/lower/lower.hpp"
#include "weft/run/engine.hpp"
#include "weft/run/view.hpp"

namespace weft {

template <text Name, class V>
struct named_argument {
  V value;
};

// arg<"tokens">(x) gives x for the input "tokens": a view or an array with the input's axes, or a
// contiguous range of its elements, dense in the order of the axes. Of a range at most one axis's
// length may be unknown; it follows from the size. The elements are read during the run and must
// stay till then.
template <text Name, class T, class S>
constexpr named_argument<Name, view<const T, S>> arg(const view<T, S>& x) {
  return {x};
}
template <text Name, class T, class... Axes>
constexpr named_argument<Name, view<const T, shape<Axes...>>> arg(const array<T, Axes...>& x) {
  return {x.view()};
}
// A number for an input without axes.
template <text Name, class T>
requires is_element<T>
constexpr named_argument<Name, T> arg(T x) {
  return {x};
}
template <text Name, class R>
requires requires(const R& x) {
  std::span(x);
}
constexpr auto arg(const R& x) {
  using T = std::remove_cv_t<typename decltype(std::span(x))::element_type>;
  return named_argument<Name, std::span<const T>>{std::span<const T>(x)};
}

// A dense range of elements as an input: the one unknown length is what the size makes it. Throws
// weft::error where the size fits no length.
binding bind_range(const program& p, const input_ref& input, const void* data, std::size_t size);

namespace detail {

enum class argument_fault { none, unnamed, unknown, doubled, missing, elements, axes, lengths };

template <class Graph>
constexpr int find_input(const Graph& g, std::string_view name) {
  for (int i = 0; i < g.input_count; ++i)
    if (g.name(g.inputs[i].name) == name) return i;
  return -1;
}

// What is no named argument has no name.
template <class>
struct argument_traits {
  static constexpr std::string_view name = "";
  static constexpr argument_fault fault(const node&) { return argument_fault::unnamed; }
};
template <text Name, class T, class S>
struct argument_traits<named_argument<Name, view<const T, S>>> {
  static constexpr std::string_view name = Name.view();
  static constexpr argument_fault fault(const node& input) {
    if (input.type != element_of<T> || !is_element<T>) return argument_fault::elements;
    return input.axes == axes_of(S{}) ? argument_fault::none : argument_fault::axes;
  }
};
template <text Name, class T>
requires is_element<T>
struct argument_traits<named_argument<Name, T>> {
  static constexpr std::string_view name = Name.view();
  static constexpr argument_fault fault(const node& input) {
    if (input.type != element_of<T>) return argument_fault::elements;
    return input.axes.count == 0 ? argument_fault::none : argument_fault::axes;
  }
};
template <text Name, class T>
struct argument_traits<named_argument<Name, std::span<const T>>> {
  static constexpr std::string_view name = Name.view();
  static constexpr argument_fault fault(const node& input) {
    if (input.type != element_of<T> || !is_element<T>) return argument_fault::elements;
    int unknown = 0;
    for (int a = 0; a < input.axes.count; ++a) unknown += input.axes.at[a]->bounded;
    return unknown > 1 ? argument_fault::lengths : argument_fault::none;
  }
};

template <class Source, class... Args>
constexpr argument_fault fault_of_arguments() {
  auto const& g = Source::g;
  if (g.rejected) return argument_fault::none;
  int given[max_leaves]{};
  auto fault = argument_fault::none;
  [[maybe_unused]] auto const check = [&](auto traits) {
    using A = decltype(traits);
    if (fault != argument_fault::none) return;
    constexpr int i = find_input(Source::g, A::name);
    if constexpr (A::name.empty())
      fault = argument_fault::unnamed;
    else if constexpr (i < 0)
      fault = argument_fault::unknown;
    else
      fault = given[i]++ ? argument_fault::doubled : A::fault(g.nodes[g.inputs[i].node]);
  };
  (check(argument_traits<Args>{}), ...);
  if (fault != argument_fault::none) return fault;
  return sizeof...(Args) < static_cast<std::size_t>(g.input_count) ? argument_fault::missing
                                                                   : argument_fault::none;
}

template <text Name, class T, class S>
binding bind(const program&, const input_ref&, const named_argument<Name, view<const T, S>>& a) {
  binding b{.data = a.value.data()};
  std::ranges::copy(a.value.lengths(), b.length.begin());
  std::ranges::copy(a.value.strides(), b.stride.begin());
  return b;
}
template <text Name, class T>
requires is_element<T> binding bind(const program&, const input_ref&,
                                    const named_argument<Name, T>& a) {
  return {.data = &a.value};
}
template <text Name, class T>
binding bind(const program& p, const input_ref& input,
             const named_argument<Name, std::span<const T>>& a) {
  return bind_range(p, input, a.value.data(), a.value.size());
}

// The elements of an argument for an input of fixed extents, if they lie as the plan has them; else
// null.
template <text Name, class T, class S>
const void* planned_elements(const input_ref& input,
                             const named_argument<Name, view<const T, S>>& a) {
  std::ptrdiff_t stride = 1;
  bool same = true;
  for (std::size_t i = S::rank; i-- > 0;) {
    std::size_t const extent = input.extent[i].most;
    same =
        same && a.value.lengths()[i] == extent && (a.value.strides()[i] == stride || extent == 1);
    stride *= static_cast<std::ptrdiff_t>(extent);
  }
  return same ? a.value.data() : nullptr;
}
template <text Name, class T>
requires is_element<T>
const void* planned_elements(const input_ref&, const named_argument<Name, T>& a) {
  return &a.value;
}
template <text Name, class T>
const void* planned_elements(const input_ref& input,
                             const named_argument<Name, std::span<const T>>& a) {
  std::size_t size = 1;
  for (int i = 0; i < input.rank; ++i) size *= input.extent[i].most;
  return a.value.size() == size ? a.value.data() : nullptr;
}

// May arguments be bound by their addresses alone? Not where lengths, indices or the room for what
// is written are to be checked.
template <class Tables>
constexpr bool binds_by_address(const Tables& tables) {
  for (input_ref const& input : tables.inputs)
    if (input.picks_from_name.size > 0) return false;
  return tables.lengths.size() == 0 && tables.writes.size() == 0;
}

}  // namespace detail

// The arguments in the order of the program's inputs.
template <class Source, class... Args>
std::array<binding, sizeof...(Args)> bindings(const program& p, const Args&... args) {
  std::array<binding, sizeof...(Args)> bound{};
  [[maybe_unused]] auto const put = [&]<class A>(const A& a) {
    constexpr auto i =
        static_cast<std::size_t>(detail::find_input(Source::g, detail::argument_traits<A>::name));
    bound[i] = detail::bind(p, p.inputs[i], a);
  };
  (put(args), ...);
  return bound;
}

// Binds the arguments of a run. Throws weft::error where one is wrong. What can be known of them
// while compiling costs a run nothing.
template <class Source, class... Args>
void bind_arguments(engine& e, const Args&... args) {
  using code = lowered<Source>;
  if constexpr (Source::g.rejected) {
    ((void)args, ...);
  } else {
    if constexpr (detail::binds_by_address(code::tables)) {
      std::array<const std::byte*, sizeof...(Args)> elements{};
      [[maybe_unused]] auto const find = [&]<class A>(const A& a) {
        constexpr auto i = static_cast<std::size_t>(
            detail::find_input(Source::g, detail::argument_traits<A>::name));
        elements[i] =
            static_cast<const std::byte*>(detail::planned_elements(code::tables.inputs[i], a));
        return elements[i] != nullptr;
      };
      if ((find(args) && ...)) return e.bind_checked(elements);
    }
    e.bind(bindings<Source>(code::program, args...));
  }
}

}  // namespace weft
