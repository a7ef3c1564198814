// Named axes. An axis is a type that the user declares once:
//
//   struct Embed : weft::axis<384> {};                  // 384 elements, always
//   struct Pos : weft::axis<weft::up_to<512>> {};       // its length comes with the arguments
//   struct Pos : weft::axis<weft::between<1, 512>> {};  // and is not 0
//   struct KeyPos : weft::alias<Pos> {};                // the same positions, in another role
//
// Two axes are the same only if they are the same type.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>

#include "weft/axes/name.hpp"

namespace weft {

// The most elements that an axis can have, and the fewest; its length is known at run time. A run
// with another length throws weft::error. A model that takes the last element of a row, as the
// logits of the last position, says that there is one: of a row without any, gather picks 0.
struct bound {
  std::size_t most, least;
};
template <std::size_t Most>
inline constexpr bound up_to{Most, 0};
template <std::size_t Least, std::size_t Most>
inline constexpr bound between{Most, Least};

template <auto Extent>
struct axis {
  static_assert(Extent > 0, "axis: an axis has room for at least one element");
  static constexpr std::size_t extent = static_cast<std::size_t>(Extent);
  static constexpr bool bounded = false;
};
template <bound Extent>
struct axis<Extent> {
  static_assert(Extent.most > 0, "axis: an axis has room for at least one element");
  static_assert(Extent.least <= Extent.most, "axis: between<Least, Most> has the fewest first");
  static constexpr std::size_t extent = Extent.most;
  static constexpr std::size_t least = Extent.least;
  static constexpr bool bounded = true;
};

// Shares the extent and the length of Of.
template <class Of>
struct alias {
  static constexpr std::size_t extent = Of::extent;
  static constexpr bool bounded = Of::bounded;
  using length_of = Of;
};

// A shape has an extent too, and is no axis.
template <class A>
concept axis_like = requires {
  { A::extent } -> std::convertible_to<std::size_t>;
  { A::bounded } -> std::convertible_to<bool>;
}
&&!requires {
  A::rank;
};

// The axis whose length A has: A itself, or what A is an alias of.
template <class A>
struct length_axis {
  using type = A;
};
template <class A>
requires requires {
  typename A::length_of;
}
struct length_axis<A> {
  using type = typename length_axis<typename A::length_of>::type;
};
template <class A>
using length_axis_t = typename length_axis<A>::type;

// An axis as a value: what the graph and the passes know of it. There is one object for each axis,
// so axes are compared by address.
struct axis_info {
  std::string_view name;
  std::size_t extent;  // the bound, where the length is known at run time
  std::size_t least;   // the fewest elements, where it is
  bool bounded;
  const axis_info* root;  // the axis whose length it has; null for itself
  constexpr const axis_info* length_axis() const { return root ? root : this; }
};

// The fewest elements; 0 where an axis does not say it.
template <class A>
inline constexpr std::size_t least_of = 0;
template <class A>
requires requires {
  A::least;
}
inline constexpr std::size_t least_of<A> = A::least;

template <class A>
inline constexpr axis_info info_of{type_name<A>(), A::extent, least_of<A>, A::bounded, nullptr};
template <class A>
requires requires {
  typename A::length_of;
}
inline constexpr axis_info info_of<A>{type_name<A>(), A::extent, least_of<length_axis_t<A>>,
                                      A::bounded, &info_of<length_axis_t<A>>};

// Do two axes have the same length in every run?
template <class A, class B>
inline constexpr bool same_length =
    A::bounded || B::bounded ? std::same_as<length_axis_t<A>, length_axis_t<B>>
                             : A::extent == B::extent;

}  // namespace weft
