// Named arguments of a run, checked against the model's inputs at compile time.
#pragma once
#include "weft/header_begin.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <type_traits>

#include "weft/axes/fixed_string.hpp"
#include "weft/graph/tensor.hpp"
#include "weft/lower/lower.hpp"
#include "weft/run/engine.hpp"
#include "weft/run/view.hpp"

namespace weft {

namespace detail {
template <class T, class S>
void take_view(const view<T, S>&);
// A view, or the results of a run that are one.
template <class X>
concept view_like = requires(const X& x) {
  take_view(x);
};
}  // namespace detail

// What weft::arg returns.
template <fixed_string Name, class V>
struct named_argument {
  V value;  // a view, a scalar or a std::span
};

// arg<"tokens">(x) passes x as the input "tokens". x is a view or an array with the input's dtype
// and axes, or a contiguous range (anything std::span takes) of its elements in row-major order. In
// a range at most one axis may have a runtime length, which follows from the range's size. A run
// reads the elements in place where their strides are the planned ones, so they must outlive the
// call. A wrong name, dtype or set of axes does not compile; a wrong length throws weft::error in
// the run.
template <fixed_string Name, class T, class S>
constexpr named_argument<Name, view<const T, S>> arg(const view<T, S>& x) {
  return {x};
}
// The same of an array.
template <fixed_string Name, class T, class... Axes>
constexpr named_argument<Name, view<const T, shape<Axes...>>> arg(const array<T, Axes...>& x) {
  return {x.view()};
}
// A scalar for an input without axes.
template <fixed_string Name, class T>
requires is_dtype<T>
constexpr named_argument<Name, T> arg(T x) {
  return {x};
}
// The same of a contiguous range.
template <fixed_string Name, class R>
requires requires(const R& x) {
  std::span(x);
}
constexpr auto arg(const R& x) {
  using T = std::remove_cv_t<typename decltype(std::span(x))::element_type>;
  return named_argument<Name, std::span<const T>>{std::span<const T>(x)};
}

template <fixed_string Name, class X>
requires(!is_dtype<X> && !detail::view_like<X> && !requires(const X& x) { std::span(x); })
    WEFT_REJECT(
        (rule::elements), arg(const X&),
        (elements,
         "arg: it is a weft::array or a weft::view, a contiguous range such as a std::vector, or "
         "a number, of float, std::int32_t, bool or weft::bfloat16"))

template <class... X>
WEFT_REJECT((rule::unnamed), arg(const X&...),
            (unnamed, "arg: the name stands in angle brackets, as in weft::arg<\"x\">(x)"))

// Binds `size` contiguous row-major elements at `data` to an input; the one runtime length, if any,
// follows from `size`. Throws weft::error where `size` is not the input's number of elements, or no
// multiple of the product of its fixed extents.
binding bind_range(const program& p, const input_ref& input, const void* data, std::size_t size);

namespace detail {

template <class Graph>
constexpr int find_input(const Graph& g, std::string_view name) {
  for (int i = 0; i < g.input_count; ++i)
    if (g.name(g.inputs[i].name) == name) return i;
  return -1;
}

// An argument not made by arg() has no name.
template <class>
struct argument_traits {
  static constexpr std::string_view name = "";
  static constexpr rule fault(const node&) { return rule::unnamed; }
};
template <fixed_string Name, class T, class S>
struct argument_traits<named_argument<Name, view<const T, S>>> {
  static constexpr std::string_view name = Name.view();
  static constexpr rule fault(const node& input) {
    if (input.type != dtype_of<T> || !is_dtype<T>) return rule::elements;
    return input.axes == axes_of(S{}) ? rule::none : rule::other_axes;
  }
};
template <fixed_string Name, class T>
requires is_dtype<T>
struct argument_traits<named_argument<Name, T>> {
  static constexpr std::string_view name = Name.view();
  static constexpr rule fault(const node& input) {
    if (input.type != dtype_of<T>) return rule::elements;
    return input.axes.count == 0 ? rule::none : rule::other_axes;
  }
};
template <fixed_string Name, class T>
struct argument_traits<named_argument<Name, std::span<const T>>> {
  static constexpr std::string_view name = Name.view();
  static constexpr rule fault(const node& input) {
    if (input.type != dtype_of<T> || !is_dtype<T>) return rule::elements;
    int unknown = 0;
    for (int a = 0; a < input.axes.count; ++a) unknown += input.axes.at[a]->bounded;
    return unknown > 1 ? rule::extent : rule::none;
  }
};

template <class Unit, class... Args>
constexpr rule rule_of_arguments() {
  const auto& g = Unit::g;
  if (g.rejected) return rule::none;
  int given[max_inputs]{};
  auto fault = rule::none;
  [[maybe_unused]] const auto check = [&](auto traits) {
    using A = decltype(traits);
    if (fault != rule::none) return;
    constexpr int i = find_input(Unit::g, A::name);
    if constexpr (A::name.empty())
      fault = rule::unnamed;
    else if constexpr (i < 0)
      fault = rule::unknown;
    else
      fault = given[i]++ ? rule::twice : A::fault(g.nodes[g.inputs[i].node]);
  };
  (check(argument_traits<Args>{}), ...);
  if (fault != rule::none) return fault;
  return sizeof...(Args) < static_cast<std::size_t>(g.input_count) ? rule::missing : rule::none;
}

// Types whose names carry the message about a wrong argument: its name, and the model's inputs.
template <class...>
struct wrong_argument {};
template <class...>
struct missing_input {};
template <class...>
struct inputs {};

template <class Unit, int I>
struct describe_input {
  static constexpr message make() {
    const auto& g = Unit::g;
    const node& n = g.nodes[g.inputs[I].node];
    return describe(g.name(g.inputs[I].name), n.type, n.axes);
  }
};
template <class Unit, std::size_t... I>
inputs<spelled_t<text_of<describe_input<Unit, static_cast<int>(I)>>()>...> describe_inputs(
    std::index_sequence<I...>);
template <class Unit>
using inputs_of = decltype(describe_inputs<Unit>(
    std::make_index_sequence<static_cast<std::size_t>(Unit::g.input_count)>()));

// The index of the first input without an argument; -1 for none.
template <class Unit, class... Args>
constexpr int find_missing() {
  bool given[max_inputs + 1]{};
  ((given[find_input(Unit::g, argument_traits<Args>::name) + 1] = true), ...);
  for (int i = 0; i < Unit::g.input_count; ++i)
    if (!given[i + 1]) return i;
  return -1;
}
template <class Unit, class... Args>
struct describe_missing {
  static constexpr message make() {
    message m;
    if (const int i = find_missing<Unit, Args...>(); i >= 0)
      m << Unit::g.name(Unit::g.inputs[i].name);
    return m;
  }
};
// The name of the first argument that is wrong by itself or given twice.
template <class Unit, class... Args>
struct describe_wrong {
  static constexpr message make() {
    message m;
    bool found = false;
    bool given[max_inputs]{};
    [[maybe_unused]] const auto look = [&](std::string_view name, auto fault) {
      const int i = find_input(Unit::g, name);
      if (found) return;
      found = i < 0 || given[i] || fault(Unit::g.nodes[Unit::g.inputs[i].node]);
      if (found) m << name;
      if (i >= 0) given[i] = true;
    };
    (look(argument_traits<Args>::name,
          [](const node& n) { return argument_traits<Args>::fault(n) != rule::none; }),
     ...);
    return m;
  }
};

template <class Unit, class... Args>
constexpr auto about_arguments() {
  if constexpr (rule_of_arguments<Unit, Args...>() == rule::missing)
    return missing_input<spelled_t<text_of<describe_missing<Unit, Args...>>()>, inputs_of<Unit>>{};
  else
    return wrong_argument<spelled_t<text_of<describe_wrong<Unit, Args...>>()>, inputs_of<Unit>>{};
}

template <fixed_string Name, class T, class S>
binding bind(const program&, const input_ref&, const named_argument<Name, view<const T, S>>& a) {
  binding b{.data = a.value.data()};
  std::ranges::copy(a.value.lengths(), b.length.begin());
  std::ranges::copy(a.value.strides(), b.stride.begin());
  return b;
}
template <fixed_string Name, class T>
requires is_dtype<T> binding bind(const program&, const input_ref&,
                                  const named_argument<Name, T>& a) {
  return {.data = &a.value};
}
template <fixed_string Name, class T>
binding bind(const program& p, const input_ref& input,
             const named_argument<Name, std::span<const T>>& a) {
  return bind_range(p, input, a.value.data(), a.value.size());
}

// The argument's data pointer if its lengths and strides are the planned ones of an input with
// fixed extents; else null.
template <fixed_string Name, class T, class S>
const void* planned_elements(const input_ref& input,
                             const named_argument<Name, view<const T, S>>& a) {
  std::ptrdiff_t stride = 1;
  bool same = true;
  for (std::size_t i = S::rank; i-- > 0;) {
    const std::size_t extent = input.extent[i].most;
    same =
        same && a.value.lengths()[i] == extent && (a.value.strides()[i] == stride || extent == 1);
    stride *= static_cast<std::ptrdiff_t>(extent);
  }
  return same ? a.value.data() : nullptr;
}
template <fixed_string Name, class T>
requires is_dtype<T>
const void* planned_elements(const input_ref&, const named_argument<Name, T>& a) {
  return &a.value;
}
template <fixed_string Name, class T>
const void* planned_elements(const input_ref& input,
                             const named_argument<Name, std::span<const T>>& a) {
  std::size_t size = 1;
  for (int i = 0; i < input.rank; ++i) size *= input.extent[i].most;
  return a.value.size() == size ? a.value.data() : nullptr;
}

// Whether arguments can be bound by address alone: no runtime lengths, no indices and no writes,
// which would need checks in each run.
template <class Tables>
constexpr bool binds_by_address(const Tables& tables) {
  for (const input_ref& input : tables.inputs)
    if (input.is_index) return false;
  return tables.lengths.size() == 0 && tables.writes.size() == 0;
}

}  // namespace detail

// Declares the overloads that report wrong arguments of a member function called with the inputs of
// Unit; __VA_ARGS__ is its declaration for template <class... Args>, with its body.
#define WEFT_REJECT_ARGUMENTS(Unit, ...)                                                           \
  WEFT_REJECT_CALLS(                                                                               \
      (::weft::detail::rule_of_arguments<Unit, Args...>()),                                        \
      (decltype(::weft::detail::about_arguments<Unit, Args...>())), (class... Args),               \
      (__VA_ARGS__), (unnamed, "argument: without a name; give each with weft::arg<\"name\">(x)"), \
      (unknown, "argument: nothing that is computed needs an input of this name"),                 \
      (twice, "argument: an input is given twice"),                                                \
      (missing, "argument: an input is missing; give each with weft::arg<\"name\">(x)"),           \
      (elements, "argument: the elements are not those of the input"),                             \
      (other_axes, "argument: the axes are not those of the input"),                               \
      (extent, "argument: more than one length is unknown; give a weft::view or a weft::array"))

// The bindings of the arguments, in the order of the program's inputs.
template <class Unit, class... Args>
std::array<binding, sizeof...(Args)> bindings(const program& p, const Args&... args) {
  std::array<binding, sizeof...(Args)> bound{};
  [[maybe_unused]] const auto put = [&]<class A>(const A& a) {
    constexpr auto i =
        static_cast<std::size_t>(detail::find_input(Unit::g, detail::argument_traits<A>::name));
    bound[i] = detail::bind(p, p.inputs[i], a);
  };
  (put(args), ...);
  return bound;
}

// Binds the arguments of a run. Throws weft::error where a length or an index is wrong, or a write
// has no room. Where nothing is left to check at run time, binding only stores pointers.
template <class Unit, class... Args>
void bind_arguments(engine& e, const Args&... args) {
  using code = lowered<Unit>;
  if constexpr (Unit::g.rejected) {
    ((void)args, ...);
  } else {
    if constexpr (detail::binds_by_address(code::tables)) {
      std::array<const std::byte*, sizeof...(Args)> elements{};
      [[maybe_unused]] const auto find = [&]<class A>(const A& a) {
        constexpr auto i =
            static_cast<std::size_t>(detail::find_input(Unit::g, detail::argument_traits<A>::name));
        elements[i] =
            static_cast<const std::byte*>(detail::planned_elements(code::tables.inputs[i], a));
        return elements[i] != nullptr;
      };
      if ((find(args) && ...)) return e.bind_checked(elements);
    }
    e.bind(bindings<Unit>(code::program, args...));
  }
}

}  // namespace weft
#include "weft/header_end.hpp"
