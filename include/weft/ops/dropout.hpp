// Dropout.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "weft/graph/reject.hpp"
#include "weft/graph/tensor.hpp"
#include "weft/kernels/philox.hpp"
#include "weft/ops/elementwise.hpp"

namespace weft {

// Reached while compiling, these functions' names are what the compiler prints.
inline void the_rate_of_a_dropout_is_not_between_0_and_1() {
  throw std::domain_error("dropout: the rate is not between 0 and 1");
}
inline void a_dropout_has_more_than_2_to_the_32_elements() {
  throw std::length_error("dropout: the operand has more than 2^32 elements");
}

// Srivastava et al. 2014, inverted, as torch.nn.Dropout: in training each element is 0 with
// probability `rate`, independently, and else divided by 1 - rate; in a weft::module dropout is the
// identity, and weft::monte_carlo evaluates with it on. The rate is rounded to a multiple of 2^-24.
//
// Which elements are dropped follows from the seed, the number of the training step, which of the
// model's dropouts it is, in the order in which the model calls them, and the element's place among
// the axes at their bounds, by the generator of kernels/philox.hpp; so it is the same for any
// number of threads, SIMD target, memory layout and other length of an axis. The adjoint draws the
// same numbers again: no mask is stored. In the body of a scan every step drops the same elements
// (Gal and Ghahramani 2016b, section 4); for others at each step, drop out what is scanned. Dropout
// of attention's weights stays within the one operation that attention becomes.
template <class S>
constexpr tensor<float, S> dropout(const tensor<float, S>& x, double rate) {
  if (!(rate >= 0 && rate <= 1)) the_rate_of_a_dropout_is_not_between_0_and_1();
  if (S::extent > std::size_t{1} << 32) a_dropout_has_more_than_2_to_the_32_elements();
  node n = make_node(op::element_ids);
  n.scalar = kernels::drop_below(rate) * 0x1p-24;
  for (int i = 0; i < x.g->count; ++i) n.start += x.g->nodes[i].kind == op::dropout;
  return append<float, S>(make_node(op::dropout), x, append<std::int32_t, S>(n));
}
template <expression X>
requires(!detail::floating<X>)
    WEFT_REJECT("dropout: the elements are not float; convert with weft::cast<float>",
                dropout(const X&, double))
template <expression X>
requires(detail::floating<X> && !in_graph<X>)
    WEFT_REJECT("dropout: the operand depends on no input and no parameter",
                dropout(const X&, double))

}  // namespace weft
