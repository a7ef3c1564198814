// Dropout.
#pragma once
#include "weft/header_begin.hpp"

#include <cstdint>

#include "weft/graph/random.hpp"
#include "weft/graph/reject.hpp"
#include "weft/graph/tensor.hpp"
#include "weft/ops/elementwise.hpp"

namespace weft {

namespace detail {

template <class X>
constexpr rule rule_of_dropout() {
  if (!floating<X>) return rule::elements;
  if (!in_graph<X>) return rule::no_input;
  return rule::none;
}

}  // namespace detail

// Inverted dropout (Srivastava et al. 2014) as torch.nn.Dropout: x float [...] to the same axes. In
// training each element is 0 with probability `rate`, independently, and divided by 1 - rate
// otherwise; in a weft::module dropout is the identity, and weft::monte_carlo evaluates with it on.
// The rate is rounded to a multiple of 2^-24. A rate outside of [0, 1] does not compile, nor does
// an x of more than 2^32 elements.
//
// Which elements are dropped depends on the seed, the index of the training step, the index of this
// dropout in the order in which the model calls them, and the element's index with all axes at
// their bounds, through the counter-based generator of kernels/philox.hpp; so it is the same for
// any number of threads, SIMD target, memory layout and other length of an axis. The adjoint
// generates the same bits again: no mask is stored. In the body of a scan every step drops the same
// elements (Gal and Ghahramani 2016b, section 4); to drop others at each step, apply dropout to the
// scanned operand, or multiply by a scanned dropout_mask. Dropout of attention weights is fused
// into the attention operation.
template <class S>
constexpr tensor<float, S> dropout(const tensor<float, S>& x, double rate) {
  if (!(rate >= 0 && rate <= 1)) {
    x.g->refuse(model_fault::rate_of_dropout, "");
    rate = 0;
  }
  if (S::extent > std::uint64_t{1} << 32) x.g->refuse(model_fault::dropout_size, "");
  node n = make_node(op::element_ids);
  dropout_rate(n) = drop_threshold(rate) * 0x1p-24;
  for (int i = 0; i < x.g->count; ++i) rng_stream(n) += x.g->nodes[i].kind == op::dropout;
  return append<float, S>(make_node(op::dropout), x, append<std::int32_t, S>(n));
}
WEFT_REJECT_IF((expression X), (detail::rule_of_dropout<X>()), dropout(const X&, double),
               WEFT_NOT_FLOAT("dropout"),
               (no_input, "dropout: the operand depends on no input and no parameter"))

// What dropout multiplies with, float [Axes...], for the steps of a scan: scan<Pos>(h0,
// std::tuple{x, dropout_mask<Batch, Pos, Hidden>(x, 0.1)}, body). x is any tensor of the model.
template <class... Axes, class T, class S>
constexpr auto dropout_mask(const tensor<T, S>& x, double rate) {
  const auto ones = append<float, shape<Axes...>>(make_node(op::copy), constant(1.0f));
  return dropout(tensor<float, shape<Axes...>>{x.g, attach(*x.g, ones)}, rate);
}

}  // namespace weft
#include "weft/header_end.hpp"
