// The loops over which the adjoint of attention sums its gradients, and their zeros.
#pragma once

#include <algorithm>

#include "kernels/attention_view.hpp"
#include "kernels/gather_scatter.hpp"
#include "weft/kernels/attention.hpp"

namespace weft::kernels {

static_assert(handles_gradients_of_attention({role::query, role::key, role::value, role::bias,
                                              role::relative, role::sink}),
              "kernels: adjoint_view has no gradient for an operand of attention");
// The operands of the adjoint at an index of the batch loops.
struct adjoint_view : attention_view {
  slice<const float> g;
  slice<float> query_gradient, key_gradient, value_gradient, bias_gradient, sink_gradient;
  float* relative_gradient = nullptr;

  adjoint_view() = default;
  adjoint_view(const call& c, const batch_index& batch) : attention_view(c, batch) {
    const attention_loops loop(c.loops);
    g.set(operand_of(c, role::g), batch, loop.query, loop.value);
    query_gradient.set(operand_of(c, role::query_gradient), batch, loop.query, loop.depth);
    key_gradient.set(operand_of(c, role::key_gradient), batch, loop.key, loop.depth);
    value_gradient.set(operand_of(c, role::value_gradient), batch, loop.key, loop.value);
    bias_gradient.set(operand_of(c, role::bias_gradient), batch, loop.query, loop.key);
    sink_gradient.set(operand_of(c, role::sink_gradient), batch, loop.query, loop.query);
    if (operand_of(c, role::relative_gradient).data != nullptr)
      relative_gradient = static_cast<float*>(operand_of(c, role::relative_gradient).data) +
                          batch.offset(operand_of(c, role::relative_gradient));
  }
};

// A set of batch loops: bit l stands for loop l.
using batch_loops = unsigned;

// Zeroes a gradient: all elements whose index in the loops of `fixed` is that of `at`.
inline void clear(const call& c, const slot& s, const operand& gradient, batch_loops fixed,
                  const batch_index& at) {
  owning_call<> zeros;
  zeros.loops = c.loops;
  zeros.operands[0] = gradient;
  zeros.operands[0].data = static_cast<float*>(gradient.data) + at.offset(gradient);
  std::copy_n(c.extent, c.loops, zeros.extent);
  if ((s.loops & over::distance) != 0)
    zeros.extent[attention_loops(c.loops).key] = c.attention.distances;
  for (int l = 0; l < c.loops; ++l)
    if (gradient.stride[l] == 0 || (fixed >> l & 1u)) zeros.extent[l] = 1;
  zero(zeros);
}
// Zeroes the gradients for biases, to which every term of the sum is added.
inline void clear_bias_gradients(const call& c, batch_loops fixed, const batch_index& at) {
  for_each_gradient(c, [&](const slot& s, const operand& gradient) {
    if (s.is == presence::optional) clear(c, s, gradient, fixed, at);
  });
}

// Partitions divide the loops that all gradients have; the other batch loops are inside, and summed
// over.
inline batch_loops shared_loops(const call& c) {
  batch_loops all = 0;
  for (int l = 0; l < attention_loops(c.loops).query; ++l) all |= 1u << l;
  for_each_gradient(c, [&](const slot&, const operand& o) {
    for (int l = 0; l < c.loops; ++l)
      if (o.stride[l] == 0) all &= ~(1u << l);
  });
  return all;
}

}  // namespace weft::kernels
