#include "passes/attended.hpp"

#include <algorithm>
#include <cmath>

namespace weft::testing::attention {

std::unique_ptr<const graph> attended(const graph_parts& model) {
  return kept([&] { return fuse_attention(simplify(keep_outputs(model.unpack()))); });
}

void means_the_same(const graph_parts& model, const settings& s) {
  auto const simple = kept([&] { return simplify(keep_outputs(model.unpack(), "loss")); });
  auto const written = kept([&] { return simplify(differentiate(*simple, 0)); });
  auto const fused = kept([&] { return simplify(differentiate(fuse_attention(*simple), 0)); });
  BOOST_TEST(count(*fused, op::attention) == 1);
  BOOST_TEST(count(*fused, op::attention_adjoint) == (written->parameter_count > 0 ? 1 : 0));
  expectation const expected(*written, s);
  auto const values = reference::evaluate(*fused, s.lengths, expected.given());
  auto const compare = [](const auto& a, const auto& b) {
    BOOST_TEST_REQUIRE(a.data.size() == b.data.size());
    double most = 0;
    for (double const x : b.data) most = std::max(most, std::abs(x));
    for (std::size_t i = 0; i < a.data.size(); ++i)
      BOOST_TEST(std::abs(a.data[i] - b.data[i]) <= 1e-12 * most + 1e-300);
  };
  compare(reference::result(*fused, values, "loss"),
          reference::result(*written, expected.values(), "loss"));
  for (int i = 0; i < written->parameter_count; ++i) {
    auto const name = written->name(written->parameters[i].name);
    compare(reference::gradient(*fused, values, name),
            reference::gradient(*written, expected.values(), name));
  }
}

}  // namespace weft::testing::attention
