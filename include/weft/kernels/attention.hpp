// Fused attention (Vaswani et al. 2017, equation 1), which never stores the scores: its definition,
// and the arguments of its kernels.
//
// For each index of the batch loops, query i and key j:
//
//   s[i,j] = scale * sum over d of query[i,d] * key[j,d]
//            capped to soft_cap * tanh(s[i,j] / soft_cap), if that, the call's scalar, is not 0
//            + bias[i,j], if present
//            + relative[i, clamp(j - (i + offset) + origin)], if present (Shaw et al. 2018,
//            equation 4; Raffel et al. 2020, section 2.1)
//            -infinity where the mask, the band, the begin or the length masks out the key
//   statistics[i] = logsumexp: log of the sum over j of exp(s[i,j]), and of exp(sink[i]) if present
//                                                  -infinity if all keys are masked out
//   weights[i,j] = exp(s[i,j] - statistics[i])     0 if all keys are masked out
//   result[i,e] = sum over j of kept[i,j] * weights[i,j] * value[j,e]
//
// The result sums over the keys that query i sees only: NaN and infinity in other keys and values
// do not propagate, not even as 0 * NaN. Keys are masked out by the mask, the band, the begin, the
// length or a bias of -infinity. The adjoint multiplies by weights of 0, so there masked-out keys
// and values must be finite.
//
// kept[i,j] is 1. With dropout (Srivastava et al. 2014) it is 0 for dropped elements and 1 / (1 -
// rate) for the others. It depends on the element's id only, see philox.hpp, so that the adjoint
// recomputes it and nothing is stored. The kernels process the keys in tiles with online softmax, a
// running maximum and sum of each query (Milakov and Gimelshein 2018; Rabe and Staats 2021; Dao et
// al. 2022, algorithm 1), and need scratch that does not grow with the product of queries and keys.
//
// The adjoint takes g, the gradient for the result, and gives those for query, key and value (Dao
// et al. 2022, appendix B.4), with delta D[i] = sum over e of g[i,e] * result[i,e]:
//
//   value_gradient[j,e] = sum over i of kept[i,j] * weights[i,j] * g[i,e]
//   dz[i,j] = weights[i,j] * (kept[i,j] * sum over e of g[i,e] * value[j,e] - D[i])
//   ds[i,j] = dz[i,j] * scale * the derivative of the cap
//   query_gradient[i,d] = sum over j of ds[i,j] * key[j,d]
//   key_gradient[j,d] = sum over i of ds[i,j] * query[i,d]
//   bias_gradient[i,j] = dz[i,j]
//   sink_gradient[i] = -exp(sink[i] - statistics[i]) * D[i]
//   relative_gradient[i,r] = sum of dz[i,j] over the j whose index in `relative` is r
//
// each summed over the loops in which the gradient has stride 0.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <cstdint>

#include "weft/graph/attention_slots.hpp"
#include "weft/kernels/call.hpp"

namespace weft::kernels {

// Indices of an attention's loops: the batch loops (heads among them), then these four.
struct attention_loops {
  int query, key, depth, value;
  constexpr explicit attention_loops(int loops)
      : query(loops - 4), key(loops - 3), depth(loops - 2), value(loops - 1) {}
};

// Every operand has a stride for every loop, 0 where it is broadcast; heads that share a key
// (grouped and multi-query attention) are a batch loop in which the key has stride 0. An operand
// with null data is absent; an optional gradient is computed if it is there. No result overlaps an
// operand. Extents may be 0 and 1. attention_slots.hpp says which loops an operand may have, and:
//
// relative      its stride in the key loop is that of distances
// sink          takes a part of each query's weights (Xiao et al. 2024, section 3.3, equation 2)
// offset        is added to visible.offset
// begins        keys before this index are masked out
// lengths       and so are keys from this index on
// element_ids   strides only
// statistics    may be absent in the forward kernel
// gradients     one with stride 0 in a batch loop (the key of grouped heads) is the sum over it
constexpr const operand& operand_of(const call& c, role what) {
  return c.operands[attention_slot(what)];
}
// One that has its operands.
struct attention_call : owning_call<attention_adjoint_slots.size()> {
  constexpr operand& operator[](role what) { return operands[attention_slot(what)]; }
  constexpr const operand& operator[](role what) const { return operands[attention_slot(what)]; }
};

// Calls f(slot, operand) for each gradient that is there.
template <class F>
constexpr void for_each_gradient(const call& c, F f) {
  for (std::size_t i = 0; i < attention_adjoint_slots.size(); ++i)
    if (is_gradient(attention_adjoint_slots[i]) && c.operands[i].data != nullptr)
      f(attention_adjoint_slots[i], c.operands[i]);
}

}  // namespace weft::kernels
#include "weft/header_end.hpp"
