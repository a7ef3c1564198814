// The cut of a batch, and the order of additions, without ranks.
#include "weft/mpi/sharding.hpp"

#include <boost/test/unit_test.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "weft/mpi/gradient_exchange.hpp"
#include "weft/run/error.hpp"

namespace {

using weft::detail::sharding;

// The additions of a cut as text: ((0+1)+2).
std::string order_of(const sharding& cut) {
  std::vector<std::vector<std::string>> stacks(cut.partial_sums.size());
  for (const auto& s : cut.within) {
    auto& stack = stacks[static_cast<std::size_t>(s.rank)];
    BOOST_TEST(static_cast<std::size_t>(s.buffer) == stack.size());
    stack.push_back(std::to_string(cut.shards[static_cast<std::size_t>(s.shard)].number));
    for (int m = 0; m < s.merges; ++m) {
      const auto right = stack.back();
      stack.pop_back();
      stack.back() = "(" + stack.back() + "+" + right + ")";
    }
  }
  for (std::size_t r = 0; r < stacks.size(); ++r)
    BOOST_TEST(stacks[r].size() == static_cast<std::size_t>(cut.partial_sums[r]));
  std::vector<std::string> stack;
  for (const auto& s : cut.above) {
    stack.push_back(stacks[static_cast<std::size_t>(s.rank)][static_cast<std::size_t>(s.buffer)]);
    for (int m = 0; m < s.merges; ++m) {
      const auto right = stack.back();
      stack.pop_back();
      stack.back() = "(" + stack.back() + "+" + right + ")";
    }
  }
  BOOST_TEST(stack.size() == 1u);
  return stack.back();
}

std::vector<std::size_t> parts(std::size_t n, int ranks, int shards) {
  std::vector<std::size_t> sizes;
  for (int r = 0; r < ranks; ++r)
    sizes.push_back(weft::detail::part_of(n, r, ranks, shards).size());
  return sizes;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shardings)

BOOST_AUTO_TEST_CASE(eight_shards_are_added_in_pairs) {
  const std::vector<std::size_t> whole{16};
  BOOST_TEST(order_of(sharding(whole, 8)) == "(((0+1)+(2+3))+((4+5)+(6+7)))");
}

BOOST_AUTO_TEST_CASE(the_order_does_not_depend_on_the_ranks) {
  for (int shards = 1; shards <= 17; ++shards)
    for (const std::size_t n : {1u, 2u, 3u, 7u, 8u, 20u, 33u}) {
      const std::vector<std::size_t> whole{n};
      const sharding one(whole, shards);
      std::size_t examples = 0;
      for (const auto& s : one.shards) {
        BOOST_TEST(s.examples.begin == examples);
        BOOST_TEST(s.examples.size() > 0u);
        examples = s.examples.end;
      }
      BOOST_TEST(examples == n);
      for (int ranks = 1; ranks <= 20; ++ranks) {
        const sharding many(parts(n, ranks, shards), shards);
        BOOST_TEST(order_of(many) == order_of(one), n << " on " << ranks);
        BOOST_TEST(many.shards.size() == one.shards.size());
      }
    }
}

BOOST_AUTO_TEST_CASE(parts_of_any_size_have_whole_shards) {
  const std::vector<std::size_t> sizes{5, 0, 1, 9, 0};
  const sharding cut(sizes, 8);
  BOOST_TEST(cut.shards.size() <= 8u);
  std::vector<std::size_t> of_rank(5);
  int number = -1;
  for (const auto& s : cut.shards) {
    of_rank[static_cast<std::size_t>(s.rank)] += s.examples.size();
    BOOST_TEST(s.number > number);
    number = s.number;
  }
  BOOST_TEST((of_rank == sizes));
  BOOST_TEST(number < 8);
  order_of(cut);
  // As many ranks as shards: each has one.
  const std::vector<std::size_t> eight{1, 1, 1, 1, 1, 1, 1, 93};
  BOOST_TEST(order_of(sharding(eight, 8)) == "(((0+1)+(2+3))+((4+5)+(6+7)))");
}

BOOST_AUTO_TEST_CASE(batches_that_cannot_be_cut_are_refused) {
  const std::vector<std::size_t> none{0, 0}, many{1, 1, 1};
  BOOST_CHECK_THROW(sharding(none, 8), weft::error);
  BOOST_CHECK_THROW(sharding(many, 2), weft::error);
}

BOOST_AUTO_TEST_CASE(buckets_cover_all_blocks_and_end_when_the_last_is_finished) {
  const std::vector<weft::detail::gradient_block> blocks{
      {0, 100, 7}, {100, 200, 9}, {250, 300, 3}, {300, 301, 4}, {301, 900, 1}, {900, 901, 2}};
  const auto buckets = weft::detail::buckets_of(blocks, 200);
  BOOST_TEST(buckets.size() == 3u);
  std::size_t next = 0;
  for (const auto& b : buckets) {
    BOOST_TEST(b.first == next);
    next = b.last;
  }
  BOOST_TEST(next == blocks.size());
  BOOST_TEST(buckets[0].finished_by == 9);
  BOOST_TEST(buckets[1].finished_by == 4);
}

BOOST_AUTO_TEST_CASE(buckets_end_where_blocks_do_not_lie_one_after_another) {
  const std::vector<weft::detail::gradient_block> blocks{{0, 10, 1}, {10, 20, 1}, {32, 40, 1}};
  const auto buckets = weft::detail::buckets_of(blocks, 1000);
  BOOST_TEST(buckets.size() == 2u);
  BOOST_TEST(buckets[0].last == 2u);
}

BOOST_AUTO_TEST_CASE(segments_of_all_ranks_are_about_as_long) {
  for (const std::size_t n : {0u, 1u, 5u, 16u, 100u, 262144u})
    for (const std::size_t unit : {1u, 16u})
      for (const int ranks : {1, 2, 3, 8, 64}) {
        std::size_t end = 7;
        for (int r = 0; r < ranks; ++r) {
          const auto s = weft::detail::segment_of(7, n, unit, r, ranks);
          BOOST_TEST(s.begin == end);
          BOOST_TEST(s.size() <= n / static_cast<std::size_t>(ranks) + 2 * unit);
          end = s.end;
        }
        BOOST_TEST(end == 7 + n);
      }
}

BOOST_AUTO_TEST_SUITE_END()
