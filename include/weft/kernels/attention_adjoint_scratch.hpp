// How the adjoint of attention is cut into blocks, and the scratch that they need.
#pragma once

#include <algorithm>
#include <cstddef>

#include "weft/kernels/attention.hpp"

namespace weft::kernels {

// A block of queries with a block of keys makes two tiles of scores. Each gradient is a sum over a
// block's queries or keys in registers, so larger blocks make fewer round trips through memory.
// With a depth of 64, all that belongs to the blocks is 412 KiB: within a second level of cache.
inline constexpr std::ptrdiff_t max_adjoint_queries = 128;
inline constexpr std::ptrdiff_t max_adjoint_keys = 128;

// Rows in the scratch are whole vectors of any SIMD target, and as many are a tile's rows.
inline constexpr std::ptrdiff_t adjoint_unit = 16;

// Where things lie in the scratch, in floats. Everything is aligned to 64 bytes.
struct attention_adjoint_scratch {
  std::ptrdiff_t depth_row, value_row, score_row;  // from one row to the next
  std::ptrdiff_t key, key_transposed, value_transposed, key_gradient, value_gradient;  // of keys
  std::ptrdiff_t query, g, query_gradient, statistics, dots;  // of a block of queries
  std::ptrdiff_t weights, score_gradient;                     // queries x keys
  std::ptrdiff_t addend;                                      // a row of biases and mask
  std::ptrdiff_t before_cap;                                  // a row of score gradients
  std::ptrdiff_t bias_sums, relative_sums;                    // what a block adds to a shared row
  std::ptrdiff_t row;                                         // a row of values
  std::ptrdiff_t floats;

  constexpr explicit attention_adjoint_scratch(const attention_call& c) {
    const attention_loops at(c.loops);
    const std::ptrdiff_t queries = whole(std::min(c.extent[at.query], max_adjoint_queries));
    const std::ptrdiff_t keys = whole(std::min(c.extent[at.key], max_adjoint_keys));
    depth_row = whole(c.extent[at.depth]);
    value_row = whole(c.extent[at.value]);
    // Rows a power of two apart would share few sets of the first level of cache.
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
    dots = statistics + queries;
    weights = dots + queries;
    score_gradient = weights + queries * score_row;
    addend = score_gradient + queries * score_row;
    before_cap = addend + score_row;
    bias_sums = before_cap + score_row;
    relative_sums = bias_sums + queries + score_row;
    row = relative_sums + queries + score_row;
    floats = row + value_row;
  }

 private:
  static constexpr std::ptrdiff_t whole(std::ptrdiff_t n) {
    return (n + adjoint_unit - 1) / adjoint_unit * adjoint_unit;
  }
};

// The bytes of scratch of an adjoint. From the extents of the call's loops alone; it never shrinks
// when an extent grows, and grows with the depths but not beyond a block of queries and keys.
constexpr std::size_t attention_adjoint_scratch_bytes(const attention_call& c) {
  return static_cast<std::size_t>(attention_adjoint_scratch(c).floats) * sizeof(float);
}

}  // namespace weft::kernels
