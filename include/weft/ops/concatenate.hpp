// Concatenation along an axis.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/reject.hpp"
#include "weft/graph/tensor.hpp"
#include "weft/ops/view.hpp"

namespace weft {

namespace detail {

template <class Whole, class... Parts, class... Xs>
constexpr rule rule_of_parts(shape<Parts...>, const Xs*...) {
  if constexpr (sizeof...(Parts) != sizeof...(Xs) || sizeof...(Xs) == 0 ||
                sizeof...(Xs) > max_rank) {
    return rule::count;
  } else if constexpr (!axis_like<Whole>) {
    return rule::not_an_axis;
  } else {
    using X = first_of<Xs...>;
    using Rest = without<shape_t<X>, shape<first_of<Parts...>>>;
    if (!(has_axis<Parts, shape_t<Xs>> && ...)) return rule::missing;
    if (!(std::same_as<element_t<Xs>, element_t<X>> && ...)) return rule::elements;
    if (!((subset<without<shape_t<Xs>, shape<Parts>>, Rest> &&
           shape_t<Xs>::rank == shape_t<X>::rank) &&
          ...))
      return rule::other_axes;
    if (has_axis<Whole, Rest> || (std::same_as<Whole, Parts> || ...)) return rule::other_axes;
    if (Whole::extent != (Parts::extent + ...) || Whole::bounded != (Parts::bounded || ...))
      return rule::extent;
    return rule::none;
  }
}

// Named lists the template arguments for the axes of the parts: one shape, if the use is valid.
template <class Whole, class Named, class... Xs>
inline constexpr rule rule_of_concatenate = rule::list;
template <class Whole, class... Parts, class... Xs>
inline constexpr rule rule_of_concatenate<Whole, shape<shape<Parts...>>, Xs...> =
    rule_of_parts<Whole>(shape<Parts...>{}, static_cast<const Xs*>(nullptr)...);

template <class One, class X>
using unsqueezed = tensor<element_t<X>, united<shape<One>, shape_t<X>>>;
template <class Whole, class... Xs>
constexpr rule rule_of_stack() {
  using One = one_of<Whole>;
  if (((shape_t<Xs>::rank == max_rank) || ...)) return rule::rank;
  return rule_of_concatenate<Whole, shape<shape<first_of<One, Xs>...>>, unsqueezed<One, Xs>...>;
}

}  // namespace detail

// concatenate<Whole, shape<Left, Right>>(a, b): a along its axis Left, followed by b along its axis
// Right, as the axis Whole (torch.cat): a [..., Left, ...] and b [..., Right, ...] to [..., Whole,
// ...]. The operands have one dtype and the same other axes, in any order; the result has a's
// order. Whole's extent is the sum of the parts' extents, and it is bounded if one of them is: its
// length in a run is the sum of theirs. At most 8 operands. Anything else does not compile.
//
// Constraints on packs do not subsume one another, so the accepted use is constrained, too.
template <class Whole, class Parts, expression... Xs>
requires(detail::rule_of_concatenate<Whole, shape<Parts>, Xs...> ==
         rule::none) constexpr auto concatenate(const Xs&... xs) {
  node n = make_node(op::concatenate, axes_of(Parts{}));
  using X = first_of<Xs...>;
  return append<element_t<X>, replaced<shape_t<X>, outermost<Parts>, shape<Whole>>>(n, xs...);
}
WEFT_REJECT_IF((class Whole, class... Parts, expression... Xs),
               (detail::rule_of_concatenate<Whole, shape<Parts...>, Xs...>),
               concatenate(const Xs&...),
               (count,
                "concatenate: name one axis for each operand, as in concatenate<Whole, "
                "shape<Left, Right>>(a, b); at most 8"),
               (list,
                "concatenate: the parts' axes are a list, as in concatenate<Whole, shape<Left, "
                "Right>>(a, b)"),
               (not_an_axis, "concatenate: the whole is not an axis"),
               (missing, "concatenate: an operand has no such axis"),
               (elements, "concatenate: the operands' elements differ; convert with weft::cast"),
               (other_axes, "concatenate: the operands' other axes differ"),
               (extent, "concatenate: the extent of the whole is not the sum of the parts'"))

// stack<Gate>(a, b, c): the operands, in their order, along a new axis Gate (torch.stack): [...]
// each to [Gate, ...]. They have one dtype and the same axes, in any order, and Gate has a fixed
// extent, their number. At most 8 operands.
template <class Whole, expression... Xs>
requires(detail::rule_of_stack<Whole, Xs...>() ==
         rule::none) constexpr auto stack(const Xs&... xs) {
  using One = detail::one_of<Whole>;
  return concatenate<Whole, shape<first_of<One, Xs>...>>(unsqueeze<One>(xs)...);
}
WEFT_REJECT_IF((class Whole, expression... Xs), (detail::rule_of_stack<Whole, Xs...>()),
               stack(const Xs&...), (count, "stack: there are 1 to 8 operands"),
               WEFT_NEW_IS_NO_AXIS("stack"),
               (elements, "stack: the operands' elements differ; convert with weft::cast"),
               (other_axes, "stack: the operands' axes differ, or one is the new axis"),
               (extent, "stack: the new axis's extent is not the number of operands"),
               (rank, "stack: the result has more than 8 axes"))

}  // namespace weft
#include "weft/header_end.hpp"
