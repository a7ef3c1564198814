// Blocking of the forward attention, and the scratch that the blocks need.
//
// Queries and keys are both blocked; within a block of queries, tiles of up to three vectors are
// multiplied with a block of keys. Vectors of scores run along the queries, so that running maxima
// and sums are lanes of vectors, and keys are read in place, each element broadcast to all queries
// of a tile. Vectors of results run along the values' depth: so they are stored without a
// transpose, and the exponentials are what is broadcast.
#pragma once
#include "weft/header_begin.hpp"

#include <algorithm>
#include <cstddef>

#include "weft/kernels/attention.hpp"
#include "weft/kernels/dot_blocking.hpp"

namespace weft::kernels {

// A tile's scores for a block of keys (24 KiB) stay in the L1 cache. The larger a block of queries,
// the less often keys and values are loaded from beyond the L2 cache.
inline constexpr std::size_t attention_key_block = 128;
inline constexpr std::size_t attention_query_block = 384;  // whole tiles, for any number of lanes
inline constexpr std::size_t max_attention_vectors = 3;    // of queries in a tile
inline constexpr std::size_t max_attention_tile = max_attention_vectors * max_dot_lanes;
static_assert(attention_query_block % max_attention_tile == 0);

// Scratch layout: offsets in bytes, each aligned to 64. Queries are padded to whole tiles.
struct attention_scratch {
  std::size_t queries;      // transposed: depth x queries for each tile
  std::size_t results;      // not normalized yet: queries x value, rows padded to full vectors
  std::size_t running_max;  // running maximum of each query's scores
  std::size_t running_sum;  // running sum of its exponentials
  std::size_t rescale;      // rescaling factors of a tile's earlier results
  std::size_t scores;       // of a tile, keys x queries
  std::size_t bias;         // a bias or mask for one vector of queries, keys x queries
  std::size_t values;       // of a block of keys, rows padded to full vectors
  std::size_t widened;      // keys or values of a block as float, if they are bfloat16
  std::size_t bytes;

  constexpr explicit attention_scratch(const call& c)
      : attention_scratch(extent(c, attention_loops(c.loops).query),
                          extent(c, attention_loops(c.loops).depth),
                          extent(c, attention_loops(c.loops).value), is_narrow(c)) {}

 private:
  constexpr attention_scratch(std::size_t query, std::size_t depth, std::size_t value, bool narrow)
      : queries(0),
        results(queries + capacity(query) * depth * sizeof(float)),
        running_max(results + capacity(query) * round_up(value, max_dot_lanes) * sizeof(float)),
        running_sum(running_max + capacity(query) * sizeof(float)),
        rescale(running_sum + capacity(query) * sizeof(float)),
        scores(rescale + max_attention_tile * sizeof(float)),
        bias(scores + attention_key_block * max_attention_tile * sizeof(float)),
        values(bias + attention_key_block * max_dot_lanes * sizeof(float)),
        widened(values + attention_key_block * round_up(value, max_dot_lanes) * sizeof(float)),
        bytes(widened + (narrow
                             ? attention_key_block *
                                   round_up(std::max(depth, value), max_dot_lanes) * sizeof(float)
                             : 0)) {}

  static constexpr std::size_t extent(const call& c, int loop) {
    return static_cast<std::size_t>(c.extent[loop]);
  }
  static constexpr bool is_narrow(const call& c) {
    return operand_of(c, role::key).type == dtype::bfloat16 ||
           operand_of(c, role::value).type == dtype::bfloat16;
  }
  static constexpr std::size_t capacity(std::size_t query) {
    return round_up(std::min(query, attention_query_block), max_attention_tile);
  }
};

// The bytes of scratch of the forward attention. Depends on the extents and the types of keys and
// values only, and never shrinks when an extent grows; independent of the keys, and of the queries
// beyond a block.
constexpr std::size_t attention_scratch_bytes(const call& c) {
  return attention_scratch(c).bytes;
}

}  // namespace weft::kernels
#include "weft/header_end.hpp"
