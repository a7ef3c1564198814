// Tensors in memory: non-owning views, and owning arrays.
#pragma once
#include "weft/header_begin.hpp"

#include <array>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "weft/axes/shape.hpp"
#include "weft/graph/reject.hpp"

namespace weft {

// An index along the axis A.
template <axis_like A>
struct index_along {
  std::size_t index;  // asserted to be below the axis's length where it is used
};
// The index i along A, for an element of a view or an array whatever the order of its axes is:
// y(weft::at<Pos>(i), weft::at<Heads>(h)).
template <axis_like A>
constexpr index_along<A> at(std::size_t i) {
  return {i};
}

namespace detail {

template <class A, class... Axes>
constexpr std::size_t index_of(shape<Axes...>) {
  std::size_t i = 0;
  bool found = false;
  ((found = found || std::is_same_v<A, Axes>, i += !found), ...);
  return i;
}

template <std::size_t Rank>
constexpr std::array<std::ptrdiff_t, Rank> dense_strides(
    const std::array<std::size_t, Rank>& lengths) {
  std::array<std::ptrdiff_t, Rank> strides{};
  std::ptrdiff_t next = 1;
  for (std::size_t i = Rank; i-- > 0;) {
    strides[i] = next;
    next *= static_cast<std::ptrdiff_t>(lengths[i]);
  }
  return strides;
}

// The lengths of all axes: fixed extents, and `given` for the axes with runtime lengths, in order.
template <class... Axes>
constexpr std::array<std::size_t, sizeof...(Axes)> lengths_from(shape<Axes...>,
                                                                const std::size_t* given) {
  return {(Axes::bounded ? *given++ : Axes::extent)...};
}

// Whether these are as many indices, or lengths, as there have to be.
template <class... Args>
constexpr bool are_indices(std::size_t count) {
  return (std::convertible_to<Args, std::size_t> && ...) && sizeof...(Args) == count;
}

// Whether these are the indices of an element of a view over S: numbers, or one along each axis.
template <class S, class... Args>
inline constexpr bool are_indices_of = are_indices<Args...>(S::rank);
template <class S, class... A>
inline constexpr bool are_indices_of<S, index_along<A>...> =
    sizeof...(A) == S::rank&& subset<S, shape<A...>>;

// The rule that the arguments of an array's constructor break.
template <class Array, class View, class... Args>
constexpr rule rule_of_array(std::size_t lengths) {
  if constexpr (sizeof...(Args) == 1) {
    if ((std::same_as<Args, Array> || ...) || (std::convertible_to<Args, View> || ...))
      return rule::none;
    if ((requires { typename Args::shape_type; } || ...)) return rule::other_axes;
    if (!(std::convertible_to<Args, std::size_t> || ...)) return rule::buffer;
  }
  return are_indices<Args...>(lengths) ? rule::none : rule::count;
}

}  // namespace detail

// A non-owning view of elements T over the axes S = shape<Axes...>. Strides are in elements, and
// may be any value, 0 and negative ones included. T is const for read-only views. Its members are
// those of view<T, shape<Axes...>>.
template <class T, class S>
class view;

// A view over a list of axes: what every weft::view is.
template <class T, class... Axes>
class view<T, shape<Axes...>> {
 public:
  using element_type = std::remove_const_t<T>;          // the elements, without const
  using shape_type = shape<Axes...>;                    // the axes
  static constexpr std::size_t rank = sizeof...(Axes);  // the number of axes

  // Contiguous and row-major in the order of the axes. `lengths` has one length for each axis with
  // a runtime length, in their order.
  template <std::convertible_to<std::size_t>... Lengths>
  requires(sizeof...(Lengths) ==
           (std::size_t{0} + ... + Axes::bounded)) explicit constexpr view(T* data,
                                                                           Lengths... lengths)
      : data_(data) {
    const std::array<std::size_t, sizeof...(Lengths) + 1> given{
        static_cast<std::size_t>(lengths)...};
    lengths_ = detail::lengths_from(shape_type{}, given.data());
    strides_ = detail::dense_strides(lengths_);
  }
  // Strided: with the length and the stride, in elements, of every axis.
  constexpr view(T* data, const std::array<std::size_t, rank>& lengths,
                 const std::array<std::ptrdiff_t, rank>& strides)
      : data_(data), lengths_(lengths), strides_(strides) {}

  // The read-only view of the same elements.
  constexpr operator view<const T, shape_type>() const requires(!std::is_const_v<T>) {
    return {data_, lengths_, strides_};
  }

  // The element at these indices, one for each axis in order; each is asserted to be below its
  // axis's length.
  template <std::convertible_to<std::size_t>... Indices>
  requires(sizeof...(Indices) == rank) constexpr T& operator()(Indices... indices) const {
    std::ptrdiff_t offset = 0;
    std::size_t axis = 0;
    ((assert(static_cast<std::size_t>(indices) < lengths_[axis]),
      offset += static_cast<std::ptrdiff_t>(indices) * strides_[axis], ++axis),
     ...);
    return data_[offset];
  }

  // The same, with the indices weft::at<A>(i) in any order.
  template <class A, class... More>
  requires(detail::are_indices_of<shape_type, index_along<A>, index_along<More>...>) constexpr T&
  operator()(index_along<A> first, index_along<More>... more) const {
    return at<A>(first.index)(more...);
  }

  // The slice at index i of axis A, without that axis; i is asserted to be below its length.
  template <class A>
  requires has_axis<A, shape_type>
  constexpr auto at(std::size_t i) const {
    constexpr std::size_t dropped = detail::index_of<A>(shape_type{});
    assert(i < lengths_[dropped]);
    std::array<std::size_t, rank - 1> lengths{};
    std::array<std::ptrdiff_t, rank - 1> strides{};
    for (std::size_t a = 0, to = 0; a < rank; ++a) {
      if (a == dropped) continue;
      lengths[to] = lengths_[a];
      strides[to++] = strides_[a];
    }
    return view<T, without<shape_type, shape<A>>>(
        data_ + static_cast<std::ptrdiff_t>(i) * strides_[dropped], lengths, strides);
  }

  // The length of an axis: its number of indices.
  template <class A>
  requires has_axis<A, shape_type>
  constexpr std::size_t length() const { return lengths_[detail::index_of<A>(shape_type{})]; }

  // The element with index 0 along every axis.
  constexpr T* data() const { return data_; }
  // The length of every axis, in order.
  constexpr const std::array<std::size_t, rank>& lengths() const { return lengths_; }
  // The stride of every axis, in elements, in order.
  constexpr const std::array<std::ptrdiff_t, rank>& strides() const { return strides_; }
  // The number of elements: the product of the lengths.
  constexpr std::size_t size() const {
    std::size_t n = 1;
    for (const std::size_t l : lengths_) n *= l;
    return n;
  }

 private:
  T* data_;
  std::array<std::size_t, rank> lengths_{};
  std::array<std::ptrdiff_t, rank> strides_{};

  static void from(const view&);
  static void from(T*, const std::array<std::size_t, rank>&,
                   const std::array<std::ptrdiff_t, rank>&);
  template <class P, class... Lengths>
  requires(std::convertible_to<P, T*>&& detail::are_indices<Lengths...>(
      (std::size_t{0} + ... + Axes::bounded))) static void from(const P&, const Lengths&...);
  WEFT_REJECT_CALL(
      "view: it is made of a pointer to the elements, such as x.data(), then one length for each "
      "axis whose length is known at run time only, in their order",
      (Args...), (class... Args), (!requires(const Args&... args) { from(args...); }),
      explicit constexpr view(const Args&...){})
  WEFT_REJECT_CALL(
      "view: an element is x(i, j), with one index for each axis in their order, or "
      "x(weft::at<A>(i), weft::at<B>(j)) for its axes in any order",
      (view, Args...), (class... Args), (!detail::are_indices_of<shape_type, Args...>),
      constexpr T& operator()(const Args&...) const { return *data_; })
  WEFT_REJECT_CALL(
      "view: an element is x(i, j), with one index for each axis in their order, or "
      "x(weft::at<A>(i), weft::at<B>(j)) for its axes in any order",
      (view), (class Index), (true), constexpr T& operator[](const Index&) const { return *data_; })
  WEFT_REJECT_CALL(
      "at: the view has no such axis", (view), (class A), (!has_axis<A, shape_type>),
      constexpr view at(std::size_t) const { return *this; })
  WEFT_REJECT_CALL(
      "length: the view has no such axis", (view), (class A), (!has_axis<A, shape_type>),
      constexpr std::size_t length() const { return 0; })
};

// An owning tensor, contiguous and row-major: array<float, Batch, Pos, Embed> x(2, 17).
template <class T, class... Axes>
class array {
 public:
  using shape_type = shape<Axes...>;  // the axes

  // Zeros. The arguments are the lengths of the axes with runtime lengths, in order.
  template <std::convertible_to<std::size_t>... Lengths>
  requires(sizeof...(Lengths) ==
           (std::size_t{0} + ... + Axes::bounded)) explicit(sizeof...(Lengths) > 0)
      array(Lengths... lengths) {
    const std::array<std::size_t, sizeof...(Lengths) + 1> given{
        static_cast<std::size_t>(lengths)...};
    lengths_ = detail::lengths_from(shape_type{}, given.data());
    std::size_t n = 1;
    for (const std::size_t l : lengths_) n *= l;
    data_.resize(n);
  }

  // A copy of a view's elements, for example of a result that is to outlive the next run.
  explicit array(const weft::view<const T, shape_type>& from) : lengths_(from.lengths()) {
    data_.resize(from.size());
    std::size_t next = 0;
    copy(from, next);
  }

  // A view of all elements, valid as long as the array.
  weft::view<T, shape_type> view() {
    return {storage(), lengths_, detail::dense_strides(lengths_)};
  }
  // The same, read-only.
  weft::view<const T, shape_type> view() const {
    return {storage(), lengths_, detail::dense_strides(lengths_)};
  }

  // The element at these indices, as those of a view.
  template <class... Indices>
  requires(detail::are_indices_of<shape_type, Indices...>) T& operator()(Indices... indices) {
    return view()(indices...);
  }
  // The same, read-only.
  template <class... Indices>
  requires(detail::are_indices_of<shape_type, Indices...>) const T& operator()(
      Indices... indices) const {
    return view()(indices...);
  }

  // The length of an axis.
  template <class A>
  std::size_t length() const {
    return view().template length<A>();
  }
  // The elements in row-major order, as a contiguous range.
  T* data() { return storage(); }
  const T* data() const { return storage(); }          // likewise, read-only
  std::size_t size() const { return data_.size(); }    // the number of elements
  T* begin() { return storage(); }                     // the first element
  T* end() { return storage() + size(); }              // past the last one
  const T* begin() const { return storage(); }         // likewise, read-only
  const T* end() const { return storage() + size(); }  // likewise, read-only

 private:
  template <class S>
  void copy(const weft::view<const T, S>& from, std::size_t& next) {
    if constexpr (S::rank == 0) {
      storage()[next++] = from();
    } else {
      for (std::size_t i = 0; i < from.template length<outermost<S>>(); ++i)
        copy(from.template at<outermost<S>>(i), next);
    }
  }

  // Wraps T, since a vector<bool> has no array of bool.
  struct cell {
    T value{};
  };
  T* storage() { return reinterpret_cast<T*>(data_.data()); }
  const T* storage() const { return reinterpret_cast<const T*>(data_.data()); }

  std::array<std::size_t, sizeof...(Axes)> lengths_{};
  std::vector<cell> data_;

  WEFT_REJECT_CALLS((detail::rule_of_array<array, weft::view<const T, shape_type>, Args...>(
                        (std::size_t{0} + ... + Axes::bounded))),
                    (array, Args...), (class... Args), (explicit array(const Args&...){}),
                    (count,
                     "array: give one length for each axis whose length is known at run time only, "
                     "in their order"),
                    (buffer,
                     "array: a range is not copied; make the array of its lengths, then "
                     "std::ranges::copy(range, x.begin())"),
                    (other_axes,
                     "array: only a view of the same elements and axes is copied, as x.view()"))
  WEFT_REJECT_CALL(
      "array: an element is x(i, j), with one index for each axis in their order, or "
      "x(weft::at<A>(i), weft::at<B>(j)) for its axes in any order",
      (array, Args...), (class... Args), (!detail::are_indices_of<shape_type, Args...>),
      T& operator()(const Args&...) const { return *const_cast<T*>(storage()); })
  WEFT_REJECT_CALL(
      "array: an element is x(i, j), with one index for each axis in their order, or "
      "x(weft::at<A>(i), weft::at<B>(j)) for its axes in any order",
      (array), (class Index), (true),
      T& operator[](const Index&) const { return *const_cast<T*>(storage()); })
};

}  // namespace weft
#include "weft/header_end.hpp"
