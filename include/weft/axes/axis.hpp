// Named axes. An axis is a type that the user declares once:
//
//   struct Embed : weft::axis<384> {};                  // always 384 elements
//   struct Pos : weft::axis<weft::up_to<512>> {};       // 0 to 512, known at run time
//   struct Pos : weft::axis<weft::between<1, 512>> {};  // 1 to 512, known at run time
//   struct KeyPos : weft::alias<Pos> {};                // as long as Pos, in another role
//
// The extent of an axis is known at compile time; its length, at most the extent, may be known only
// at run time. Two axes are the same only if they are the same type.
#pragma once
#include "weft/header_begin.hpp"

#include <concepts>
#include <cstddef>
#include <string_view>

#include "weft/axes/name.hpp"

namespace weft {

// The largest and smallest length of an axis whose length is known at run time. A run with a length
// outside these bounds throws weft::error. A model that reads the last element along an axis, such
// as the logits of the last position, should require one: gather from an empty axis gives 0.
struct bound {
  std::size_t most;   // the largest length
  std::size_t least;  // the smallest length
};
// A length of 0 to Most, as in axis<up_to<512>>.
template <std::size_t Most>
inline constexpr bound up_to{Most, 0};
// A length of Least to Most, as in axis<between<1, 512>>.
template <std::size_t Least, std::size_t Most>
inline constexpr bound between{Most, Least};

// Indices and positions are int32.
inline constexpr std::size_t max_extent = 2147483647;

// The base of an axis: of a fixed extent, as axis<384>, or bounded, as axis<up_to<512>>.
template <auto Extent>
struct axis {
  static_assert(Extent > 0, "axis: an axis has room for at least one element");
  static_assert(Extent <= 0 || static_cast<std::size_t>(Extent) <= max_extent,
                "axis: more than 2147483647 elements");
  static constexpr std::size_t extent =
      static_cast<std::size_t>(Extent);   // the length in every run
  static constexpr bool bounded = false;  // whether the length is known at run time only
};
// The base of a bounded axis, whose length is known at run time only.
template <bound Extent>
struct axis<Extent> {
  static_assert(Extent.most > 0, "axis: an axis has room for at least one element");
  static_assert(Extent.most <= max_extent, "axis: more than 2147483647 elements");
  static_assert(Extent.least <= Extent.most, "axis: between<Least, Most> has the fewest first");
  static constexpr std::size_t extent = Extent.most;  // the largest length
  static constexpr std::size_t least = Extent.least;  // the smallest length
  static constexpr bool bounded = true;               // the length is known at run time only
};

// Another axis with the extent and, in every run, the length of Of.
template <class Of>
struct alias {
  static constexpr std::size_t extent = Of::extent;  // that of Of
  static constexpr bool bounded = Of::bounded;       // whether the length is known at run time only
  using length_of = Of;                              // the axis that has the same length
};

// An axis: a type derived from weft::axis or weft::alias. Not a weft::shape, which has an extent as
// well.
template <class A>
concept axis_like = requires {
  { A::extent } -> std::convertible_to<std::size_t>;
  { A::bounded } -> std::convertible_to<bool>;
}
&&!requires {
  A::rank;
};

// The axis that defines the length of A: A itself, or the end of its chain of aliases.
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

// An axis as a value, for the graph and the passes. There is exactly one object for each axis, so
// axes are compared by address.
struct axis_info {
  std::string_view name;
  std::size_t extent;  // the upper bound if `bounded`
  std::size_t least;   // the lower bound of the length if `bounded`
  bool bounded;
  const axis_info* root;  // the axis that defines its length; null: itself
  constexpr const axis_info* length_axis() const { return root ? root : this; }
};

// The smallest length that an axis declares; 0 if it declares none.
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

// Whether A and B have the same length in every run.
template <class A, class B>
inline constexpr bool same_length =
    A::bounded || B::bounded ? std::same_as<length_axis_t<A>, length_axis_t<B>>
                             : A::extent == B::extent;

}  // namespace weft
#include "weft/header_end.hpp"
