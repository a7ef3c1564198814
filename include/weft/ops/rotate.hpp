// Rotation of pairs of elements.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/reject.hpp"
#include "weft/graph/rotation.hpp"
#include "weft/ops/elementwise.hpp"

namespace weft {

namespace detail {

template <class X, class C, class S, class Numbers, class Pairs>
using rotated = united<united<shape_t<X>, without<shape_t<C>, shape<Pairs>>>,
                       without<shape_t<S>, shape<Pairs>>>;

template <class X, class C, class S, class Numbers, class Pairs>
constexpr rule rule_of_rotate() {
  if constexpr (!has_axis<Numbers, shape_t<X>>) {
    return rule::left;
  } else {
    if (!floating<X> || !floating<C> || !floating<S>) return rule::elements;
    if (!has_axis<Pairs, shape_t<C>> || !has_axis<Pairs, shape_t<S>>) return rule::right;
    if (Numbers::bounded || Pairs::bounded) return rule::bounded;
    if (2 * Pairs::extent > Numbers::extent) return rule::extent;
    if (has_axis<Pairs, shape_t<X>> || has_axis<Numbers, shape_t<C>> ||
        has_axis<Numbers, shape_t<S>>)
      return rule::taken;
    if (rotated<X, C, S, Numbers, Pairs>::rank > max_rank) return rule::rank;
    return rule::none;
  }
}

}  // namespace detail

// Rotates x float [..., Numbers] pair by pair, with cosines and sines float [..., Pairs] of the
// angles: the pair (a, b) becomes (a cos - b sin, b cos + a sin) (Su et al. 2021, equation 34).
// rotary_pairs selects the elements of pair j: 2j and 2j + 1 (interleaved), or j and j + Pairs
// (half_split). Elements of Numbers beyond the first 2 × Pairs are copied. The result has x's axes,
// then those that only the cosines have, then those that only the sines have. Both axes have a
// fixed extent. Misuse does not compile: see the WEFT_REJECT overloads.
template <class Numbers, class Pairs, rotary_pairs Which = rotary_pairs::half_split, expression X,
          expression C, expression S>
constexpr auto rotate(const X& x, const C& cosine, const S& sine) {
  node n = make_node(op::rotate, axes_of(shape<Numbers, Pairs>{}));
  pairing_of(n) = static_cast<std::int64_t>(Which);
  return append<float, detail::rotated<X, C, S, Numbers, Pairs>>(n, x, cosine, sine);
}
WEFT_REJECT_IF((class Numbers, class Pairs, rotary_pairs Which = rotary_pairs::half_split,
                expression X, expression C, expression S),
               (detail::rule_of_rotate<X, C, S, Numbers, Pairs>()),
               rotate(const X&, const C&, const S&), (left, "rotate: the operand has no such axis"),
               WEFT_NOT_FLOAT("rotate"),
               (right, "rotate: the cosines or the sines lack the axis of the pairs"),
               (bounded, "rotate: the number of pairs is known while compiling"),
               (extent, "rotate: there are more pairs than half of the axis"),
               (taken,
                "rotate: the operand has the axis of the pairs, or an angle that of the numbers"),
               WEFT_TOO_MANY_AXES("rotate"))

}  // namespace weft
#include "weft/header_end.hpp"
