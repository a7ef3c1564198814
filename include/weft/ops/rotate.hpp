// Rotation of pairs of elements.
#pragma once

#include "weft/graph/reject.hpp"
#include "weft/graph/rotation.hpp"
#include "weft/ops/elementwise.hpp"

namespace weft {

namespace detail {

enum class rotate_fault { none, missing, axes, elements, pairs, bounded, taken, rank };

template <class X, class C, class S, class Numbers, class Pairs>
using rotated = united<united<shape_t<X>, without<shape_t<C>, shape<Pairs>>>,
                       without<shape_t<S>, shape<Pairs>>>;

template <class X, class C, class S, class Numbers, class Pairs>
constexpr rotate_fault fault_of_rotate() {
  if constexpr (!has_axis<Numbers, shape_t<X>>) {
    return rotate_fault::missing;
  } else {
    if (!floating<X> || !floating<C> || !floating<S>) return rotate_fault::elements;
    if (!has_axis<Pairs, shape_t<C>> || !has_axis<Pairs, shape_t<S>>) return rotate_fault::axes;
    if (Numbers::bounded || Pairs::bounded) return rotate_fault::bounded;
    if (2 * Pairs::extent > Numbers::extent) return rotate_fault::pairs;
    if (has_axis<Pairs, shape_t<X>> || has_axis<Numbers, shape_t<C>> ||
        has_axis<Numbers, shape_t<S>>)
      return rotate_fault::taken;
    if (rotated<X, C, S, Numbers, Pairs>::rank > max_rank) return rotate_fault::rank;
    return rotate_fault::none;
  }
}

}  // namespace detail

// Rotates x float [..., Numbers] pair by pair, with cosines and sines float [..., Pairs] of the
// angles: the pair (a, b) becomes (a cos - b sin, b cos + a sin) (Su et al. 2021, equation 34).
// rotary_pairs selects the elements of pair j: 2j and 2j + 1 (neighbours), or j and j + Pairs
// (halves). Elements of Numbers beyond the first 2 × Pairs are copied. The result has x's axes,
// then those that only the cosines have, then those that only the sines have. Both axes have a
// fixed extent. Misuse does not compile: see the WEFT_REJECT overloads.
template <class Numbers, class Pairs, rotary_pairs Which = rotary_pairs::halves, expression X,
          expression C, expression S>
constexpr auto rotate(const X& x, const C& cosine, const S& sine) {
  node n = make_node(op::rotate);
  n.named = axes_of(shape<Numbers, Pairs>{});
  n.start = static_cast<std::int64_t>(Which);
  return append<float, detail::rotated<X, C, S, Numbers, Pairs>>(n, x, cosine, sine);
}
template <class Numbers, class Pairs, rotary_pairs Which = rotary_pairs::halves, expression X,
          expression C, expression S>
requires(detail::fault_of_rotate<X, C, S, Numbers, Pairs>() == detail::rotate_fault::missing)
    WEFT_REJECT("rotate: the operand has no such axis", rotate(const X&, const C&, const S&))
template <class Numbers, class Pairs, rotary_pairs Which = rotary_pairs::halves, expression X,
          expression C, expression S>
requires(detail::fault_of_rotate<X, C, S, Numbers, Pairs>() == detail::rotate_fault::elements)
    WEFT_REJECT("rotate: the elements are not float; convert with weft::cast<float>",
                rotate(const X&, const C&, const S&))
template <class Numbers, class Pairs, rotary_pairs Which = rotary_pairs::halves, expression X,
          expression C, expression S>
requires(detail::fault_of_rotate<X, C, S, Numbers, Pairs>() == detail::rotate_fault::axes)
    WEFT_REJECT("rotate: the cosines or the sines have not the axis of the pairs",
                rotate(const X&, const C&, const S&))
template <class Numbers, class Pairs, rotary_pairs Which = rotary_pairs::halves, expression X,
          expression C, expression S>
requires(detail::fault_of_rotate<X, C, S, Numbers, Pairs>() == detail::rotate_fault::bounded)
    WEFT_REJECT("rotate: the number of pairs is known while compiling",
                rotate(const X&, const C&, const S&))
template <class Numbers, class Pairs, rotary_pairs Which = rotary_pairs::halves, expression X,
          expression C, expression S>
requires(detail::fault_of_rotate<X, C, S, Numbers, Pairs>() == detail::rotate_fault::pairs)
    WEFT_REJECT("rotate: there are more pairs than half of the axis",
                rotate(const X&, const C&, const S&))
template <class Numbers, class Pairs, rotary_pairs Which = rotary_pairs::halves, expression X,
          expression C, expression S>
requires(detail::fault_of_rotate<X, C, S, Numbers, Pairs>() == detail::rotate_fault::taken)
    WEFT_REJECT("rotate: the operand has the axis of the pairs, or an angle that of the numbers",
                rotate(const X&, const C&, const S&))
template <class Numbers, class Pairs, rotary_pairs Which = rotary_pairs::halves, expression X,
          expression C, expression S>
requires(detail::fault_of_rotate<X, C, S, Numbers, Pairs>() == detail::rotate_fault::rank)
    WEFT_REJECT("rotate: the operands have more than 8 axes between them",
                rotate(const X&, const C&, const S&))

}  // namespace weft
