#include "passes/attended.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>

namespace weft::testing::attention {

std::unique_ptr<const graph> attended(const graph_parts& model) {
  return kept([&] { return fuse_attention(simplify(keep_outputs(model.unpack()))); });
}

std::string description(const graph& g) {
  const node& n = output_node(g);
  if (n.kind != op::attention) return std::string(name_of(n.kind));
  std::ostringstream text;
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  if (band_lowest(n) != -most - 1 || band_highest(n) != most) {
    text << " [";
    if (band_lowest(n) != -most - 1) text << band_lowest(n);
    text << ", ";
    if (band_highest(n) != most) text << band_highest(n);
    text << "]";
  }
  for_each_operand(n, [&](const slot& s, int) {
    if (s.what == role::element_ids)
      text << " dropout";
    else if (s.is == presence::optional)
      text << ' ' << name_of(s.what);
  });
  if (soft_cap_of(n) != 0) text << " cap " << soft_cap_of(n);
  if (length_more(n) != 0) text << " more " << length_more(n);
  if (relative_origin(n) != 0) text << " origin " << relative_origin(n);
  if (count(g, op::softmax) + count(g, op::tanh) > 0) text << " unfused";
  if (count(g, op::gather) + count(g, op::positions) > 0) text << " positions";
  return text.str().empty() ? "" : text.str().substr(1);
}

void means_the_same(const graph_parts& model, const settings& s) {
  const auto simple = kept([&] { return simplify(keep_outputs(model.unpack(), "loss")); });
  const auto written = kept([&] { return simplify(differentiate(*simple, 0)); });
  const auto fused = kept([&] { return simplify(differentiate(fuse_attention(*simple), 0)); });
  BOOST_TEST(count(*fused, op::attention) == 1);
  BOOST_TEST(count(*fused, op::attention_adjoint) == (written->parameter_count > 0 ? 1 : 0));
  const expectation expected(*written, s);
  const auto values = reference::evaluate(*fused, s.lengths, expected.given());
  const auto compare = [](const auto& a, const auto& b) {
    BOOST_TEST_REQUIRE(a.data.size() == b.data.size());
    double most = 0;
    for (const double x : b.data) most = std::max(most, std::abs(x));
    for (std::size_t i = 0; i < a.data.size(); ++i)
      BOOST_TEST(std::abs(a.data[i] - b.data[i]) <= 1e-12 * most + 1e-300);
  };
  compare(reference::result(*fused, values, "loss"),
          reference::result(*written, expected.values(), "loss"));
  for (int i = 0; i < written->parameter_count; ++i) {
    const auto name = written->name(written->parameters[i].name);
    compare(reference::gradient(*fused, values, name),
            reference::gradient(*written, expected.values(), name));
  }
}

}  // namespace weft::testing::attention
