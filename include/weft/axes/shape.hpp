// Shapes are lists of axes; set operations on them give the axes of an operation's result.
#pragma once
#include "weft/header_begin.hpp"

#include <boost/hana/at.hpp>
#include <boost/hana/experimental/types.hpp>
#include <boost/hana/fold_left.hpp>
#include <boost/hana/type.hpp>
#include <boost/hana/unpack.hpp>
#include <type_traits>

#include "weft/axes/axis.hpp"

namespace weft {

namespace hana = boost::hana;

// The axes of a tensor, outermost first: its memory order. To Boost.Hana it is a list of types,
// which costs the compilers a fraction of a hana::tuple or a hana::set of them.
template <class... Axes>
struct shape : hana::experimental::types<Axes...> {
  // Makes it such a list.
  using hana_tag = hana::experimental::types_tag;
  static constexpr int rank = sizeof...(Axes);  // the number of axes
  // The product of the axes' extents.
  static constexpr std::size_t extent = (std::size_t{1} * ... * Axes::extent);
  // Whether the length of an axis is known at run time only.
  static constexpr bool bounded = (false || ... || Axes::bounded);
};

// The first of several types.
template <class... Ts>
using first_of = typename decltype(hana::at_c<0>(hana::experimental::types<Ts...>{}))::type;
// The first of a shape's axes.
template <class S>
using outermost = typename decltype(hana::at_c<0>(S{}))::type;

// List<...> of the axes of S.
template <template <class...> class List, class S>
using axes_in = typename decltype(hana::unpack(S{}, hana::template_<List>))::type;

// Whether the shape S has the axis A: by a fold expression, as hana::contains takes the compilers
// longer.
template <class A, class S>
inline constexpr bool has_axis = false;
template <class A, class... Axes>
inline constexpr bool has_axis<A, shape<Axes...>> = (std::is_same_v<A, Axes> || ...);

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

template <class From, class To, class... Axes>
constexpr auto replace(shape<Axes...>) {
  return (shape<>{} | ... | std::conditional_t<std::is_same_v<Axes, From>, To, shape<Axes>>{});
}

}  // namespace detail

// S with the axis From replaced by the axes of To.
template <class S, class From, class To>
using replaced = decltype(detail::replace<From, To>(S{}));

namespace detail {

// Add an axis to a set of axes, and remove one.
struct insert {
  template <class S, class A>
  constexpr auto operator()(S s, hana::basic_type<A>) const {
    return s | std::conditional_t<has_axis<A, S>, shape<>, shape<A>>{};
  }
};
struct erase {
  template <class S, class A>
  constexpr replaced<S, A, shape<>> operator()(S, hana::basic_type<A>) const {
    return {};
  }
};

}  // namespace detail

// The axes of S, then those of T that S does not have, in their order.
template <class S, class T>
using united = decltype(hana::fold_left(T{}, S{}, detail::insert{}));
// The rank of the union of S and T.
template <class S, class T>
inline constexpr int united_rank = united<S, T>::rank;

// The axes of S that are not in T, in the order of S.
template <class S, class T>
using without = decltype(hana::fold_left(T{}, S{}, detail::erase{}));

// Whether the shape S names each of its axes once.
template <class S>
inline constexpr bool distinct = std::is_same_v<united<shape<>, S>, S>;

// The axes of the left shape, then those that only the right one has: see weft::united.
template <class... A, class... B>
constexpr united<shape<A...>, shape<B...>> operator+(shape<A...>, shape<B...>) {
  return {};
}

}  // namespace weft
#include "weft/header_end.hpp"
