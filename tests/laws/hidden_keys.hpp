// Keys that a mask hides have no effect on a query: the check, for attention of any program.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "laws/attention_inputs.hpp"
#include "support/greater_error.hpp"
#include "weft/weft.hpp"

namespace weft::testing::laws {

template <class View>
std::vector<float> elements(const View& x) {
  return {x.data(), x.data() + x.size()};
}

// Of keys and values [batch, keys, heads, ...] and a result [batch, queries, heads, ...].
struct attention_sizes {
  std::size_t batch, queries, keys, heads;
};
struct spoiled {
  bool keys, values;
};
// Checks that NaN and infinities in some keys, values or both reach the results of the queries that
// see them, and that others change by `rounding` at most. run(keys, values) returns the elements of
// the result; sees(b, h, i, j) tells whether query i sees key j. Returns the number of queries that
// are not reached, each head and each of the three times that keys are spoiled counted.
template <class Keys, class Values, class Run, class Sees>
std::size_t check_that_hidden_has_no_effect(const attention_sizes& n, const Keys& keys,
                                            const Values& values, spoiled what, double rounding,
                                            Run run, Sees sees) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float contents[]{nan, infinity, -infinity, 1};
  const std::vector<float> before = run(keys, values);
  std::size_t hidden = 0;
  for (const std::size_t every : {1u, 2u, 11u}) {
    const auto is_spoiled = [&](std::size_t b, std::size_t j) {
      return (b + j) % every == every - 1;
    };
    const auto spoil = [&](auto array, std::size_t different) {
      const auto x = array.view();
      const std::size_t row = x.size() / (n.batch * n.keys);
      for (std::size_t i = 0; i < x.size(); ++i)
        if (is_spoiled(i / row / n.keys, i / row % n.keys))
          x.data()[i] = contents[(i / row + i) % different];
      return array;
    };
    const std::vector<float> after = run(what.keys ? spoil(Keys(keys.view()), 4) : keys,
                                         what.values ? spoil(Values(values.view()), 3) : values);
    const std::size_t width = after.size() / (n.batch * n.queries * n.heads);
    double distant = 0;      // the largest change of results that hidden keys must not reach
    std::size_t finite = 0;  // of the others
    for (std::size_t row = 0; row < after.size() / width; ++row) {
      const std::size_t h = row % n.heads, i = row / n.heads % n.queries,
                        b = row / n.heads / n.queries;
      bool knows = false;
      for (std::size_t j = 0; j < n.keys && !knows; ++j)
        knows = is_spoiled(b, j) && sees(b, h, i, j);
      hidden += !knows;
      for (std::size_t at = row * width; at < (row + 1) * width; ++at)
        if (knows)
          finite += std::isfinite(after[at]);
        else
          distant = greater_error(distant, static_cast<double>(std::abs(after[at] - before[at])));
    }
    BOOST_TEST_CONTEXT(n.queries << " queries, " << n.keys << " keys, every " << every) {
      BOOST_TEST(distant <= rounding);
      BOOST_TEST(finite == 0u);
    }
  }
  return hidden;
}

}  // namespace weft::testing::laws
