// The sum of the gradients of all shards, over the ranks that computed them.
// Internal: no stability promise.
#pragma once
#include "weft/header_begin.hpp"

#include <mpi.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "weft/mpi/communicator.hpp"
#include "weft/mpi/sharding.hpp"
#include "weft/run/engine.hpp"
#include "weft/run/memory.hpp"

namespace weft::detail {

// The floats [begin, end) of the block of gradients, which an instruction finishes.
struct gradient_block {
  std::size_t begin, end;
  int finished_by;  // the index of that instruction; as many as there are: only the whole run
};

// Blocks of gradients that are sent together, once the last of them is finished.
struct gradient_bucket {
  std::size_t first, last;  // of the blocks
  int finished_by;
};

// Groups blocks that lie one after another to at least `least` floats, where there are as many.
std::vector<gradient_bucket> buckets_of(std::span<const gradient_block> blocks, std::size_t least);

// Floats [begin, end), or blocks.
struct segment_range {
  std::size_t begin, end;
  std::size_t size() const { return end - begin; }
};
// The segment of one rank of the n floats or blocks from `begin` on, about as long as the others';
// it ends at a multiple of `unit`, or at the end of all.
segment_range segment_of(std::size_t begin, std::size_t n, std::size_t unit, int rank, int ranks);

// A bucket is cut into a segment for each rank. Each rank sends its partial sums of a segment to
// the rank whose it is; that one adds them along the tree of sharding, and sends the total to all:
// a reduce-scatter and an all-gather, with the same order of additions for any number of ranks. The
// float32 sums are off by at most log2(shards) roundings.
//
// Where MPI reports a fault, the others cannot be told any more: all ranks end.
class gradient_exchange {
 public:
  // With the block of gradients, to which the totals are written. With keeps_segments, a rank gets
  // the totals of its own segments alone, which are whole blocks.
  gradient_exchange(communicator ranks, std::span<float> gradients,
                    std::vector<gradient_block> blocks, bool keeps_segments);

  // What is sent when, a line for each bucket in the order of sending, for the program that
  // computes the gradients.
  std::string explained(const program& p) const;
  // Whether block b is in a segment of this rank, where it keeps its segments.
  bool owns(std::size_t b) const { return owner_[b] == ranks_.rank(); }

  // Begins the sum for one cut of a batch, which outlives it.
  void begin(const sharding& cut);
  // Runs the engine on the arguments of one of this rank's shards, and adds its gradients. Those of
  // its last shard are sent bucket by bucket, while the engine computes the rest.
  void run(engine& e, const tree_step& step, bool is_last) noexcept;
  // Waits until the totals are in the block of gradients. A rank without shards calls it alone.
  void finish() noexcept;

  // Adds the numbers of all ranks, element by element; exact where all but one are 0.
  void sum(std::span<double> numbers) const noexcept;
  // Copies the segments of all ranks, of a block of floats with the layout of the gradients, to all
  // ranks, or to rank `root` alone.
  void gather_segments(std::span<float> floats) const noexcept;
  void gather_segments(std::span<float> floats, int root) const noexcept;

 private:
  // A bucket, and its way to the other ranks.
  struct transfer {
    std::size_t bucket;
    float* received;  // what other ranks sent of this rank's segment
    std::vector<MPI_Request> receives, sends;
  };

  // The blocks and the floats of a rank's segment.
  segment_range blocks_of(const gradient_bucket& b, int rank) const;
  segment_range segment(const gradient_bucket& b, int rank) const;
  // A partial sum of all gradients of this rank.
  float* buffer(int number) const;
  // Partial sum `number` of a rank, of this rank's segment of a bucket.
  float* partial_sum(const transfer& t, int rank, int number) const;
  void add(std::size_t bucket, const tree_step& step) noexcept;
  // Begins to send the next bucket, to which all shards of this rank are added.
  void send_next() noexcept;
  void send_segments(transfer& t) noexcept;
  void add_partial_sums(const transfer& t) noexcept;
  // Begins to copy the segments of a bucket to all ranks.
  void gather(std::size_t bucket, float* all, MPI_Request& done) const noexcept;
  void check(int returned, const char* called) const noexcept;
  // Whether the requests are complete, for which it may wait.
  bool complete(std::vector<MPI_Request>& requests, bool waits) const noexcept;
  void advance(bool waits) noexcept;

  communicator ranks_;
  std::span<float> gradients_;
  std::vector<gradient_block> blocks_;
  std::vector<gradient_bucket> buckets_;
  std::vector<int> owner_;  // the rank of each block
  // Of each bucket's segments, in floats of the bucket.
  std::vector<std::vector<int>> size_, begin_;
  std::size_t own_floats_ = 0;  // in the segments of this rank
  bool keeps_segments_;

  const sharding* cut_ = nullptr;
  std::vector<aligned_bytes> buffers_;  // the partial sums of this rank
  aligned_bytes received_;              // those of other ranks, of this rank's segments
  std::size_t received_bytes_ = 0;
  std::vector<int> first_received_;  // of each rank: how many partial sums lie before its own
  // In the order in which they are finished, which all ranks begin to send them in.
  std::vector<transfer> transfers_;
  std::size_t sent_ = 0, added_ = 0;  // of them
  float* next_received_ = nullptr;
  std::vector<float*> stack_;  // of the partial sums that are being added
  std::vector<MPI_Request> gathers_;
};

}  // namespace weft::detail
#include "weft/header_end.hpp"
