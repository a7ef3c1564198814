// Concatenation along an axis.
#pragma once

#include "weft/graph/reject.hpp"
#include "weft/graph/tensor.hpp"

namespace weft {

namespace detail {

enum class concatenate_fault { none, list, count, axis, missing, elements, others, length };

template <class Whole, class... Parts, class... Xs>
constexpr concatenate_fault fault_of_concatenate(shape<Parts...>, const Xs*...) {
  if constexpr (sizeof...(Parts) != sizeof...(Xs) || sizeof...(Xs) == 0 ||
                sizeof...(Xs) > max_rank) {
    return concatenate_fault::count;
  } else if constexpr (!axis_like<Whole>) {
    return concatenate_fault::axis;
  } else {
    using X = first_of<Xs...>;
    using Rest = without<shape_t<X>, shape<first_of<Parts...>>>;
    if (!(has_axis<Parts, shape_t<Xs>> && ...)) return concatenate_fault::missing;
    if (!(std::same_as<element_t<Xs>, element_t<X>> && ...)) return concatenate_fault::elements;
    if (!((subset<without<shape_t<Xs>, shape<Parts>>, Rest> &&
           shape_t<Xs>::rank == shape_t<X>::rank) &&
          ...))
      return concatenate_fault::others;
    if (has_axis<Whole, Rest> || (std::same_as<Whole, Parts> || ...))
      return concatenate_fault::others;
    if (Whole::extent != (Parts::extent + ...) || Whole::bounded != (Parts::bounded || ...))
      return concatenate_fault::length;
    return concatenate_fault::none;
  }
}
template <class Whole, class Parts, class... Xs>
inline constexpr concatenate_fault concatenate_fault_v = concatenate_fault::list;
template <class Whole, class... Parts, class... Xs>
inline constexpr concatenate_fault concatenate_fault_v<Whole, shape<Parts...>, Xs...> =
    fault_of_concatenate<Whole>(shape<Parts...>{}, static_cast<const Xs*>(nullptr)...);

template <class... Parts>
inline constexpr bool one_list = false;
template <class... Parts>
inline constexpr bool one_list<shape<Parts...>> = true;

// S with Whole instead of the first of Parts.
template <class S, class Parts, class Whole>
struct led_by;
template <class S, class First, class... Rest, class Whole>
struct led_by<S, shape<First, Rest...>, Whole> {
  using type = replaced<S, First, shape<Whole>>;
};
template <class S, class Parts, class Whole>
using led = typename led_by<S, Parts, Whole>::type;

}  // namespace detail

// concatenate<Whole, shape<Left, Right>>(a, b): a along its axis Left, followed by b along its axis
// Right, as the axis Whole (torch.cat): a [..., Left, ...] and b [..., Right, ...] to [..., Whole,
// ...]. The operands have one dtype and the same other axes, in any order; the result has a's
// order. Whole's extent is the sum of the parts' extents, and it is bounded if one of them is: its
// length in a run is the sum of theirs. At most 8 operands. Anything else does not compile.
//
// Constraints on packs do not subsume one another, so the accepted use is constrained, too.
template <class Whole, class Parts, expression... Xs>
requires(detail::concatenate_fault_v<Whole, Parts, Xs...> ==
         detail::concatenate_fault::none) constexpr auto concatenate(const Xs&... xs) {
  node n = make_node(op::concatenate);
  n.named = axes_of(Parts{});
  using X = first_of<Xs...>;
  return append<element_t<X>, detail::led<shape_t<X>, Parts, Whole>>(n, xs...);
}
template <class Whole, class Parts, expression... Xs>
requires(detail::concatenate_fault_v<Whole, Parts, Xs...> == detail::concatenate_fault::count)
    WEFT_REJECT(
        "concatenate: name one axis for each operand, as in concatenate<Whole, shape<Left, "
        "Right>>(a, b); at most 8",
        concatenate(const Xs&...))
template <class Whole, class... Parts, expression... Xs>
requires(!detail::one_list<Parts...>) WEFT_REJECT(
    "concatenate: the parts' axes are a list, as in concatenate<Whole, shape<Left, Right>>(a, "
    "b)",
    concatenate(const Xs&...))
template <class Whole, class Parts, expression... Xs>
requires(detail::concatenate_fault_v<Whole, Parts, Xs...> == detail::concatenate_fault::axis)
    WEFT_REJECT("concatenate: the whole is not an axis", concatenate(const Xs&...))
template <class Whole, class Parts, expression... Xs>
requires(detail::concatenate_fault_v<Whole, Parts, Xs...> == detail::concatenate_fault::missing)
    WEFT_REJECT("concatenate: an operand has no such axis", concatenate(const Xs&...))
template <class Whole, class Parts, expression... Xs>
requires(detail::concatenate_fault_v<Whole, Parts, Xs...> == detail::concatenate_fault::elements)
    WEFT_REJECT("concatenate: the operands' elements differ; convert with weft::cast",
                concatenate(const Xs&...))
template <class Whole, class Parts, expression... Xs>
requires(detail::concatenate_fault_v<Whole, Parts, Xs...> == detail::concatenate_fault::others)
    WEFT_REJECT("concatenate: the operands' other axes differ", concatenate(const Xs&...))
template <class Whole, class Parts, expression... Xs>
requires(detail::concatenate_fault_v<Whole, Parts, Xs...> == detail::concatenate_fault::length)
    WEFT_REJECT("concatenate: the extent of the whole is not the sum of the parts'",
                concatenate(const Xs&...))

}  // namespace weft
