// Contraction: matrix products and torch.einsum of two operands, by axis name.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/reject.hpp"
#include "weft/graph/tensor.hpp"
#include "weft/ops/elementwise.hpp"

namespace weft {

namespace detail {

template <expression L, expression R, class... K>
constexpr rule rule_of_dot() {
  if (!floating<L> || !floating<R>) return rule::elements;
  if (sizeof...(K) == 0) return rule::no_axes;
  if (!(has_axis<K, shape_t<L>> && ...)) return rule::left;
  if (!(has_axis<K, shape_t<R>> && ...)) return rule::right;
  if (!distinct<shape<K...>>) return rule::twice;
  constexpr int rank = united_rank<shape_t<L>, shape_t<R>>;
  if (rank > max_rank) return rule::rank;
  return rule::none;
}

}  // namespace detail

// The sum over the axes K of left * right, float. Axes that both have and K does not name stay, and
// are matched (a batched product). The result has the remaining axes of left, then those of right
// that left does not have: dot<Embed>(x [Batch, Pos, Embed], w [Embed, Heads, HeadDim]) is [Batch,
// Pos, Heads, HeadDim]. Misuse does not compile: see the WEFT_REJECT overloads.
template <class... K, expression L, expression R>
constexpr auto dot(const L& left, const R& right) {
  using S = united<without<shape_t<L>, shape<K...>>, without<shape_t<R>, shape<K...>>>;
  return append<float, S>(make_node(op::dot), left, right);
}
WEFT_REJECT_IF((class... K, expression L, expression R), (detail::rule_of_dot<L, R, K...>()),
               dot(const L&, const R&),
               (elements,
                "dot: the operands' elements are not float; convert with weft::cast<float>"),
               (no_axes, "dot: name the axes to contract, as in dot<Embed>(x, w)"),
               (left, "dot: the left operand has no such axis to contract"),
               (right, "dot: the right operand has no such axis to contract"),
               (twice, "dot: an axis to contract is named twice"), WEFT_TOO_MANY_AXES("dot"))

}  // namespace weft
#include "weft/header_end.hpp"
