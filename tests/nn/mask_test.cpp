// Masks against explicit loops.
#include "weft/nn/mask.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using namespace weft;

struct Batch : axis<2> {};
struct Pos : axis<5> {};
struct KeyPos : axis<7> {};

struct model {
  constexpr auto operator()(scope s) const {
    const auto offset = s.input<"offset", std::int32_t, Batch>();
    const auto lengths = s.input<"lengths", std::int32_t, Batch, Pos>();
    const auto scores = s.input<"scores", float, Batch, Pos, KeyPos>();
    const auto bias = s.input<"bias", float, KeyPos>();
    const auto window = nn::sliding_window<Pos, KeyPos>({.left = 2, .right = 1});
    const auto seen = [](auto mask) {
      return broadcast<Batch, Pos, KeyPos>(constant(0.0f)) + cast<float>(mask);
    };
    return results(
        as<"causal">(seen(nn::causal<Pos, KeyPos>())),
        as<"behind">(seen(nn::causal<Pos, KeyPos>(offset))), as<"window">(seen(window)),
        as<"valid">(seen(nn::valid<KeyPos>(lengths))),
        as<"weights">(nn::masked_softmax<KeyPos>(scores, nn::masks(window, bias, lengths, bias))));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(masks)

BOOST_AUTO_TEST_CASE(masks_match_explicit_loops) {
  const auto g = weft::testing::kept([] { return traced_graph<model>.unpack(); });
  weft::testing::settings s;
  s.ranges["lengths"] = {-1, 9};
  s.ranges["offset"] = {-2, 3};
  const weft::testing::expectation of(*g, s);
  const auto& given = of.given().inputs;
  const auto result = [&](const char* name, int b, int p, int k) {
    return reference::result(*g, of.values(), name)
        .data.at(static_cast<std::size_t>((b * 5 + p) * 7 + k));
  };
  for (int b = 0; b < 2; ++b)
    for (int p = 0; p < 5; ++p) {
      const auto row = static_cast<std::size_t>(b * 5 + p);
      const auto in_window = [&](int k) { return p - 2 <= k && k <= p + 1; };
      const auto is_valid = [&](int k) { return k < given.at("lengths").at(row); };
      double sum = 0, weights[7];
      for (int k = 0; k < 7; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const double e =
            std::exp(given.at("scores").at(row * 7 + at) + 2 * given.at("bias").at(at));
        sum += weights[k] = in_window(k) && is_valid(k) ? e : 0;
      }
      for (int k = 0; k < 7; ++k) {
        BOOST_TEST(result("causal", b, p, k) == (k <= p));
        BOOST_TEST(result("behind", b, p, k) ==
                   (k <= p + given.at("offset").at(static_cast<std::size_t>(b))));
        BOOST_TEST(result("window", b, p, k) == in_window(k));
        BOOST_TEST(result("valid", b, p, k) == is_valid(k));
        BOOST_TEST(std::abs(result("weights", b, p, k) - (sum > 0 ? weights[k] / sum : 0)) < 1e-14);
      }
    }
}

BOOST_AUTO_TEST_SUITE_END()
