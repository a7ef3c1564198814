// How many scores the kernels compute where a band makes only some keys visible.
#include "kernels/band.hpp"

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

// (query, key) pairs whose scores the forward kernel computes: it handles each vector of queries by
// itself.
std::ptrdiff_t pairs_forward(std::ptrdiff_t n, std::ptrdiff_t lanes) {
  const band_range sees({-reach, reach, 0}, {0, n}, {0, n});
  std::ptrdiff_t pairs = 0;
  for_blocks(n, lanes, [&](index_range queries) { pairs += lanes * sees.keys(queries).size(); });
  return pairs;
}

// Pairs of the adjoint kernel: each block of keys, with the queries that see any of them.
std::ptrdiff_t pairs_backward(std::ptrdiff_t n) {
  const band window{-reach, reach, 0};
  std::ptrdiff_t pairs = 0;
  for_blocks(n, max_adjoint_keys, [&](index_range keys) {
    const index_range queries = band_range(window, {0, n}, keys).queries({0, keys.size()});
    pairs += queries.size() * keys.size();
  });
  return pairs;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(visible_keys)

BOOST_AUTO_TEST_CASE(the_scores_computed_for_a_window_grow_linearly_with_length) {
  for (const std::ptrdiff_t n : {1024, 2048, 4096, 8192}) {
    for (const std::ptrdiff_t lanes : {1, 8, 16})
      BOOST_TEST(pairs_forward(n, lanes) <= n * (2 * reach + lanes));
    BOOST_TEST(pairs_backward(n) <= n * (2 * reach + max_adjoint_keys));
  }
}

BOOST_AUTO_TEST_SUITE_END()
