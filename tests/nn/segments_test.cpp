// Sequences one after another against each by itself, and the attention of queries that have limits
// against the reference.
#include "weft/nn/segments.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using namespace weft;

struct Segment : axis<up_to<5>> {};
struct Pos : axis<up_to<300>> {};
struct KeyPos : alias<Pos> {};
struct Place : axis<150> {};
struct Embed : axis<12> {};
struct Heads : axis<3> {};
struct HeadDim : axis<4> {};

// Attention over sequences, alone or causal.
template <bool Causal>
struct packed {
  constexpr auto operator()(scope s) const {
    using shape_of_heads = shape<Heads, HeadDim>;
    auto begins = s.input<"begins", std::int32_t, Segment>();
    auto ends = s.input<"ends", std::int32_t, Segment>();
    auto all = nn::segments<Segment, Pos, KeyPos>(begins, ends);
    auto x = s.input<"x", float, Pos, Embed>() +
             nn::embedding<Place, Embed>(s / "places", all.positions);
    auto project = [&](auto name) { return nn::linear<Embed, shape_of_heads>(name, x); };
    auto q = project(s / "q");
    auto k = rename<Pos, KeyPos>(project(s / "k"));
    auto v = rename<Pos, KeyPos>(project(s / "v"));
    auto scores = nn::dot_product_score<HeadDim>(q, k);
    auto y = [&] {
      if constexpr (Causal)
        return nn::attention<KeyPos>(scores, v, nn::masks(all.visible, nn::causal<Pos, KeyPos>()))
            .output;
      else
        return nn::attention<KeyPos>(scores, v, all.visible).output;
    }();
    auto mean = all.mean(y);
    return results(as<"y">(y), as<"mean">(mean), as<"loss">(sum<Pos, Heads, HeadDim>(y * y)));
  }
};

template <class Model>
constexpr bool is_fused_without_a_mask() {
  const graph g = inference<Model, "y">::make();
  for (int i = 0; i < g.count; ++i)
    if (g.nodes[i].kind == op::attention)
      return testing::has_optional(g.nodes[i], role::begins, role::lengths);
  return false;
}
static_assert(is_fused_without_a_mask<packed<false>>());
static_assert(is_fused_without_a_mask<packed<true>>());

// The segments of the tests: one of them is empty, and the last positions are in none.
const std::vector<std::int32_t> begins{0, 1, 140, 140, 143}, ends{1, 140, 140, 143, 170};
constexpr std::size_t positions = 173;

template <bool Causal>
void check_against_single_sequences() {
  module<packed<Causal>, "y", "mean"> many({.seed = 3}), one(many.parameters());
  std::vector<float> x(positions * 12);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  const auto all = many(arg<"x">(x), arg<"begins">(begins), arg<"ends">(ends));
  const auto y = all.template get<"y">();
  const auto mean = all.template get<"mean">();
  float off = 0;
  for (std::size_t s = 0; s < begins.size(); ++s) {
    const auto first = static_cast<std::size_t>(begins[s]);
    const std::size_t count = static_cast<std::size_t>(ends[s]) - first;
    const std::vector<float> own(x.begin() + std::ptrdiff_t(12 * first),
                                 x.begin() + std::ptrdiff_t(12 * (first + count)));
    const std::vector<std::int32_t> zero{0}, end{ends[s] - begins[s]};
    const auto alone = one(arg<"x">(own), arg<"begins">(zero), arg<"ends">(end));
    const auto of_one = alone.template get<"y">();
    const auto mean_of_one = alone.template get<"mean">();
    for (std::size_t h = 0; h < 3; ++h)
      for (std::size_t d = 0; d < 4; ++d) {
        for (std::size_t p = 0; p < count; ++p)
          off = std::max(off, std::abs(y.template at<Pos>(first + p).template at<Heads>(h)(d) -
                                       of_one.template at<Pos>(p).template at<Heads>(h)(d)));
        if (count > 0)
          off =
              std::max(off, std::abs(mean.template at<Segment>(s).template at<Heads>(h)(d) -
                                     mean_of_one.template at<Segment>(0).template at<Heads>(h)(d)));
      }
  }
  // Values of about 1, in sums of at most 139.
  BOOST_TEST(off < 139 * 0x1p-24f);
  for (std::size_t p = 170; p < positions; ++p)
    for (std::size_t h = 0; h < 3; ++h)
      for (std::size_t d = 0; d < 4; ++d)
        BOOST_TEST(y.template at<Pos>(p).template at<Heads>(h)(d) == 0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(segments)

BOOST_AUTO_TEST_CASE(sequences_one_after_another_are_computed_as_each_alone) {
  check_against_single_sequences<false>();
  check_against_single_sequences<true>();
}

// Limits from below or above alone, of a batch or of queries, strict or not, shifted by a constant.
template <int Form>
struct limited {
  struct Query : axis<9> {};
  struct Key : axis<13> {};
  constexpr auto operator()(scope s) const {
    auto q = s.input<"q", float, Heads, Query, HeadDim>();
    auto k = s.input<"k", float, Heads, Key, HeadDim>();
    auto of_heads = s.input<"of_heads", std::int32_t, Heads>();
    auto of_queries = s.input<"of_queries", std::int32_t, Query>();
    auto of_both = s.input<"of_both", std::int32_t, Query, Heads>();
    auto key = weft::positions<Key>();
    auto mask = [&] {
      if constexpr (Form == 0) return of_queries <= key && key < of_both;
      if constexpr (Form == 1) return key > of_heads && key + 2 <= of_queries;
      if constexpr (Form == 2) return of_heads < key - 3 && key < of_queries && key <= of_both;
      if constexpr (Form == 3) return !(key <= of_queries) && key >= of_heads;
    }();
    auto y = nn::attention<Key>(nn::dot_product_score<HeadDim>(q, k), k, mask).output;
    return results(as<"y">(y), as<"loss">(sum<Heads, Query, HeadDim>(y * y)));
  }
};

BOOST_AUTO_TEST_CASE(limits_of_any_form_match_the_reference) {
  testing::settings s;
  for (const char* const name : {"of_heads", "of_queries", "of_both"}) s.ranges[name] = {-3, 18};
  testing::trial<inference<limited<0>, "y">>(s);
  testing::trial<inference<limited<1>, "y">>(s);
  testing::trial<inference<limited<2>, "y">>(s);
  testing::trial<inference<limited<3>, "y">>(s);
  // Limits that a constant would take beyond int32.
  constexpr double most = std::numeric_limits<std::int32_t>::max();
  s.given["of_heads"] = {most, -most - 1, 4};
  s.given["of_queries"] = {most, -most - 1, most - 1, -most, 5, 12, 0, 13, -1};
  testing::trial<inference<limited<1>, "y">>(s);
  testing::trial<inference<limited<2>, "y">>(s);
  testing::trial<inference<limited<3>, "y">>(s);
  s.given.clear();
  testing::trial<training<limited<0>, "loss">>(s);
  testing::trial<training<limited<2>, "loss">>(s);
}

BOOST_AUTO_TEST_SUITE_END()
