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

// The largest difference between the sequences together and each alone, in modules which `prepare`
// prepares.
template <bool Causal, class Prepare>
float off_single_sequences(Prepare prepare) {
  module<packed<Causal>, "y", "mean"> many({.seed = 3}), one(many.parameters());
  prepare(many), prepare(one);
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
  for (std::size_t p = 170; p < positions; ++p)
    for (std::size_t h = 0; h < 3; ++h)
      for (std::size_t d = 0; d < 4; ++d)
        BOOST_TEST(y.template at<Pos>(p).template at<Heads>(h)(d) == 0);
  return off;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(segments)

BOOST_AUTO_TEST_CASE(sequences_one_after_another_are_computed_as_each_alone) {
  const auto as_it_is = [](auto&) {};
  // Values of about 1, in sums of at most 139: products of one row add in another order.
  BOOST_TEST(off_single_sequences<false>(as_it_is) < 139 * 0x1p-24f);
  BOOST_TEST(off_single_sequences<true>(as_it_is) < 139 * 0x1p-24f);
}

BOOST_AUTO_TEST_CASE(a_frozen_module_gives_a_sequence_the_same_bits_alone_and_among_others) {
  for (const auto weights : {precision::float32, precision::int8_products}) {
    const auto frozen = [=](auto& net) { net.freeze(weights); };
    BOOST_TEST(off_single_sequences<false>(frozen) == 0);
    BOOST_TEST(off_single_sequences<true>(frozen) == 0);
  }
}

// Attention over sequences of a batch, padded to the longest, and the mean of each.
struct padded {
  struct Batch : axis<up_to<3>> {};
  constexpr auto operator()(scope s) const {
    using shape_of_heads = shape<Heads, HeadDim>;
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    auto length = s.input<"length", std::int32_t, Batch>();
    auto project = [&](auto name) { return nn::linear<Embed, shape_of_heads>(name, x); };
    auto k = rename<Pos, KeyPos>(project(s / "k"));
    auto v = rename<Pos, KeyPos>(project(s / "v"));
    auto y = nn::attention<KeyPos>(nn::dot_product_score<HeadDim>(project(s / "q"), k), v, length);
    auto own = weft::positions<Pos>() < length;
    return results(as<"mean">(sum<Pos>(where(own, y.output, 0.0f)) / cast<float>(length)));
  }
};

BOOST_AUTO_TEST_CASE(a_frozen_module_gives_a_sequence_the_same_bits_with_any_padding) {
  module<padded> net({.seed = 3});
  for (const auto weights : {precision::float32, precision::int8_products}) {
    net.freeze(weights);
    for (const std::size_t length : {1u, 2u, 3u, 6u, 135u, 255u}) {
      const auto mean = [&](std::size_t batch, std::size_t all) {
        std::vector<float> x(batch * all * 12);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
        std::vector<std::int32_t> lengths(batch, static_cast<std::int32_t>(all));
        lengths[0] = static_cast<std::int32_t>(length);
        const view<const float, shape<padded::Batch, Pos, Embed>> padded_x(x.data(), batch, all);
        const auto result = net(arg<"x">(padded_x), arg<"length">(lengths));
        const auto of_first = result.get<"mean">().at<padded::Batch>(0);
        std::vector<float> some;
        for (std::size_t h = 0; h < 3; ++h)
          for (std::size_t d = 0; d < 4; ++d) some.push_back(of_first.at<Heads>(h)(d));
        return some;
      };
      const auto alone = mean(1, length);
      for (const std::size_t batch : {1u, 3u})
        for (const std::size_t all : {length + 1, length + 5, std::size_t{300}})
          BOOST_TEST(mean(batch, all) == alone, boost::test_tools::per_element());
    }
  }
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
