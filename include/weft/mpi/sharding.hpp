// How a global batch is cut into shards, and in which order the shards' gradients are added.
// Internal: no stability promise.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <span>
#include <vector>

#include "weft/language.hpp"

namespace weft {

// The examples [begin, end) of a batch.
struct example_range {
  std::size_t begin;  // the first
  std::size_t end;    // after the last
  // How many.
  std::size_t size() const { return end - begin; }
};

}  // namespace weft

namespace weft::detail {

// A part of the global batch whose gradient one rank computes by itself.
struct shard {
  int number;
  int rank;
  example_range examples;  // of the global batch
};

// What a rank does with the gradient of a shard, or with the partial sum of a rank: it is put on a
// stack of buffers, and then `merges` times the last buffer is added to the one below.
struct tree_step {
  int shard;   // the index in sharding::shards of the (first) shard
  int rank;    // whose
  int buffer;  // its place on that rank's stack
  int merges;
};

// The cut of one global batch. Shard s of S has the examples [s n / S, (s + 1) n / S) of n where
// the ranks' parts end between shards, as those of part_of do; else the ends of shards are moved to
// those of the parts. Gradients are added along a binary tree over the numbers of the shards, whose
// leaves without examples are left out: the order depends on the cut alone. Each rank adds up the
// largest subtrees that it has whole; the tree above them is the same for every element.
struct sharding {
  std::size_t examples = 0;       // of all ranks
  std::vector<shard> shards;      // those with examples, in their order
  std::vector<tree_step> within;  // for each shard, how its rank adds it
  std::vector<tree_step> above;   // for each partial sum, in the order of shards
  std::vector<int> partial_sums;  // of each rank: how many

  // With the number of examples of each rank, in their order. Throws weft::error where no rank has
  // an example, or more ranks have than there are shards.
  sharding(std::span<const std::size_t> examples_of_ranks, int shard_count);
  sharding() = default;

  // The weight of a shard in means over the examples.
  double share(const shard& s) const {
    return static_cast<double>(s.examples.size()) / static_cast<double>(examples);
  }
};

// The examples of a global batch of n that a rank has, so that its part ends between shards.
example_range part_of(std::size_t n, int rank, int ranks, int shard_count);

}  // namespace weft::detail
#include "weft/header_end.hpp"
