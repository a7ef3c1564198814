// Shapes are lists of axes; the algebra of shapes says which axes the result of an operation has.
#pragma once

#include <boost/hana/concat.hpp>
#include <boost/hana/contains.hpp>
#include <boost/hana/equal.hpp>
#include <boost/hana/integral_constant.hpp>
#include <boost/hana/length.hpp>
#include <boost/hana/remove_if.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>
#include <boost/hana/unpack.hpp>
#include <type_traits>

#include "weft/axes/axis.hpp"

namespace weft {

namespace hana = boost::hana;

// The axes of a tensor, outermost first: its memory order.
template <class... Axes>
struct shape {
  static constexpr int rank = sizeof...(Axes);
  static constexpr std::size_t extent = (std::size_t{1} * ... * Axes::extent);
  static constexpr bool bounded = (false || ... || Axes::bounded);
};
template <class First, class... Rest>
struct shape<First, Rest...> {
  using outermost = First;
  static constexpr int rank = 1 + sizeof...(Rest);
  static constexpr std::size_t extent = First::extent * shape<Rest...>::extent;
  static constexpr bool bounded = First::bounded || shape<Rest...>::bounded;
};

template <class A, class S>
inline constexpr bool has_axis = false;
template <class A, class... Axes>
inline constexpr bool has_axis<A, shape<Axes...>> = (std::is_same_v<A, Axes> || ...);

// The number of axes that S and T have together.
template <class S, class T>
inline constexpr int united_rank = 0;
template <class S, class... Axes>
inline constexpr int united_rank<S, shape<Axes...>> = (S::rank + ... + (has_axis<Axes, S> ? 0 : 1));

template <class S>
inline constexpr bool distinct = true;
template <class A, class... Rest>
inline constexpr bool distinct<shape<A, Rest...>> =
    !has_axis<A, shape<Rest...>> && distinct<shape<Rest...>>;

template <class First, class...>
struct first {
  using type = First;
};
template <class... Ts>
using first_of = typename first<Ts...>::type;

// Every axis of S in T?
template <class S, class T>
inline constexpr bool subset = false;
template <class... Axes, class T>
inline constexpr bool subset<shape<Axes...>, T> = (has_axis<Axes, T> && ...);

namespace detail {

template <class... Axes>
constexpr auto types(shape<Axes...>) {
  return hana::tuple_t<Axes...>;
}
template <class Types>
constexpr auto to_shape(Types types) {
  return hana::unpack(types, [](auto... t) { return shape<typename decltype(t)::type...>{}; });
}
template <class S, class T>
constexpr auto difference(S s, T t) {
  return hana::remove_if(types(s), [t](auto axis) { return hana::contains(types(t), axis); });
}

}  // namespace detail

// The axes of S that are not in T, in the order of S.
template <class S, class T>
using without = decltype(detail::to_shape(detail::difference(S{}, T{})));

// Those of S, then those of T that S does not have.
template <class S, class T>
using united =
    decltype(detail::to_shape(hana::concat(detail::types(S{}), detail::difference(T{}, S{}))));

template <class... A, class... B>
constexpr united<shape<A...>, shape<B...>> operator+(shape<A...>, shape<B...>) {
  return {};
}

namespace detail {

template <class... A, class... B>
constexpr shape<A..., B...> operator|(shape<A...>, shape<B...>) {
  return {};
}
template <class From, class To, class... Axes>
constexpr auto replace(shape<Axes...>) {
  return (shape<>{} | ... | std::conditional_t<std::is_same_v<Axes, From>, To, shape<Axes>>{});
}

}  // namespace detail

// S with the axes of To in the place of From.
template <class S, class From, class To>
using replaced = decltype(detail::replace<From, To>(S{}));

}  // namespace weft
