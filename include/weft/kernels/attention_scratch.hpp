// How the forward attention is cut into blocks, and the scratch that the blocks need.
//
// Queries come in blocks, and keys too; within a block of queries, tiles of up to three vectors
// meet a block of keys. Vectors of scores run along the queries, so that the maximum and the sum of
// each are lanes of a vector, and keys are read where they lie, an element at a time for all
// queries of a tile. Vectors of results run along the values' depth: so they are stored as they
// are, and the exponentials are what is read an element at a time.
#pragma once

#include <algorithm>
#include <cstddef>

#include "weft/kernels/attention.hpp"
#include "weft/kernels/dot_blocking.hpp"

namespace weft::kernels {

// A tile's scores for a block of keys (24 KiB) stay in the first level of cache. The more queries a
// block has, the less often keys and values come from further away than its second level.
inline constexpr std::size_t attention_key_block = 128;
inline constexpr std::size_t attention_query_block = 384;  // whole tiles, for any number of lanes
inline constexpr std::size_t max_attention_vectors = 3;    // of a tile
inline constexpr std::size_t max_attention_tile = max_attention_vectors * max_dot_lanes;
static_assert(attention_query_block % max_attention_tile == 0);

// Where things lie in the scratch, in bytes. Everything is aligned to 64 bytes. There is room for
// whole tiles of queries.
struct attention_scratch {
  std::size_t queries;  // transposed: for each tile, depth x its queries
  std::size_t results;  // not divided by the sums yet: queries x value, in whole vectors
  std::size_t highest;  // each query's highest score so far
  std::size_t sums;     // and its sum of exponentials
  std::size_t factors;  // what a block multiplies a tile's earlier results by
  std::size_t scores;   // a tile's, keys x queries
  std::size_t addend;   // a bias or mask for one vector of queries, keys x queries
  std::size_t values;   // a block of them, in whole vectors
  std::size_t bytes;

  constexpr attention_scratch(std::size_t query, std::size_t depth, std::size_t value)
      : queries(0),
        results(queries + room(query) * depth * sizeof(float)),
        highest(results + room(query) * round_up(value, max_dot_lanes) * sizeof(float)),
        sums(highest + room(query) * sizeof(float)),
        factors(sums + room(query) * sizeof(float)),
        scores(factors + max_attention_tile * sizeof(float)),
        addend(scores + attention_key_block * max_attention_tile * sizeof(float)),
        values(addend + attention_key_block * max_dot_lanes * sizeof(float)),
        bytes(values + attention_key_block * round_up(value, max_dot_lanes) * sizeof(float)) {}

 private:
  static constexpr std::size_t room(std::size_t query) {
    return round_up(std::min(query, attention_query_block), max_attention_tile);
  }
};

// The bytes of scratch of the forward attention, from the extents alone; never fewer where an
// extent is larger. They do not grow with the keys, nor with the queries beyond a block.
constexpr std::size_t attention_scratch_bytes(const attention_call& c) {
  const attention_loops loop(c.loops);
  const auto extent = [&](int l) { return static_cast<std::size_t>(c.extent[l]); };
  return attention_scratch(extent(loop.query), extent(loop.depth), extent(loop.value)).bytes;
}

}  // namespace weft::kernels
