// Selection by index, and its adjoint. Misuse that is not named below does not compile: see the
// WEFT_REJECT overloads.
#pragma once

#include "weft/graph/reject.hpp"
#include "weft/graph/tensor.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/normalize.hpp"

namespace weft {

namespace detail {

enum class gather_fault { none, indices, missing, nested, rank };

template <class A, class X, class I>
constexpr gather_fault fault_of_gather() {
  if (!std::same_as<element_t<I>, std::int32_t>) return gather_fault::indices;
  if (!has_axis<A, shape_t<X>>) return gather_fault::missing;
  if (has_axis<A, shape_t<I>>) return gather_fault::nested;
  constexpr int rank = united_rank<shape_t<X>, shape_t<I>>;
  if (rank > max_rank) return gather_fault::rank;
  return gather_fault::none;
}

enum class segment_sum_fault { none, indices, missing, kind, taken, others, elements };

template <class From, class To, class X, class I>
constexpr segment_sum_fault fault_of_segment_sum() {
  if (!floating<X>) return segment_sum_fault::elements;
  if (!has_axis<From, shape_t<X>>) return segment_sum_fault::missing;
  if (!axis_like<To>) return segment_sum_fault::kind;
  if (has_axis<To, shape_t<X>>) return segment_sum_fault::taken;
  if (!std::same_as<element_t<I>, std::int32_t>) return segment_sum_fault::indices;
  if (!subset<shape_t<I>, shape_t<X>>) return segment_sum_fault::others;
  return segment_sum_fault::none;
}

enum class cross_entropy_fault { none, missing, logits, targets, nested, rank };

template <class Classes, class X, class I>
constexpr cross_entropy_fault fault_of_cross_entropy() {
  if (!has_axis<Classes, shape_t<X>>) return cross_entropy_fault::missing;
  if (!floating<X>) return cross_entropy_fault::logits;
  if (!std::same_as<element_t<I>, std::int32_t>) return cross_entropy_fault::targets;
  if (has_axis<Classes, shape_t<I>>) return cross_entropy_fault::nested;
  constexpr int rank = united_rank<shape_t<X>, shape_t<I>>;
  if (rank > max_rank) return cross_entropy_fault::rank;
  return cross_entropy_fault::none;
}

}  // namespace detail

// The elements of table at int32 `indices` along A: table [..., A, ...] and indices [...] without A
// to the axes of the indices, then those of table that they do not have, with table's dtype. An
// embedding is gather<Vocab>(table [Vocab, Embed], tokens [Batch, Pos]), giving [Batch, Pos,
// Embed]. Axes that both have are matched (torch.gather); without any it is ONNX's Gather.
//
// Indices that are an input are checked when a run begins: weft::error names the element that is
// negative or not less than A's length. A computed index out of range gives 0, as that of the last
// element of an empty axis: see weft::between.
template <class A, expression X, expression I>
constexpr auto gather(const X& table, const I& indices) {
  node n = make_node(op::gather);
  n.named = axes_of(shape<A>{});
  return append<element_t<X>, united<shape_t<I>, without<shape_t<X>, shape<A>>>>(n, table, indices);
}
template <class A, expression X, expression I>
requires(detail::fault_of_gather<A, X, I>() == detail::gather_fault::indices)
    WEFT_REJECT("gather: the indices are not int32", gather(const X&, const I&))
template <class A, expression X, expression I>
requires(detail::fault_of_gather<A, X, I>() == detail::gather_fault::missing)
    WEFT_REJECT("gather: the table has no such axis", gather(const X&, const I&))
template <class A, expression X, expression I>
requires(detail::fault_of_gather<A, X, I>() == detail::gather_fault::nested)
    WEFT_REJECT("gather: the indices have the axis that they pick from", gather(const X&, const I&))
template <class A, expression X, expression I>
requires(detail::fault_of_gather<A, X, I>() == detail::gather_fault::rank)
    WEFT_REJECT("gather: the operands have more than 8 axes between them",
                gather(const X&, const I&))

template <class A, expression X, class I>
requires(!expression<I>)
    WEFT_REJECT("gather: the indices are a tensor of int32; for one index write weft::constant(0)",
                gather(const X&, const I&))

// y[t] = the sum of x[f] over all f with indices[f] = t (jax.ops.segment_sum): x float [..., From,
// ...] and int32 indices [From, ...] of x's axes to float [..., To, ...] with To instead of From, 0
// where no index is t. It is gather's adjoint. Indices that are an input are checked as gather's
// are; an element whose computed index is out of To's range is left out.
template <class From, class To, expression X, expression I>
constexpr auto segment_sum(const X& x, const I& indices) {
  node n = make_node(op::scatter_add);
  n.named = axes_of(shape<To>{});
  return append<float, replaced<shape_t<X>, From, shape<To>>>(n, x, indices);
}
template <class From, class To, expression X, expression I>
requires(detail::fault_of_segment_sum<From, To, X, I>() == detail::segment_sum_fault::elements)
    WEFT_REJECT("segment_sum: the elements are not float; convert with weft::cast<float>",
                segment_sum(const X&, const I&))
template <class From, class To, expression X, expression I>
requires(detail::fault_of_segment_sum<From, To, X, I>() == detail::segment_sum_fault::missing)
    WEFT_REJECT("segment_sum: the operand has no such axis to sum along",
                segment_sum(const X&, const I&))
template <class From, class To, expression X, expression I>
requires(detail::fault_of_segment_sum<From, To, X, I>() == detail::segment_sum_fault::kind)
    WEFT_REJECT(
        "segment_sum: what stands for the sums' axis is none; derive from weft::axis or "
        "weft::alias",
        segment_sum(const X&, const I&))
template <class From, class To, expression X, expression I>
requires(detail::fault_of_segment_sum<From, To, X, I>() == detail::segment_sum_fault::taken)
    WEFT_REJECT("segment_sum: the operand has the sums' axis already",
                segment_sum(const X&, const I&))
template <class From, class To, expression X, expression I>
requires(detail::fault_of_segment_sum<From, To, X, I>() == detail::segment_sum_fault::indices)
    WEFT_REJECT("segment_sum: the indices are not int32", segment_sum(const X&, const I&))
template <class From, class To, expression X, expression I>
requires(detail::fault_of_segment_sum<From, To, X, I>() == detail::segment_sum_fault::others)
    WEFT_REJECT("segment_sum: the indices have an axis that the operand has not",
                segment_sum(const X&, const I&))

// -log softmax<Classes>(logits) at the target, torch.nn.functional.cross_entropy with reduction
// 'none': logits float [..., Classes] and targets int32 [...] without Classes to float with the
// axes of the targets, then the others of the logits. For 'mean' take the mean over them. Targets
// are checked as gather's indices are.
template <class Classes, expression X, expression I>
constexpr auto cross_entropy(const X& logits, const I& targets) {
  return -gather<Classes>(log_softmax<Classes>(logits), targets);
}
template <class Classes, expression X, expression I>
requires(detail::fault_of_cross_entropy<Classes, X, I>() == detail::cross_entropy_fault::missing)
    WEFT_REJECT("cross_entropy: the logits have no such axis of classes",
                cross_entropy(const X&, const I&))
template <class Classes, expression X, expression I>
requires(detail::fault_of_cross_entropy<Classes, X, I>() == detail::cross_entropy_fault::logits)
    WEFT_REJECT("cross_entropy: the logits are not float; convert with weft::cast<float>",
                cross_entropy(const X&, const I&))
template <class Classes, expression X, expression I>
requires(detail::fault_of_cross_entropy<Classes, X, I>() == detail::cross_entropy_fault::targets)
    WEFT_REJECT("cross_entropy: the targets are not int32", cross_entropy(const X&, const I&))
template <class Classes, expression X, expression I>
requires(detail::fault_of_cross_entropy<Classes, X, I>() == detail::cross_entropy_fault::nested)
    WEFT_REJECT("cross_entropy: the targets have the axis of classes",
                cross_entropy(const X&, const I&))
template <class Classes, expression X, expression I>
requires(detail::fault_of_cross_entropy<Classes, X, I>() == detail::cross_entropy_fault::rank)
    WEFT_REJECT("cross_entropy: the operands have more than 8 axes between them",
                cross_entropy(const X&, const I&))

}  // namespace weft
