// Sample models, made of the operation table: of each elementwise and each rowwise operation as its
// entry says, so that a new one is tested without a line of its own.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "reference/formulas.hpp"
#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace weft::testing {

// A weight for each index of each axis, so that in the loss, a weighted sum, no two elements have
// the same gradient.
struct weights {
  template <class A>
  constexpr auto of() const {
    return sin(cast<float>(positions<A>()) * 1.7f + 0.5f);
  }
  template <class... Axes, expression X>
  constexpr auto operator()(shape<Axes...>, const X& x) const {
    if constexpr (sizeof...(Axes) == 0)
      return x;
    else
      return sum<Axes...>((x * ... * of<Axes>()));
  }
  template <expression X>
  constexpr auto operator()(const X& x) const {
    return (*this)(shape_t<X>{}, x);
  }
};

// The name of an operation, for an input, a parameter or a result.
template <op K>
constexpr auto named() {
  constexpr std::string_view name = name_of(K);
  fixed_string<name.size() + 1> text;
  std::copy_n(name.begin(), name.size(), text.chars);
  return text;
}

// The operations K for which Holds()<K>() is true. apply(f) calls f(k...), where k() is one of
// them.
template <class Holds>
struct operations_where {
  struct selection {
    op of[op_count];
    int count;
  };
  static constexpr selection all = [] {
    constexpr auto holds = table_of_operations(Holds());
    selection s{};
    for (int k = 0; k < op_count; ++k)
      if (holds[static_cast<op>(k)]) s.of[s.count++] = static_cast<op>(k);
    return s;
  }();
  template <class F>
  static constexpr auto apply(F f) {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return f(std::integral_constant<op, all.of[I]>()...);
    }
    (std::make_integer_sequence<int, all.count>());
  }
};

template <op K>
constexpr bool is_differentiable() {
  return !requires {
    typename op_entry<K>::adjoint;
  };
}

namespace sample {

struct Three : axis<3> {};
struct Five : axis<5> {};
struct Hundred : axis<100> {};
struct Pos : axis<up_to<7>> {};

// Of an elementwise operation whose operands are all of T.
template <op K, class T, class X, class Y, class Z>
constexpr auto apply(const X& x, const Y& y, const Z& z) {
  constexpr bool compares =
      info(K).types == element_types::comparison || info(K).types == element_types::equality;
  using R = std::conditional_t<compares, bool, T>;
  if constexpr (operands_of_elementwise(K) == 1)
    return weft::detail::elementwise<K, R>(x);
  else if constexpr (operands_of_elementwise(K) == 2)
    return weft::detail::elementwise<K, R>(x, y);
  else
    return weft::detail::elementwise<K, R>(x, y, z);
}

// Whether an elementwise operation has operands of T, and no others.
template <op K, class T>
constexpr bool takes() {
  if constexpr (is_elementwise(K)) {
    constexpr auto t = info(K).types;
    using e = element_types;
    if (t == e::same || t == e::equality) return true;
    if (std::is_same_v<T, bool>) return t == e::booleans;
    return t == e::numbers || t == e::comparison || (t == e::floats && std::is_same_v<T, float>);
  }
  return false;
}
template <class T>
struct is_elementwise_of {
  template <op K>
  constexpr bool operator()() const {
    return takes<K, T>();
  }
};
struct is_differentiable_elementwise {
  template <op K>
  constexpr bool operator()() const {
    return takes<K, float>() && is_differentiable<K>();
  }
};

// Every elementwise operation of T, with operands that are broadcast; the first operand has all
// axes of the result, or, if Turned, the last one, in another order.
template <class T, bool Turned>
struct elementwise {
  using operations = operations_where<is_elementwise_of<T>>;
  template <op K>
  static constexpr auto of(scope s) {
    constexpr auto name = named<K>();
    auto x = s.input<name + fixed_string(".0"), T, Three, Hundred>();
    auto y = s.input<name + fixed_string(".1"), T, Hundred>();
    auto z = s.input<name + fixed_string(".2"), T, Hundred, Pos, Three>();
    if constexpr (Turned)
      return as<name>(sample::apply<K, T>(z, x, y));
    else
      return as<name>(sample::apply<K, T>(x, y, z));
  }
  constexpr auto operator()(scope s) const {
    return operations::apply([&](auto... k) { return results(of<k()>(s)...); });
  }
};

// A loss whose terms are results with the names of their operations.
template <op... K, class... Terms>
constexpr auto loss_of_terms(const Terms&... terms) {
  return results(as<"loss">((terms + ...)), as<named<K>()>(terms)...);
}

// The gradients of every elementwise operation of floats, for operands that are broadcast.
struct elementwise_gradients {
  using operations = operations_where<is_differentiable_elementwise>;
  template <op K>
  static constexpr auto of(scope s) {
    constexpr auto name = named<K>();
    auto x = s.param<name + fixed_string(".0"), Three, Five>();
    auto y = s.param<name + fixed_string(".1"), Five>();
    auto z = s.param<name + fixed_string(".2"), Three>();
    return weights()(sample::apply<K, float>(x, y, z));
  }
  constexpr auto operator()(scope s) const {
    return operations::apply([&](auto... k) { return loss_of_terms<k()...>(of<k()>(s)...); });
  }
};

// The ranges of these models' operands, as their formulas say.
template <class Operations>
settings domains() {
  settings s;
  Operations::apply([&](auto... k) {
    const auto add = [&]<op K>(std::integral_constant<op, K>) {
      for (int j = 0; j < 3; ++j) {
        const reference::interval d = reference::formula<K>::domain(j);
        s.ranges[std::string(name_of(K)).append(".").append(std::to_string(j))] = {d.low, d.high};
      }
    };
    (add(k), ...);
  });
  return s;
}

struct is_rowwise_of_one {
  template <op K>
  constexpr bool operator()() const {
    return is_rowwise(K) && least_operands(K) == 1;
  }
};
// Every rowwise operation of one operand: rows that are contiguous, strided, and of a length that
// is known at run time.
struct rowwise {
  using operations = operations_where<is_rowwise_of_one>;
  template <op K, class A, expression X>
  static constexpr auto along(const X& x) {
    if constexpr (info(K).names.scalar[0])  // its epsilon
      return weft::detail::along<K, A>(x, 0.1);
    else
      return weft::detail::along<K, A>(x);
  }
  constexpr auto operator()(scope s) const {
    auto x = s.input<"x", float, Three, Pos, Hundred>();
    return operations::apply([&](auto... k) {
      return results(as<named<k()>() + fixed_string(".inner")>(along<k(), Hundred>(x))...,
                     as<named<k()>() + fixed_string(".outer")>(along<k(), Three>(x))...,
                     as<named<k()>() + fixed_string(".bounded")>(along<k(), Pos>(x))...);
    });
  }
};
// Their gradients. Each has an x of its own, so that no two gradients are added up.
struct rowwise_gradients {
  template <op K>
  static constexpr auto of(scope s) {
    auto x = s.param<named<K>() + fixed_string(".x"), Three, Five>();
    return weights()(rowwise::along<K, Five>(x)) + weights()(rowwise::along<K, Three>(x));
  }
  constexpr auto operator()(scope s) const {
    return rowwise::operations::apply(
        [&](auto... k) { return loss_of_terms<k()...>(of<k()>(s)...); });
  }
};

}  // namespace sample

}  // namespace weft::testing
