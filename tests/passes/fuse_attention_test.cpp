// softmax(QKᵀ)V becomes one operation with the same results, unless its scores are needed.
#include "weft/passes/fuse_attention.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

#include "passes/attended.hpp"

namespace {

using weft::op, weft::testing::count, weft::testing::output_node;
using namespace weft::testing::attention;

struct plain {
  constexpr auto operator()(weft::scope s) const {
    auto [q, k, v] = operands_in(s);
    return weft::dot<KeyPos>(weft::nn::attention_weights<HeadDim, KeyPos>(q, k), v);
  }
};
template <class Mask>
struct masked {
  constexpr auto operator()(weft::scope s) const {
    auto [q, k, v] = operands_in(s);
    const auto weights = weft::nn::attention_weights<HeadDim, KeyPos>(q, k, Mask()(s));
    return weft::dot<KeyPos>(v, weights);
  }
};
using weft::positions;
struct causal {
  constexpr auto operator()(weft::scope) const { return weft::nn::causal<Pos, KeyPos>(); }
};
struct strictly_before {
  constexpr auto operator()(weft::scope) const { return positions<Pos>() > positions<KeyPos>(); }
};
struct window {
  constexpr auto operator()(weft::scope) const {
    return positions<KeyPos>() <= positions<Pos>() + 1 &&
           positions<Pos>() - positions<KeyPos>() <= 2;
  }
};
// Of several limits on one side the tightest one holds, in any order.
struct tightest_first {
  constexpr auto operator()(weft::scope s) const {
    return window()(s) && positions<KeyPos>() <= positions<Pos>() + 3 &&
           positions<Pos>() - positions<KeyPos>() <= 4;
  }
};
struct tightest_last {
  constexpr auto operator()(weft::scope s) const {
    return positions<KeyPos>() <= positions<Pos>() + 3 &&
           positions<Pos>() - positions<KeyPos>() <= 4 && window()(s);
  }
};
struct everything_seen {
  constexpr auto operator()(weft::scope) const { return positions<KeyPos>() >= 0; }
};
struct valid {
  constexpr auto operator()(weft::scope s) const {
    return positions<KeyPos>() < s.input<"lengths", std::int32_t, Batch>();
  }
};
struct valid_and_causal {
  constexpr auto operator()(weft::scope s) const {
    return valid()(s) && weft::nn::causal<Pos, KeyPos>() && s.input<"mask", bool, Heads, KeyPos>();
  }
};
// A limit for each query is a mask.
struct valid_for_each_query {
  constexpr auto operator()(weft::scope s) const {
    return positions<KeyPos>() < s.input<"lengths", std::int32_t, Batch, Pos>();
  }
};
constexpr auto offset(weft::scope s) {
  return s.input<"offset", std::int32_t, Batch>();
}
struct cached {
  constexpr auto operator()(weft::scope s) const {
    return positions<KeyPos>() <= positions<Pos>() + offset(s);
  }
};
struct cached_causal {
  constexpr auto operator()(weft::scope s) const {
    return weft::nn::causal<Pos, KeyPos>(offset(s));
  }
};
// The bounds are the limits of int: adding them to positions in int32 would wrap around.
constexpr int greatest = std::numeric_limits<int>::max(), least = std::numeric_limits<int>::min();
template <int Left, int Right>
struct sliding {
  constexpr auto operator()(weft::scope) const {
    return weft::nn::sliding_window<Pos, KeyPos>({.left = Left, .right = Right});
  }
};
struct sum_beyond_int32 {
  constexpr auto operator()(weft::scope) const {
    return positions<KeyPos>() <= positions<Pos>() + (greatest - 5) &&
           positions<KeyPos>() - 3 + least <= positions<Pos>();
  }
};
struct cached_window {
  constexpr auto operator()(weft::scope s) const {
    const auto query = positions<Pos>() + offset(s);
    return positions<KeyPos>() <= query && positions<KeyPos>() >= query - 2;
  }
};
struct cached_and_filled {
  constexpr auto operator()(weft::scope s) const {
    return positions<KeyPos>() - offset(s) <= positions<Pos>() &&
           positions<KeyPos>() <= s.input<"last", std::int32_t, Heads>();
  }
};
// A band has one offset.
struct two_offsets {
  constexpr auto operator()(weft::scope s) const {
    return positions<KeyPos>() <= positions<Pos>() + offset(s) &&
           positions<KeyPos>() <= positions<Pos>() + s.input<"other", std::int32_t, Heads>();
  }
};
struct offset_of_one_side {
  constexpr auto operator()(weft::scope s) const {
    return positions<KeyPos>() >= positions<Pos>() &&
           positions<KeyPos>() <= positions<Pos>() + offset(s);
  }
};
// Only one length is fused: the second one becomes a mask, and so does a limit that is subtracted.
struct several_lengths {
  constexpr auto operator()(weft::scope s) const {
    return positions<KeyPos>() + 2 < s.input<"lengths", std::int32_t, Batch>() &&
           positions<KeyPos>() < s.input<"other", std::int32_t>() &&
           positions<KeyPos>() + s.input<"third", std::int32_t>() <= 4;
  }
};
// Two attentions with the same masks and the same biases.
struct two_of_the_same_mask {
  constexpr auto operator()(weft::scope s) const {
    const auto of = operands_in(s);
    const auto mask =
        s.input<"seen", bool, Pos, KeyPos>() && s.input<"there", bool, Batch, KeyPos>();
    const auto near = s.param<"near", Pos, KeyPos>();
    const auto of_head = s.param<"of_head", Heads, KeyPos>();
    const auto attend = [&](const auto& query) {
      const auto scores = weft::dot<HeadDim>(query, of.key) + near + of_head;
      return weft::dot<KeyPos>(weft::softmax<KeyPos>(weft::where(mask, scores, -weft::infinity)),
                               of.value);
    };
    return attend(of.query) + attend(of.query * of.query);
  }
};
// Soft cap and bias, in the order of the formula; grouped heads; values of another width.
struct everything {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, Heads, Group, HeadDim>();
    auto k = s.input<"k", float, Batch, KeyPos, Heads, HeadDim>();
    auto v = s.input<"v", float, Batch, KeyPos, Heads, Width>();
    auto scores = weft::dot<HeadDim>(k, x) * 2;
    auto capped = 3 * tanh(scores / 3) + s.input<"bias", float, Pos, KeyPos>();
    return weft::dot<KeyPos>(weft::softmax<KeyPos>(where(causal()(s), capped, -weft::infinity)), v);
  }
};
// A single query, without a query axis: a decoding step.
struct one_query {
  constexpr auto operator()(weft::scope s) const {
    auto q = s.input<"q", float, Heads, HeadDim>();
    auto k = s.input<"k", float, KeyPos, Heads, HeadDim>();
    return weft::dot<KeyPos>(weft::softmax<KeyPos>(weft::dot<HeadDim>(q, k)), k);
  }
};

// Not fused: a finite mask value, weights that are a result, and scalar values.
struct finite_mask {
  constexpr auto operator()(weft::scope s) const {
    auto [q, k, v] = operands_in(s);
    const auto scores = where(causal()(s), weft::dot<HeadDim>(q, k), -1e9f);
    return weft::dot<KeyPos>(weft::softmax<KeyPos>(scores), v);
  }
};
struct weights_too {
  constexpr auto operator()(weft::scope s) const {
    auto [q, k, v] = operands_in(s);
    const auto weights = weft::nn::attention_weights<HeadDim, KeyPos>(q, k);
    return weft::results(weft::as<"output">(weft::dot<KeyPos>(weights, v)),
                         weft::as<"weights">(weights));
  }
};
struct numbers {
  constexpr auto operator()(weft::scope s) const {
    auto [q, k, v] = operands_in(s);
    const auto weights = weft::nn::attention_weights<HeadDim, KeyPos>(q, k);
    return weft::dot<KeyPos>(weights, s.input<"v", float, KeyPos>());
  }
};

BOOST_AUTO_TEST_SUITE(attention_fusion, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(softmax_of_scores_times_values_becomes_one_operation) {
  const weft::node& n = output_node(attended<plain>());
  BOOST_TEST(n.scale == 1 / std::sqrt(5.0), boost::test_tools::tolerance(1e-7));
  BOOST_TEST(weft::key_axis(n) == &weft::info_of<KeyPos>);
  BOOST_TEST(weft::depth_axis(n) == &weft::info_of<HeadDim>);
  BOOST_TEST(query_axis(n) == &weft::info_of<Pos>);
  BOOST_TEST(count(attended<plain>(), op::dot) == 0);
  BOOST_TEST(output_node(attended<everything>()).scale == 2.0, boost::test_tools::tolerance(1e-7));
  BOOST_TEST(query_axis(output_node(attended<one_query>())) == nullptr);
}

BOOST_AUTO_TEST_CASE(masks_become_bands_lengths_and_offsets_and_preserve_the_loss_and_gradients) {
  fuses<plain>("");
  fuses<masked<causal>>("[, 0]");
  fuses<masked<strictly_before>>("[, -1]");
  fuses<masked<window>>("[-2, 1]");
  fuses<masked<tightest_first>>("[-2, 1]");
  fuses<masked<tightest_last>>("[-2, 1]");
  becomes<masked<everything_seen>>("");
  fuses<masked<valid>>("lengths");
  fuses<masked<valid_and_causal>>("[, 0] mask lengths");
  fuses<masked<valid_for_each_query>>("lengths");
  fuses<masked<cached>>("[, 0] offset");
  fuses<masked<cached_causal>>("[, 0] offset");
  fuses<masked<sliding<greatest, least>>>("[-2147483647, -2147483648]");
  becomes<masked<sliding<greatest, greatest>>>("[-2147483647, 2147483647]");
  becomes<masked<sliding<greatest, 0>>>("[-2147483647, 0]");
  becomes<masked<sliding<3, greatest>>>("[-3, 2147483647]");
  becomes<masked<sliding<least, greatest>>>("[2147483648, 2147483647]");
  becomes<masked<sum_beyond_int32>>("mask lengths more 1 positions");
  fuses<masked<cached_window>>("[-2, 0] offset");
  fuses<masked<cached_and_filled>>("[, 0] offset lengths more 1");
  fuses<masked<two_offsets>>("[, 0] offset lengths more 1 positions");
  fuses<masked<offset_of_one_side>>("[, 0] offset begins positions");
  fuses<masked<several_lengths>>("mask lengths more -2 positions");
  fuses<everything>("[, 0] bias cap 3");
  fuses<one_query>("");
}

BOOST_AUTO_TEST_CASE(masks_and_biases_that_attentions_share_are_combined_once) {
  const weft::graph& g = attended<two_of_the_same_mask>();
  BOOST_TEST(count(g, op::attention) == 2);
  BOOST_TEST(count(g, op::logical_and) == 1);
  BOOST_TEST(count(g, op::add) == 2);  // of the biases, and of the results
}

BOOST_AUTO_TEST_CASE(attention_with_a_finite_mask_used_weights_or_scalar_values_is_not_fused) {
  BOOST_TEST(count(attended<finite_mask>(), op::attention) == 0);
  BOOST_TEST(count(attended<weights_too>(), op::attention) == 0);
  BOOST_TEST(count(attended<numbers>(), op::attention) == 0);
}

BOOST_AUTO_TEST_CASE(attention_and_its_gradients_match_the_reference_on_every_target) {
  runs<plain>();
  runs<masked<window>>();
  runs<masked<valid_and_causal>>();
  runs<masked<valid_for_each_query>>();
  runs<masked<cached_window>>();
  runs<masked<several_lengths>>();
  runs<everything>();
  runs<one_query>();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
