// Blocking of the adjoint of attention, and the scratch that the blocks need.
#pragma once
#include "weft/header_begin.hpp"

#include <algorithm>
#include <cstddef>

#include "weft/kernels/attention.hpp"

namespace weft::kernels {

// A block of queries and a block of keys have two matrices of scores: weights and gradients. Each
// gradient is accumulated in registers over a block's queries or keys, so larger blocks load and
// store it less often. With a depth of 64 the blocks' scratch is 412 KiB: it fits in the L2 cache.
inline constexpr std::ptrdiff_t max_adjoint_queries = 128;
inline constexpr std::ptrdiff_t max_adjoint_keys = 128;

// Rows in the scratch are padded to multiples of this, and so is their number: full vectors of any
// SIMD target, and whole register tiles.
inline constexpr std::ptrdiff_t adjoint_unit = 16;

// Scratch layout: offsets in floats, each aligned to 64 bytes. `delta` = rowsum(g * result).
struct attention_adjoint_scratch {
  std::ptrdiff_t depth_row, value_row, score_row;  // row strides
  std::ptrdiff_t key, key_transposed, value_transposed, key_gradient, value_gradient;  // of keys
  std::ptrdiff_t query, g, query_gradient, statistics, delta;  // of a block of queries
  std::ptrdiff_t weights, score_gradient;                      // queries x keys
  std::ptrdiff_t bias;                                         // a row of biases and mask
  std::ptrdiff_t before_cap;                                   // a row of capped scores' gradients
  std::ptrdiff_t bias_sums, relative_sums;                     // what a block adds to a shared row
  std::ptrdiff_t row;                                          // a row of results
  std::ptrdiff_t floats;

  constexpr explicit attention_adjoint_scratch(const call& c) {
    const attention_loops at(c.loops);
    const std::ptrdiff_t queries = round_to_unit(std::min(c.extent[at.query], max_adjoint_queries));
    const std::ptrdiff_t keys = round_to_unit(std::min(c.extent[at.key], max_adjoint_keys));
    depth_row = round_to_unit(c.extent[at.depth]);
    value_row = round_to_unit(c.extent[at.value]);
    // Padded, since rows with a power-of-two stride map to few sets of the L1 cache.
    score_row = keys + adjoint_unit;
    key = 0;
    key_transposed = key + keys * depth_row;
    value_transposed = key_transposed + depth_row * score_row;
    key_gradient = value_transposed + value_row * score_row;
    value_gradient = key_gradient + keys * depth_row;
    query = value_gradient + keys * value_row;
    g = query + queries * depth_row;
    query_gradient = g + queries * value_row;
    statistics = query_gradient + queries * depth_row;
    delta = statistics + queries;
    weights = delta + queries;
    score_gradient = weights + queries * score_row;
    bias = score_gradient + queries * score_row;
    before_cap = bias + score_row;
    bias_sums = before_cap + score_row;
    relative_sums = bias_sums + queries + score_row;
    row = relative_sums + queries + score_row;
    floats = row + value_row;
  }

 private:
  static constexpr std::ptrdiff_t round_to_unit(std::ptrdiff_t n) {
    return (n + adjoint_unit - 1) / adjoint_unit * adjoint_unit;
  }
};

// The bytes of scratch of an adjoint. Depends on the extents of the call's loops only, and never
// shrinks when an extent grows; grows with the depths, but not with queries and keys beyond a
// block.
constexpr std::size_t attention_adjoint_scratch_bytes(const call& c) {
  return static_cast<std::size_t>(attention_adjoint_scratch(c).floats) * sizeof(float);
}

}  // namespace weft::kernels
#include "weft/header_end.hpp"
