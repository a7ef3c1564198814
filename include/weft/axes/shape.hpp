// Shapes are lists of axes; set operations on them give the axes of an operation's result.
#pragma once

#include <boost/hana/fold_left.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>
#include <type_traits>

#include "weft/axes/axis.hpp"

namespace weft {

namespace hana = boost::hana;

// The axes of a tensor, outermost first: its memory order.
template <class... Axes>
struct shape {
  static constexpr int rank = sizeof...(Axes);  // the number of axes
  // The product of the axes' extents.
  static constexpr std::size_t extent = (std::size_t{1} * ... * Axes::extent);
  // Whether the length of an axis is known at run time only.
  static constexpr bool bounded = (false || ... || Axes::bounded);
};
template <class First, class... Rest>
struct shape<First, Rest...> {
  using outermost = First;
  static constexpr int rank = 1 + sizeof...(Rest);
  static constexpr std::size_t extent = First::extent * shape<Rest...>::extent;
  static constexpr bool bounded = First::bounded || shape<Rest...>::bounded;
};

// Whether the shape S has the axis A.
template <class A, class S>
inline constexpr bool has_axis = false;
template <class A, class... Axes>
inline constexpr bool has_axis<A, shape<Axes...>> = (std::is_same_v<A, Axes> || ...);

// The rank of the union of S and T.
template <class S, class T>
inline constexpr int united_rank = 0;
template <class S, class... Axes>
inline constexpr int united_rank<S, shape<Axes...>> = (S::rank + ... + (has_axis<Axes, S> ? 0 : 1));

// Whether the shape S names each of its axes once.
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

// Whether every axis of S is in T.
template <class S, class T>
inline constexpr bool subset = false;
template <class... Axes, class T>
inline constexpr bool subset<shape<Axes...>, T> = (has_axis<Axes, T> && ...);

namespace detail {

template <class... A, class... B>
constexpr shape<A..., B...> operator|(shape<A...>, shape<B...>) {
  return {};
}

// Appends an axis to a shape, unless T has it.
template <class T>
struct append_unless_in {
  template <class S, class A>
  constexpr auto operator()(S s, hana::basic_type<A>) const {
    return s | std::conditional_t<has_axis<A, T>, shape<>, shape<A>>{};
  }
};
// A fold, because filtering a tuple costs the compilers several times as much.
template <class T, class Begin, class... Axes>
constexpr auto append_new(Begin begin, shape<Axes...>) {
  return hana::fold_left(hana::tuple_t<Axes...>, begin, append_unless_in<T>{});
}

}  // namespace detail

// The axes of S that are not in T, in the order of S.
template <class S, class T>
using without = decltype(detail::append_new<T>(shape<>{}, S{}));

// The axes of S, then those of T that S does not have, in their order.
template <class S, class T>
using united = decltype(detail::append_new<S>(S{}, T{}));

// The axes of the left shape, then those that only the right one has: see weft::united.
template <class... A, class... B>
constexpr united<shape<A...>, shape<B...>> operator+(shape<A...>, shape<B...>) {
  return {};
}

namespace detail {

template <class From, class To, class... Axes>
constexpr auto replace(shape<Axes...>) {
  return (shape<>{} | ... | std::conditional_t<std::is_same_v<Axes, From>, To, shape<Axes>>{});
}

}  // namespace detail

// S with the axis From replaced by the axes of To.
template <class S, class From, class To>
using replaced = decltype(detail::replace<From, To>(S{}));

}  // namespace weft
