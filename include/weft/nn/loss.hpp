// Losses: means over all elements, float without axes.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/ops/compare.hpp"
#include "weft/ops/convert.hpp"
#include "weft/ops/functions.hpp"
#include "weft/ops/gather.hpp"
#include "weft/ops/mask.hpp"

namespace weft::nn {

// Options of nn::cross_entropy.
struct cross_entropy_options {
  std::int32_t ignore_index = -100;  // of targets that do not count
  double label_smoothing = 0;        // the share of the mean over all classes
};

namespace detail {

template <class X, class Y, class... W>
constexpr rule rule_of_binary() {
  using namespace weft::detail;
  if (!floating<X> || !floating<Y> || !(floating<W> && ...)) return rule::elements;
  using S = operand_axes_t<X>;
  if (!subset<S, operand_axes_t<Y>> || !subset<operand_axes_t<Y>, S>) return rule::other_axes;
  return sizeof...(W) < 2 && (subset<operand_axes_t<W>, S> && ...) ? rule::none : rule::surplus;
}

}  // namespace detail

// The mean of weft::cross_entropy over the targets that are not ignore_index, NaN without any, as
// torch.nn.functional.cross_entropy: logits float [..., Classes], targets int32 [...]. With a
// label_smoothing of e, 1 - e of it and e of the mean of -log softmax<Classes>(logits) over Classes
// (Szegedy et al. 2016, section 7). Targets are checked as gather's indices are, when they are
// used.
template <class Classes, expression X, expression I>
constexpr auto cross_entropy(const X& logits, const I& targets, cross_entropy_options o = {}) {
  const double e = o.label_smoothing;
  const auto counts = targets != o.ignore_index;
  const auto log_p = log_softmax<Classes>(logits);
  const auto at_target = gather<Classes>(log_p, where(counts, targets, 0));
  const auto each = e == 0 ? at_target : at_target * (1 - e) + mean<Classes>(log_p) * e;
  return [&]<class... A>(shape<A...>) {
    return sum<A...>(where(counts, -each, 0)) / sum<A...>(broadcast<A...>(cast<float>(counts)));
  }(shape_t<std::remove_const_t<decltype(each)>>{});
}
WEFT_REJECT_IF((class Classes, expression X, expression I),
               (weft::detail::rule_of_cross_entropy<Classes, X, I>()),
               cross_entropy(const X&, const I&, cross_entropy_options = {}),
               WEFT_CROSS_ENTROPY_RULES("nn::cross_entropy"))

// The mean of -(w y log p + (1 - y) log(1 - p)) with p = sigmoid(x), as
// torch.nn.functional.binary_cross_entropy_with_logits: x and y float of the same axes, y from 0 to
// 1, and pos_weight w, float of some of these axes. -log p is softplus(-x), exact for any x.
template <expression X, expression Y, class... W>
constexpr auto binary_cross_entropy_with_logits(const X& x, const Y& y, const W&... pos_weight) {
  const auto each = (1 - y) * x + (softplus(-x) * ... * (1 + (pos_weight - 1) * y));
  return [&]<class... A>(shape<A...>) { return mean<A...>(each); }(shape_t<X>{});
}
WEFT_REJECT_IF(
    (expression X, expression Y, class... W), (detail::rule_of_binary<X, Y, W...>()),
    binary_cross_entropy_with_logits(const X&, const Y&, const W&...),
    WEFT_NOT_FLOAT("nn::binary_cross_entropy_with_logits"),
    (other_axes, "nn::binary_cross_entropy_with_logits: logits and targets differ in their axes"),
    (surplus, "nn::binary_cross_entropy_with_logits: pos_weight has an axis that the logits lack"))

}  // namespace weft::nn
#include "weft/header_end.hpp"
