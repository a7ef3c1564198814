// Contraction: matrix products and torch.einsum of two operands, by axis name.
#pragma once

#include "weft/graph/reject.hpp"
#include "weft/graph/tensor.hpp"
#include "weft/ops/elementwise.hpp"

namespace weft {

namespace detail {

enum class dot_fault { none, elements, nothing, left, right, twice, rank };

template <class L, class R, class... K>
constexpr dot_fault fault_of_dot() {
  if (!floating<L> || !floating<R>) return dot_fault::elements;
  if (sizeof...(K) == 0) return dot_fault::nothing;
  if (!(has_axis<K, shape_t<L>> && ...)) return dot_fault::left;
  if (!(has_axis<K, shape_t<R>> && ...)) return dot_fault::right;
  if (!distinct<shape<K...>>) return dot_fault::twice;
  constexpr int rank = united_rank<shape_t<L>, shape_t<R>>;
  if (rank > max_rank) return dot_fault::rank;
  return dot_fault::none;
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
template <class... K, expression L, expression R>
requires(detail::fault_of_dot<L, R, K...>() == detail::dot_fault::elements)
    WEFT_REJECT("dot: the operands' elements are not float; convert with weft::cast<float>",
                dot(const L&, const R&))
template <class... K, expression L, expression R>
requires(detail::fault_of_dot<L, R, K...>() == detail::dot_fault::nothing)
    WEFT_REJECT("dot: name the axes to contract, as in dot<Embed>(x, w)", dot(const L&, const R&))
template <class... K, expression L, expression R>
requires(detail::fault_of_dot<L, R, K...>() == detail::dot_fault::left)
    WEFT_REJECT("dot: the left operand has no such axis to contract", dot(const L&, const R&))
template <class... K, expression L, expression R>
requires(detail::fault_of_dot<L, R, K...>() == detail::dot_fault::right)
    WEFT_REJECT("dot: the right operand has no such axis to contract", dot(const L&, const R&))
template <class... K, expression L, expression R>
requires(detail::fault_of_dot<L, R, K...>() == detail::dot_fault::twice)
    WEFT_REJECT("dot: an axis to contract is named twice", dot(const L&, const R&))
template <class... K, expression L, expression R>
requires(detail::fault_of_dot<L, R, K...>() == detail::dot_fault::rank)
    WEFT_REJECT("dot: the operands have more than 8 axes between them", dot(const L&, const R&))

}  // namespace weft
