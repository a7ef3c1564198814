// Views: the same elements, of the same dtype, under other axes. Nothing is computed; only a merge
// of axes whose strides do not nest copies. Misuse does not compile: see the WEFT_REJECT overloads.
#pragma once
#include "weft/header_begin.hpp"

#include <tuple>
#include <utility>

#include "weft/graph/reject.hpp"
#include "weft/graph/tensor.hpp"

namespace weft {

namespace detail {

template <expression X, class From, class To>
constexpr rule rule_of_rename() {
  if constexpr (!has_axis<From, shape_t<X>>) {
    return rule::missing;
  } else if constexpr (!axis_like<To>) {
    return rule::not_an_axis;
  } else {
    if (!std::same_as<From, To> && has_axis<To, shape_t<X>>) return rule::taken;
    if (!same_length<From, To>) return rule::extent;
    return rule::none;
  }
}

template <expression X, class From, class... To>
constexpr rule rule_of_split() {
  if constexpr (sizeof...(To) == 0) {
    return rule::no_axes;
  } else if constexpr (!has_axis<From, shape_t<X>>) {
    return rule::missing;
  } else if constexpr (!(axis_like<To> && ...)) {
    return rule::not_an_axis;
  } else {
    using S = replaced<shape_t<X>, From, shape<To...>>;
    if (!distinct<S> || has_axis<From, shape<To...>>) return rule::taken;
    if (From::extent != shape<To...>::extent) return rule::extent;
    if ((To::bounded + ...) != (From::bounded ? 1 : 0)) return rule::inner;
    if (From::bounded && !first_of<To...>::bounded) return rule::inner;
    if (S::rank > max_rank) return rule::rank;
    return rule::none;
  }
}

template <expression X, class To, class... From>
constexpr rule rule_of_merge() {
  if constexpr (sizeof...(From) == 0) {
    return rule::no_axes;
  } else if constexpr (!(has_axis<From, shape_t<X>> && ...)) {
    return rule::missing;
  } else if constexpr (!axis_like<To>) {
    return rule::not_an_axis;
  } else {
    if (!distinct<shape<From...>> || has_axis<To, shape_t<X>>) return rule::taken;
    if (To::extent != shape<From...>::extent) return rule::extent;
    if ((From::bounded + ...) != (To::bounded ? 1 : 0)) return rule::inner;
    if (To::bounded && !first_of<From...>::bounded) return rule::inner;
    return rule::none;
  }
}

template <expression X, class From, class To, std::size_t Start>
constexpr rule rule_of_slice() {
  if constexpr (!has_axis<From, shape_t<X>>) {
    return rule::missing;
  } else if constexpr (!axis_like<To>) {
    return rule::not_an_axis;
  } else {
    if (!std::same_as<From, To> && has_axis<To, shape_t<X>>) return rule::taken;
    if (Start > From::extent || To::extent > From::extent - Start) return rule::extent;
    if (To::bounded && (!From::bounded || Start + To::extent != From::extent)) return rule::inner;
    return rule::none;
  }
}

// The extent of an axis if that is its length in every run, else 0.
template <class A>
inline constexpr std::size_t fixed_extent = 0;
template <axis_like A>
inline constexpr std::size_t fixed_extent<A> = A::bounded ? 0 : A::extent;
// A at one index.
template <class A>
struct one_of : axis<1> {};

// S with the first axis of From replaced by To, and without the other axes of From.
template <class S, class To, class From>
using merged = without<replaced<S, outermost<From>, shape<To>>, From>;

// x, int32 [...]. Where it is an input, or a part of one, a run in which an element is no length of
// A, or no index into it, throws weft::error before it begins.
template <class A, bool IsLength, expression X>
constexpr X within(const X& x) {
  if constexpr (in_graph<X>) {
    if (!is_part_of_input(*x.g, x.id)) return x;
    node n = make_node(op::within, axes_of(shape<A>{}));
    is_length(n) = IsLength;
    return append<std::int32_t, shape_t<X>>(n, x);
  } else {
    return x;
  }
}

}  // namespace detail

// x [..., From, ...] as [..., To, ...]. To has the same extent and, if its length is known at run
// time only, is an alias of the same axis: keys are rename<Pos, KeyPos>(x).
template <class From, class To, expression X>
constexpr auto rename(const X& x) {
  node n = make_node(op::rename, axes_of(shape<From>{}));
  return append<element_t<X>, replaced<shape_t<X>, From, shape<To>>>(n, x);
}
WEFT_REJECT_IF((class From, class To, expression X), (detail::rule_of_rename<X, From, To>()),
               rename(const X&), WEFT_NO_SUCH_AXIS("rename"),
               (not_an_axis, "rename: the new name is not an axis"),
               (taken, "rename: the operand has an axis of the new name already"),
               (extent,
                "rename: the two axes' lengths differ; declare one as weft::alias of the other"))

// One axis as several, outermost first: split<Embed, Heads, HeadDim>(x) is x [..., Embed, ...] as
// [..., Heads, HeadDim, ...], element [h, d] = x[h * HeadDim + d] (torch.Tensor.unflatten). The
// extents multiply to From's. If From's length is known at run time only, so is that of the
// outermost of To, and of no other; a run in which From's length is not a multiple of the others'
// product throws weft::error before it begins.
template <class From, class... To, expression X>
constexpr auto split(const X& x) {
  node n = make_node(op::split, axes_of(shape<To...>{}));
  return append<element_t<X>, replaced<shape_t<X>, From, shape<To...>>>(n, x);
}
WEFT_REJECT_IF(
    (class From, class... To, expression X), (detail::rule_of_split<X, From, To...>()),
    split(const X&), (no_axes, "split: name the new axes, as in split<Embed, Heads, HeadDim>(x)"),
    WEFT_NO_SUCH_AXIS("split"), WEFT_NEW_IS_NO_AXIS("split"),
    (taken, "split: a new axis is named twice, or the operand has it already"),
    (extent, "split: the product of the new axes' extents is not the axis's extent"),
    (inner,
     "split: where the length is known at run time, the outermost new axis has it, and no other"),
    (rank, "split: the result has more than 8 axes"))

// Several axes, outermost first, as one: merge<Embed, Heads, HeadDim>(x) is x [..., Heads, HeadDim,
// ...] as [..., Embed, ...], the inverse of split; the axes of x may be in any order. To replaces
// the first of From, and its extent is their product. Only the outermost of From may have a length
// known at run time, and then To has, too.
template <class To, class... From, expression X>
constexpr auto merge(const X& x) {
  node n = make_node(op::merge, axes_of(shape<From...>{}));
  return append<element_t<X>, detail::merged<shape_t<X>, To, shape<From...>>>(n, x);
}
WEFT_REJECT_IF(
    (class To, class... From, expression X), (detail::rule_of_merge<X, To, From...>()),
    merge(const X&),
    (no_axes, "merge: name the axes to join, as in merge<Embed, Heads, HeadDim>(x)"),
    WEFT_NO_SUCH_AXIS("merge"), WEFT_NEW_IS_NO_AXIS("merge"),
    (taken, "merge: an axis is named twice, or the operand has the new axis already"),
    (extent, "merge: the new axis's extent is not the product of the others'"),
    (inner,
     "merge: where a length is known at run time, it is the outermost axis's, and the new one's"))

// The elements Start, Start + 1, … of From as the axis To (torch.narrow): x [..., From, ...] to
// [..., To, ...]. There are To's extent of them; a To whose length is known at run time takes all
// from Start on, so its bound is From's less Start. A run in which From is too short throws
// weft::error before it begins.
template <class From, class To, std::size_t Start = 0, expression X>
constexpr auto slice(const X& x) {
  node n = make_node(op::slice, axes_of(shape<From>{}));
  slice_offset(n) = Start;
  return append<element_t<X>, replaced<shape_t<X>, From, shape<To>>>(n, x);
}
WEFT_REJECT_IF((class From, class To, std::size_t Start = 0, expression X),
               (detail::rule_of_slice<X, From, To, Start>()), slice(const X&),
               WEFT_NO_SUCH_AXIS("slice"), WEFT_NEW_IS_NO_AXIS("slice"),
               (taken, "slice: the operand has an axis of the new name already"),
               (extent, "slice: the part ends beyond the axis"),
               (inner,
                "slice: a part whose length is known at run time takes the rest of such an axis"))

// x [..., A, ...] without A, an axis of one element (torch.squeeze).
template <class A, expression X>
constexpr auto squeeze(const X& x) {
  return append<element_t<X>, without<shape_t<X>, shape<A>>>(make_node(op::split), x);
}
WEFT_REJECT_IF((class A, expression X),
               (!has_axis<A, shape_t<X>>       ? rule::missing
                : detail::fixed_extent<A> != 1 ? rule::extent
                                               : rule::none),
               squeeze(const X&), WEFT_NO_SUCH_AXIS("squeeze"),
               (extent, "squeeze: the axis does not always have one element"))

// x [...] as [A, ...], with an axis A of one element (torch.unsqueeze).
template <class A, expression X>
constexpr auto unsqueeze(const X& x) {
  return append<element_t<X>, united<shape<A>, shape_t<X>>>(make_node(op::merge), x);
}
WEFT_REJECT_IF((class A, expression X),
               (detail::fixed_extent<A> != 1   ? rule::extent
                : has_axis<A, shape_t<X>>      ? rule::taken
                : shape_t<X>::rank == max_rank ? rule::rank
                                               : rule::none),
               unsqueeze(const X&), (taken, "unsqueeze: the operand has the axis already"),
               (extent, "unsqueeze: what is to be new is no axis of one element"),
               (rank, "unsqueeze: the result has more than 8 axes"))

// x [..., A, ...] at each index of A (torch.unbind), a std::tuple: auto [r, z, n] = unstack<G>(x).
template <class A, expression X>
constexpr auto unstack(const X& x) {
  using One = detail::one_of<A>;
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple{squeeze<One>(slice<A, One, I>(x))...};
  }
  (std::make_index_sequence<A::extent>());
}
WEFT_REJECT_IF((class A, expression X),
               (!has_axis<A, shape_t<X>>       ? rule::missing
                : detail::fixed_extent<A> == 0 ? rule::bounded
                                               : rule::none),
               unstack(const X&), WEFT_NO_SUCH_AXIS("unstack"),
               (bounded, "unstack: the length of the axis is known at run time only"))

// x, to which no gradient passes (torch.Tensor.detach, jax.lax.stop_gradient).
template <expression X>
constexpr auto stop_gradient(const X& x) {
  return append<element_t<X>, shape_t<X>>(make_node(op::stop_gradient), x);
}

}  // namespace weft
#include "weft/header_end.hpp"
