// How much of the scores the kernels go through where a band shows a part of them.
#include "kernels/visible.hpp"

#include <boost/test/unit_test.hpp>
#include <cstddef>

#include "weft/kernels/attention_adjoint_scratch.hpp"
#include "weft/kernels/attention_scratch.hpp"

using namespace weft::kernels;

namespace {

constexpr std::ptrdiff_t reach = 128;  // to each side

template <class F>
void for_blocks(std::ptrdiff_t n, std::ptrdiff_t size, F f) {
  for (std::ptrdiff_t i = 0; i < n; i += size) f(index_range{i, std::min(i + size, n)});
}

// Pairs of queries and keys that the forward kernel has scores for: of vectors of queries, which it
// goes through by themselves.
std::ptrdiff_t pairs_forward(std::ptrdiff_t n, std::ptrdiff_t lanes) {
  const visible sees({-reach, reach, 0}, {0, n}, {0, n});
  std::ptrdiff_t pairs = 0;
  for_blocks(n, lanes, [&](index_range queries) { pairs += lanes * sees.keys(queries).size(); });
  return pairs;
}

// Those of the adjoint: of the blocks of queries that a block of keys meets.
std::ptrdiff_t pairs_backward(std::ptrdiff_t n) {
  const band window{-reach, reach, 0};
  std::ptrdiff_t pairs = 0;
  for_blocks(n, max_adjoint_keys, [&](index_range keys) {
    const index_range queries = visible(window, {0, n}, keys).queries({0, keys.size()});
    pairs += queries.size() * keys.size();
  });
  return pairs;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(visible_keys)

BOOST_AUTO_TEST_CASE(a_window_costs_as_many_pairs_for_every_query) {
  for (const std::ptrdiff_t n : {1024, 2048, 4096, 8192}) {
    for (const std::ptrdiff_t lanes : {1, 8, 16})
      BOOST_TEST(pairs_forward(n, lanes) <= n * (2 * reach + lanes));
    BOOST_TEST(pairs_backward(n) <= n * (2 * reach + max_adjoint_keys));
  }
}

BOOST_AUTO_TEST_SUITE_END()
