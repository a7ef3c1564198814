// Selection by index, and its adjoint. Misuse that is not named below does not compile: see the
// WEFT_REJECT overloads.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/reject.hpp"
#include "weft/graph/tensor.hpp"
#include "weft/ops/functions.hpp"
#include "weft/ops/normalize.hpp"
#include "weft/ops/view.hpp"

namespace weft {

namespace detail {

template <class A, expression X, expression I>
constexpr rule rule_of_gather() {
  if (!std::same_as<element_t<I>, std::int32_t>) return rule::indices;
  if (!has_axis<A, shape_t<X>>) return rule::missing;
  if (has_axis<A, shape_t<I>>) return rule::nested;
  constexpr int rank = united_rank<shape_t<X>, shape_t<I>>;
  if (rank > max_rank) return rule::rank;
  return rule::none;
}

template <class A, class K, expression X>
constexpr rule rule_of_top_k() {
  if (!floating<X>) return rule::elements;
  if (!has_axis<A, shape_t<X>>) return rule::missing;
  if constexpr (axis_like<K>) {
    if (has_axis<K, shape_t<X>>) return rule::taken;
    if (info_of<K>.bounded) return rule::bounded;
    if (info_of<K>.extent > info_of<A>.extent) return rule::extent;
    return rule::none;
  } else {
    return rule::not_an_axis;
  }
}

template <class From, class To, expression X, expression I>
constexpr rule rule_of_segment_sum() {
  if (!floating<X>) return rule::elements;
  if (!has_axis<From, shape_t<X>>) return rule::missing;
  if (!axis_like<To>) return rule::not_an_axis;
  if (has_axis<To, shape_t<X>>) return rule::taken;
  if (!std::same_as<element_t<I>, std::int32_t>) return rule::indices;
  if (!subset<shape_t<I>, shape_t<X>>) return rule::surplus;
  return rule::none;
}

template <class Classes, expression X, expression I>
constexpr rule rule_of_cross_entropy() {
  if (!has_axis<Classes, shape_t<X>>) return rule::missing;
  if (!floating<X>) return rule::logits;
  if (!std::same_as<element_t<I>, std::int32_t>) return rule::targets;
  if (has_axis<Classes, shape_t<I>>) return rule::nested;
  constexpr int rank = united_rank<shape_t<X>, shape_t<I>>;
  if (rank > max_rank) return rule::rank;
  return rule::none;
}

// gather; where it does not refuse an index that lies outside, that gives 0.
template <bool Refuses, class A, expression X, expression I>
constexpr auto gather_with(const X& table, const I& indices) {
  node n = make_node(op::gather, axes_of(shape<A>{}));
  refuses_outside(n) = Refuses;
  return append<element_t<X>, united<shape_t<I>, without<shape_t<X>, shape<A>>>>(n, table, indices);
}

// segment_sum; where it does not refuse an index that lies outside, its element is left out.
template <bool Refuses, class From, class To, expression X, expression I>
constexpr auto segment_sum_with(const X& x, const I& indices) {
  node n = make_node(op::scatter_add, axes_of(shape<To>{}));
  refuses_outside(n) = Refuses;
  return append<float, replaced<shape_t<X>, From, shape<To>>>(n, x, indices);
}

}  // namespace detail

// The elements of table at int32 `indices` along A: table [..., A, ...] and indices [...] without A
// to the axes of the indices, then those of table that they do not have, with table's dtype. An
// embedding is gather<Vocab>(table [Vocab, Embed], tokens [Batch, Pos]), giving [Batch, Pos,
// Embed]. Axes that both have are matched (torch.gather); without any it is ONNX's Gather.
//
// An index that is used, wherever it comes from, is not negative and less than A's length in this
// run; otherwise weft::error names it. Indices that are an input, or a part of one, are checked
// when a run begins, and nothing is computed; what a slice cuts off is not used. Computed ones are
// checked when they are used, so that the states are then those of a run that was not completed.
// Where an index may lie outside, clamp it: minimum(maximum(i, 0), last).
template <class A, expression X, expression I>
constexpr auto gather(const X& table, const I& indices) {
  if constexpr (requires { indices.indices(); })  // nn::padded_positions
    return detail::gather_with<true, A>(table, indices.indices());
  else
    return detail::gather_with<true, A>(table, indices);
}
WEFT_REJECT_IF((class A, expression X, expression I), (detail::rule_of_gather<A, X, I>()),
               gather(const X&, const I&), (indices, "gather: the indices are not int32"),
               (missing, "gather: the table has no such axis"),
               (nested, "gather: the indices have the axis that they pick from"),
               WEFT_TOO_MANY_AXES("gather"))
template <class A, expression X, class I>
requires(!expression<I>) WEFT_REJECT(
    (rule::number), gather(const X&, const I&),
    (number, "gather: the indices are a tensor of int32; for one index write weft::constant(0)"))

// The values and indices of a top_k.
template <class Values, class Indices>
struct top_k_result {
  Values values;    // float [..., K, ...]
  Indices indices;  // int32 [..., K, ...]
};

// The greatest elements along A, the greatest first (torch.topk): x float [..., A, ...] to float
// `values` and int32 `indices` with K instead of A, as in auto [p, tokens] = top_k<Vocab,
// Best>(logits). K has a fixed length, at most A's bound. NaN is greater than any number; of equal
// elements the first comes first. Where A is shorter than K in a run, the indices that are left are
// -1 and their values 0. Only the values have a gradient.
template <class A, class K, expression X>
constexpr auto top_k(const X& x) {
  node n = make_node(op::top_k, axes_of(shape<A, K>{}));
  const auto indices = append<std::int32_t, replaced<shape_t<X>, A, shape<K>>>(n, x);
  const auto values = detail::gather_with<0, A>(x, indices);
  return top_k_result<decltype(values), decltype(indices)>{values, indices};
}
WEFT_REJECT_IF((class A, class K, expression X), (detail::rule_of_top_k<A, K, X>()),
               top_k(const X&), WEFT_NOT_FLOAT("top_k"),
               (missing, "top_k: the operand has no such axis to select from"),
               (not_an_axis,
                "top_k: what stands for the selected elements' axis is none; derive from "
                "weft::axis"),
               (taken, "top_k: the operand has the selected elements' axis already"),
               (bounded, "top_k: the number of selected elements is known at run time only"),
               (extent, "top_k: more elements are selected than the axis has"))

// The index of the greatest element along A (torch.argmax): x float [..., A, ...] to int32 without
// A. NaN is greater than any number; of equal elements it is the first; -1 where A has length 0.
template <class A, expression X>
constexpr auto argmax(const X& x) {
  return squeeze<detail::one_of<A>>(top_k<A, detail::one_of<A>>(x).indices);
}
WEFT_REJECT_IF((class A, expression X), (detail::rule_along_one<X, A>()), argmax(const X&),
               WEFT_NO_SUCH_AXIS("argmax"), WEFT_NOT_FLOAT("argmax"))

// The same of the least element (torch.argmin), where NaN is less than any number.
template <class A, expression X>
constexpr auto argmin(const X& x) {
  return argmax<A>(-x);
}
WEFT_REJECT_IF((class A, expression X), (detail::rule_along_one<X, A>()), argmin(const X&),
               WEFT_NO_SUCH_AXIS("argmin"), WEFT_NOT_FLOAT("argmin"))

// 1 at the index along Classes, 0 elsewhere (jax.nn.one_hot): int32 indices [...] to float [...,
// Classes]. An input's are checked as gather's are; a computed one that lies outside gives zeros.
template <class Classes, expression I>
constexpr auto one_hot(const I& indices) {
  return cast<float>(detail::within<Classes, false>(indices) == positions<Classes>());
}
WEFT_REJECT_IF((class Classes, expression I),
               (!axis_like<Classes>
                    ? rule::not_an_axis
                    : detail::rule_of_gather<Classes, tensor<float, shape<Classes>>, I>()),
               one_hot(const I&), (not_an_axis, "one_hot: the classes are no axis"),
               (indices, "one_hot: the indices are not int32"),
               (nested, "one_hot: the indices have the axis of classes"),
               WEFT_TOO_MANY_AXES("one_hot"))

// y[t] = the sum of x[f] over all f with indices[f] = t (jax.ops.segment_sum): x float [..., From,
// ...] and int32 indices [From, ...] of x's axes to float [..., To, ...] with To instead of From, 0
// where no index is t. It is gather's adjoint. Indices are checked as gather's are.
template <class From, class To, expression X, expression I>
constexpr auto segment_sum(const X& x, const I& indices) {
  return detail::segment_sum_with<true, From, To>(x, indices);
}
WEFT_REJECT_IF((class From, class To, expression X, expression I),
               (detail::rule_of_segment_sum<From, To, X, I>()), segment_sum(const X&, const I&),
               WEFT_NOT_FLOAT("segment_sum"),
               (missing, "segment_sum: the operand has no such axis to sum along"),
               (not_an_axis,
                "segment_sum: what stands for the sums' axis is none; derive from weft::axis or "
                "weft::alias"),
               (taken, "segment_sum: the operand has the sums' axis already"),
               (indices, "segment_sum: the indices are not int32"),
               (surplus, "segment_sum: the indices have an axis that the operand lacks"))

#define WEFT_CROSS_ENTROPY_RULES(name)                                             \
  (missing, name ": the logits have no such axis of classes"),                     \
      (logits, name ": the logits are not float; convert with weft::cast<float>"), \
      (targets, name ": the targets are not int32"),                               \
      (nested, name ": the targets have the axis of classes"), WEFT_TOO_MANY_AXES(name)

// -log softmax<Classes>(logits) at the target, torch.nn.functional.cross_entropy with reduction
// 'none': logits float [..., Classes] and targets int32 [...] without Classes to float with the
// axes of the targets, then the others of the logits. For 'mean' see nn::cross_entropy. Targets are
// checked as gather's indices are.
template <class Classes, expression X, expression I>
constexpr auto cross_entropy(const X& logits, const I& targets) {
  return -gather<Classes>(log_softmax<Classes>(logits), targets);
}
WEFT_REJECT_IF((class Classes, expression X, expression I),
               (detail::rule_of_cross_entropy<Classes, X, I>()), cross_entropy(const X&, const I&),
               WEFT_CROSS_ENTROPY_RULES("cross_entropy"))

}  // namespace weft
#include "weft/header_end.hpp"
