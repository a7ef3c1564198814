// Attention as one operation, whose scores are never stored: what its kernels are called with.
//
// For each index of the batch loops, and i of the queries, j of the keys:
//
//   s[i,j] = scale * sum over d of query[i,d] * key[j,d]        soft_cap * tanh(s / soft_cap), if
//   any
//            + bias[i,j], where there is one
//            + relative[i, clamp(j - (i + offset) + origin)], where there is one (Shaw et al. 2018,
//            equation 4; Raffel et al. 2020, section 2.1); -infinity where the mask, the band or
//            the length hides the key
//   statistics[i] = log of the sum over j of exp(s[i,j])          -infinity where all is hidden
//   weights[i,j] = exp(s[i,j] - statistics[i])                    0 where all is hidden
//   result[i,e] = sum over j of kept[i,j] * weights[i,j] * value[j,e]
//
// The result's sum is over the keys that query i sees alone: what others and their values hold does
// not count, not even as 0 * NaN. Keys are hidden by the mask, the band, the length or a bias of
// -infinity. The adjoint multiplies by weights of 0, so there it is to be finite.
//
// With kept[i,j] = 1, or where there is a dropout (Srivastava et al. 2014) 0 for what it drops and
// 1 / (1 - rate) for the rest: by the element's number, see philox.hpp, so that it is found again
// in the adjoint, not stored (Vaswani et al. 2017, equation 1). The kernels go through the keys in
// tiles, with a running maximum and sum of each query (Milakov and Gimelshein 2018; Rabe and Staats
// 2021; Dao et al. 2022, algorithm 1), and need scratch that does not grow with the product of
// queries and keys.
//
// The adjoint takes g, the gradient for the result, and gives those for query, key and value (Dao
// et al. 2022, appendix B.4), with D[i] = sum over e of g[i,e] * result[i,e]:
//
//   value_gradient[j,e] = sum over i of kept[i,j] * weights[i,j] * g[i,e]
//   dz[i,j] = weights[i,j] * (kept[i,j] * sum over e of g[i,e] * value[j,e] - D[i])
//   ds[i,j] = dz[i,j], times what soft_cap and scale give
//   query_gradient[i,d] = sum over j of ds[i,j] * key[j,d]
//   key_gradient[j,d] = sum over i of ds[i,j] * query[i,d]
//   bias_gradient[i,j] = dz[i,j]
//   relative_gradient[i,r] = sum over the j that look up r of dz[i,j]
//
// each summed over the loops that it does not have.
#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/kernels/call.hpp"

namespace weft::kernels {

// The keys that a query may see by their places: key j for query i where lowest <= j - (i + offset)
// <= highest. Causal attention has highest 0; a window of r keys to the left lowest -r.
struct band {
  std::ptrdiff_t lowest = PTRDIFF_MIN;
  std::ptrdiff_t highest = PTRDIFF_MAX;
  std::ptrdiff_t offset = 0;  // the place of the first query among the keys: a cache's length
};

// The loops of an attention: some of the batch (heads among them), then these four.
struct attention_loops {
  int query, key, depth, value;
  constexpr explicit attention_loops(int loops)
      : query(loops - 4), key(loops - 3), depth(loops - 2), value(loops - 1) {}
};

// Every operand has a stride for every loop, 0 for those that it does not have; heads that share a
// key (grouped and multi-query attention) are a batch loop that the key has stride 0 in. An operand
// without data is absent. No result overlaps an operand. Extents may be 0 and 1.
struct attention_call {
  int loops = 0;
  std::ptrdiff_t extent[max_loops]{};
  operand query;     // [batch..., query, depth]
  operand key;       // [batch..., key, depth]
  operand value;     // [batch..., key, value]
  operand mask;      // any of [batch..., query, key], boolean; absent: every key is seen
  operand bias;      // any of [batch..., query, key]
  operand relative;  // any of [batch..., query]; in the loop of keys it has the stride of distances
  operand offset;    // any of [batch...], int32: added to seen.offset
  operand lengths;   // any of [batch...], int32: no query sees a key from this place on
  operand numbers;   // of the weights: strides alone, in any of [batch..., query, key]
  operand result;    // [batch..., query, value]
  operand statistics;  // [batch..., query]; may be absent in the forward kernel
  double scale = 1;
  double soft_cap = 0;  // 0: none
  band seen;
  std::ptrdiff_t length_more = 0;  // is added to the lengths
  std::ptrdiff_t distances = 0;    // in a row of the relative bias; at least 1, if there is one
  std::ptrdiff_t origin = 0;       // which of them is for a key at the query's place
  dropping drop{};                 // of the weights
  random_state random;             // what they are drawn from
  // The adjoint alone. Gradients for query, key and value are all there; one with stride 0 in a
  // batch loop (the key of grouped heads) is the sum over that loop.
  operand g;               // as the result
  operand query_gradient;  // as query, key and value
  operand key_gradient;
  operand value_gradient;
  operand bias_gradient;         // as the bias; absent: it is not wanted
  operand relative_gradient;     // as the relative bias; the same
  std::byte* scratch = nullptr;  // at least attention_scratch_bytes(call), or
                                 // attention_adjoint_scratch_bytes(call); aligned to 64
  share part;
};

}  // namespace weft::kernels
