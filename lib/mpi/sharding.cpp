#include "weft/mpi/sharding.hpp"

#include <algorithm>
#include <string>

#include "weft/run/error.hpp"

namespace weft::detail {

namespace {

// The first example of shard s of S: n s / S, without overflow.
std::size_t begin_of_shard(std::size_t n, int s, int S) {
  const auto at = static_cast<std::size_t>(s), all = static_cast<std::size_t>(S);
  return n / all * at + n % all * at / all;
}

// The numbers of the first shards of each rank, and the end.
int first_shard(int rank, int ranks, int shard_count) {
  return static_cast<int>(std::int64_t{rank} * shard_count / ranks);
}

// Whether every rank's part begins where a shard does.
bool parts_end_between_shards(std::span<const std::size_t> begin, std::size_t n, int shard_count) {
  return std::ranges::all_of(begin, [&](std::size_t b) {
    for (int s = 0; s <= shard_count; ++s)
      if (begin_of_shard(n, s, shard_count) == b) return true;
    return false;
  });
}

// Shards that end where the ranks' parts do: each rank with examples has at least one, and about as
// many of all as it has examples.
std::vector<shard> shards_of_parts(std::span<const std::size_t> begin, std::size_t n,
                                   int shard_count) {
  std::vector<int> ranks;
  for (std::size_t r = 0; r + 1 < begin.size(); ++r)
    if (begin[r] < begin[r + 1]) ranks.push_back(static_cast<int>(r));
  const auto count = static_cast<int>(ranks.size());
  std::vector<shard> cut;
  int first = 0;
  for (int i = 0; i < count; ++i) {
    const auto r = static_cast<std::size_t>(ranks[static_cast<std::size_t>(i)]);
    const std::size_t size = begin[r + 1] - begin[r];
    const auto wanted = static_cast<int>(
        static_cast<double>(begin[r + 1]) / static_cast<double>(n) * shard_count + 0.5);
    // At least one shard is left for each of the ranks after this one.
    const int last = std::clamp(wanted, first + 1, shard_count - (count - 1 - i));
    const int own = last - first;
    for (int s = 0; s < own; ++s)
      cut.push_back(
          {first + s,
           ranks[static_cast<std::size_t>(i)],
           {begin[r] + begin_of_shard(size, s, own), begin[r] + begin_of_shard(size, s + 1, own)}});
    first = last;
  }
  return cut;
}

// Walks the tree over the numbers [lowest, lowest + width) of the shards.
class tree {
 public:
  explicit tree(sharding& of) : s_(&of) {}

  // Adds the steps of a subtree. Returns whether it has shards with examples.
  bool add(std::size_t first, std::size_t last, int lowest, int width) {
    if (first == last) return false;
    const bool whole = s_->shards[first].rank == s_->shards[last - 1].rank;
    if (whole) {
      add_within(first, last, lowest, width);
      const auto rank = s_->shards[first].rank;
      int& sums = s_->partial_sums[static_cast<std::size_t>(rank)];
      s_->above.push_back({static_cast<int>(first), rank, sums++, 0});
      return true;
    }
    const std::size_t middle = split(first, last, lowest + width / 2);
    const bool left = add(first, middle, lowest, width / 2);
    const bool right = add(middle, last, lowest + width / 2, width / 2);
    if (left && right) ++s_->above.back().merges;
    return left || right;
  }

 private:
  std::size_t split(std::size_t first, std::size_t last, int number) const {
    while (first < last && s_->shards[first].number < number) ++first;
    return first;
  }
  // The same within a rank: `depth` buffers are on its stack above the earlier partial sums.
  void add_within(std::size_t first, std::size_t last, int lowest, int width, int depth = 0) {
    if (first == last) return;
    if (last - first == 1) {
      const auto rank = s_->shards[first].rank;
      const int below = s_->partial_sums[static_cast<std::size_t>(rank)];
      s_->within.push_back({static_cast<int>(first), rank, below + depth, 0});
      return;
    }
    const std::size_t middle = split(first, last, lowest + width / 2);
    add_within(first, middle, lowest, width / 2, depth);
    add_within(middle, last, lowest + width / 2, width / 2, depth + (middle > first));
    if (first < middle && middle < last) ++s_->within.back().merges;
  }

  sharding* s_;
};

}  // namespace

example_range part_of(std::size_t n, int rank, int ranks, int shard_count) {
  return {begin_of_shard(n, first_shard(rank, ranks, shard_count), shard_count),
          begin_of_shard(n, first_shard(rank + 1, ranks, shard_count), shard_count)};
}

sharding::sharding(std::span<const std::size_t> examples_of_ranks, int shard_count) {
  std::vector<std::size_t> begin{0};
  for (const std::size_t n : examples_of_ranks) begin.push_back(begin.back() + n);
  examples = begin.back();
  if (examples == 0) throw error("distributed: no rank has an example");
  const auto with = std::ranges::count_if(examples_of_ranks, [](std::size_t n) { return n > 0; });
  if (with > shard_count)
    throw error("distributed: " + std::to_string(with) +
                " ranks have examples, and the batch is "
                "cut into " +
                std::to_string(shard_count) + " shards; raise sharding_options::shards");
  if (parts_end_between_shards(begin, examples, shard_count)) {
    std::size_t r = 0;
    for (int s = 0; s < shard_count; ++s) {
      const example_range range{begin_of_shard(examples, s, shard_count),
                                begin_of_shard(examples, s + 1, shard_count)};
      if (range.size() == 0) continue;
      while (begin[r + 1] <= range.begin) ++r;
      shards.push_back({s, static_cast<int>(r), range});
    }
  } else {
    shards = shards_of_parts(begin, examples, shard_count);
    std::erase_if(shards, [](const shard& s) { return s.examples.size() == 0; });
  }
  partial_sums.resize(examples_of_ranks.size());
  int width = 1;
  while (width < shard_count) width *= 2;
  tree(*this).add(0, shards.size(), 0, width);
}

}  // namespace weft::detail
