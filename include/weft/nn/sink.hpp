// Attention sinks: a score without a key, that queries can attend to instead of any key.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/reject.hpp"
#include "weft/nn/detail.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/concatenate.hpp"
#include "weft/ops/normalize.hpp"
#include "weft/ops/view.hpp"

namespace weft::nn {

namespace detail {

template <class KeyPos>
struct with_sink : axis<KeyPos::extent + 1> {};
template <class KeyPos>
requires KeyPos::bounded struct with_sink<KeyPos> : axis<up_to<KeyPos::extent + 1>> {
};
struct sink : axis<1> {};

template <expression S, expression Sink, class KeyPos>
constexpr rule rule_of_sink() {
  if (!axis_like<KeyPos> || !has_axis<KeyPos, shape_t<S>>) return rule::missing;
  if (!weft::detail::floating<S> || !weft::detail::floating<Sink>) return rule::elements;
  if (!subset<shape_t<Sink>, without<shape_t<S>, shape<KeyPos>>>) return rule::surplus;
  return rule::none;
}

}  // namespace detail

// The softmax over the scores of the keys and one more score, the sink, whose weight is left out:
// exp(s_j) / (exp(sink) + sum over the keys of exp(s)) (Xiao et al. 2024, "Efficient streaming
// language models with attention sinks", section 3.3; learned for each head in gpt-oss). Scores
// float [..., KeyPos], masked ones -infinity, and a sink float over any of their other axes to
// weights of the scores' axes. Fused with the values into one operation, as softmax is. Misuse does
// not compile: see the WEFT_REJECT overload.
template <class KeyPos, expression S, expression Sink>
requires(detail::rule_of_sink<S, Sink, KeyPos>() ==
         rule::none) constexpr auto softmax_with_sink(const S& scores, const Sink& sink) {
  using Whole = detail::with_sink<KeyPos>;
  const auto first = detail::zeros(replaced<shape_t<S>, KeyPos, shape<detail::sink>>{}) + sink;
  const auto all = concatenate<Whole, shape<detail::sink, KeyPos>>(first, scores);
  return slice<Whole, KeyPos, 1>(softmax<Whole>(all));
}
WEFT_REJECT_IF((class KeyPos, expression S, expression Sink),
               (detail::rule_of_sink<S, Sink, KeyPos>()), softmax_with_sink(const S&, const Sink&),
               (missing, "nn::softmax_with_sink: the scores have no such axis of keys"),
               (elements,
                "nn::softmax_with_sink: scores or sink are not float; convert with "
                "weft::cast<float>"),
               (surplus,
                "nn::softmax_with_sink: the sink has the keys' axis, or one that the scores lack"))

}  // namespace weft::nn
#include "weft/header_end.hpp"
