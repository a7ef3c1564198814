// softmax(QKᵀ)V becomes one operation with the same results, unless its scores are needed.
#include "weft/passes/fuse_attention.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <limits>

#include "passes/attended.hpp"

namespace {

using weft::op;
using weft::testing::count, weft::testing::output_node;
using namespace weft::testing::attention;

constexpr auto all_below = std::numeric_limits<std::int64_t>::min();
constexpr auto all_above = std::numeric_limits<std::int64_t>::max();

struct plain {
  constexpr auto operator()(weft::scope s) const {
    auto [q, k, v] = operands_in(s);
    return weft::dot<KeyPos>(weft::nn::attention_weights<HeadDim, KeyPos>(q, k), v);
  }
};
bool becomes_one() {
  weft::graph const& g = attended<plain>();
  weft::node const& n = output_node(g);
  return n.kind == op::attention && n.operands == 3 && count(g, op::softmax) == 0 &&
         count(g, op::dot) == 0 && n.scale > 0.4472 && n.scale < 0.4473 && soft_cap_of(n) == 0 &&
         band_lowest(n) == all_below && band_highest(n) == all_above &&
         key_axis(n) == &weft::info_of<KeyPos> && depth_axis(n) == &weft::info_of<HeadDim> &&
         query_axis(n) == &weft::info_of<Pos>;
}

template <class Mask>
struct masked {
  constexpr auto operator()(weft::scope s) const {
    auto [q, k, v] = operands_in(s);
    auto const weights = weft::nn::attention_weights<HeadDim, KeyPos>(q, k, Mask()(s));
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
struct widest_window {
  constexpr auto operator()(weft::scope) const {
    return weft::nn::sliding_window<Pos, KeyPos>(greatest, least);
  }
  static constexpr int greatest = std::numeric_limits<int>::max();
  static constexpr int least = std::numeric_limits<int>::min();
};
struct sum_beyond_int32 {
  constexpr auto operator()(weft::scope) const {
    return positions<KeyPos>() <= positions<Pos>() + (widest_window::greatest - 5) &&
           positions<KeyPos>() - 3 + widest_window::least <= positions<Pos>();
  }
};
struct cached_window {
  constexpr auto operator()(weft::scope s) const {
    auto const query = positions<Pos>() + offset(s);
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
    auto const of = operands_in(s);
    auto const mask =
        s.input<"seen", bool, Pos, KeyPos>() && s.input<"there", bool, Batch, KeyPos>();
    auto const near = s.param<"near", Pos, KeyPos>();
    auto const of_head = s.param<"of_head", Heads, KeyPos>();
    auto const attend = [&](auto const& query) {
      auto const scores = weft::dot<HeadDim>(query, of.key) + near + of_head;
      return weft::dot<KeyPos>(weft::softmax<KeyPos>(weft::where(mask, scores, -weft::infinity)),
                               of.value);
    };
    return attend(of.query) + attend(of.query * of.query);
  }
};
template <class Mask>
bool has_band(std::int64_t lowest, std::int64_t highest, int operands) {
  weft::graph const& g = attended<masked<Mask>>();
  weft::node const& n = output_node(g);
  bool const none_left = operands > 3 || count(g, op::positions) == 0;
  return n.kind == op::attention && band_lowest(n) == lowest && band_highest(n) == highest &&
         n.operands == operands && none_left;
}

using option = weft::attention_option;
template <class Mask>
bool has_options(std::initializer_list<option> what, std::int64_t length_more = 0) {
  weft::graph const& g = attended<masked<Mask>>();
  weft::node const& n = output_node(g);
  unsigned bits = 0;
  for (option const o : what) bits |= 1u << static_cast<unsigned>(o);
  return n.options == bits && weft::length_more(n) == length_more;
}

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
bool takes_everything() {
  weft::graph const& g = attended<everything>();
  weft::node const& n = output_node(g);
  return n.kind == op::attention && n.operands == 4 && soft_cap_of(n) == 3 && n.scale > 1.9999 &&
         n.scale < 2.0001 && band_highest(n) == 0 && count(g, op::tanh) == 0;
}

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
    auto const scores = where(causal()(s), weft::dot<HeadDim>(q, k), -1e9f);
    return weft::dot<KeyPos>(weft::softmax<KeyPos>(scores), v);
  }
};
struct weights_too {
  constexpr auto operator()(weft::scope s) const {
    auto [q, k, v] = operands_in(s);
    auto const weights = weft::nn::attention_weights<HeadDim, KeyPos>(q, k);
    return weft::results(weft::as<"output">(weft::dot<KeyPos>(weights, v)),
                         weft::as<"weights">(weights));
  }
};
struct numbers {
  constexpr auto operator()(weft::scope s) const {
    auto [q, k, v] = operands_in(s);
    auto const weights = weft::nn::attention_weights<HeadDim, KeyPos>(q, k);
    return weft::dot<KeyPos>(weights, s.input<"v", float, KeyPos>());
  }
};

BOOST_AUTO_TEST_SUITE(attention_fusion, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(softmax_of_scores_times_values_becomes_one_operation) {
  BOOST_TEST((becomes_one()));
  BOOST_TEST((takes_everything()));
  BOOST_TEST((output_node(attended<one_query>()).kind == op::attention));
  BOOST_TEST((query_axis(output_node(attended<one_query>())) == nullptr));
}

BOOST_AUTO_TEST_CASE(masks_by_position_become_bands_lengths_and_offsets) {
  BOOST_TEST((has_band<causal>(all_below, 0, 3)));
  BOOST_TEST((has_band<strictly_before>(all_below, -1, 3)));
  BOOST_TEST((has_band<window>(-2, 1, 3)));
  BOOST_TEST((has_band<tightest_first>(-2, 1, 3)));
  BOOST_TEST((has_band<tightest_last>(-2, 1, 3)));
  BOOST_TEST((has_band<everything_seen>(all_below, all_above, 3)));
  BOOST_TEST((has_band<valid>(all_below, all_above, 4)));
  BOOST_TEST((has_band<valid_and_causal>(all_below, 0, 5)));
  BOOST_TEST((has_band<valid_for_each_query>(all_below, all_above, 4)));
  BOOST_TEST((has_band<cached>(all_below, 0, 4)));
  BOOST_TEST((has_band<cached_causal>(all_below, 0, 4)));
  BOOST_TEST((has_band<widest_window>(-widest_window::greatest, widest_window::least, 3)));
  BOOST_TEST((has_band<sum_beyond_int32>(all_below, all_above, 5)));
  BOOST_TEST((has_band<cached_window>(-2, 0, 4)));
  BOOST_TEST((has_band<cached_and_filled>(all_below, 0, 5)));
  BOOST_TEST((has_band<two_offsets>(all_below, 0, 5)));
  BOOST_TEST((has_band<offset_of_one_side>(all_below, 0, 5)));
  BOOST_TEST((has_band<several_lengths>(all_below, all_above, 5)));
  BOOST_TEST((has_options<window>({})));
  BOOST_TEST((has_options<valid>({option::lengths})));
  BOOST_TEST((has_options<valid_and_causal>({option::mask, option::lengths})));
  BOOST_TEST((has_options<valid_for_each_query>({option::lengths})));
  BOOST_TEST((has_options<sum_beyond_int32>({option::mask, option::lengths}, 1)));
  BOOST_TEST((has_options<cached>({option::offset})));
  BOOST_TEST((has_options<cached_window>({option::offset})));
  BOOST_TEST((has_options<cached_and_filled>({option::offset, option::lengths}, 1)));
  BOOST_TEST((has_options<two_offsets>({option::offset, option::lengths}, 1)));
  BOOST_TEST((has_options<offset_of_one_side>({option::offset, option::begins})));
  BOOST_TEST((has_options<several_lengths>({option::mask, option::lengths}, -2)));
}

BOOST_AUTO_TEST_CASE(masks_and_biases_that_attentions_share_are_combined_once) {
  weft::graph const& g = attended<two_of_the_same_mask>();
  BOOST_TEST(count(g, op::attention) == 2);
  BOOST_TEST(count(g, op::logical_and) == 1);
  BOOST_TEST(count(g, op::add) == 2);  // of the biases, and of the results
}

BOOST_AUTO_TEST_CASE(attention_with_a_finite_mask_used_weights_or_scalar_values_is_not_fused) {
  BOOST_TEST((count(attended<finite_mask>(), op::attention) == 0));
  BOOST_TEST((count(attended<weights_too>(), op::attention) == 0));
  BOOST_TEST((count(attended<numbers>(), op::attention) == 0));
}

BOOST_AUTO_TEST_CASE(fusing_attention_preserves_its_loss_and_gradients) {
  means_the_same<plain>();
  means_the_same<masked<causal>>();
  means_the_same<masked<strictly_before>>();
  means_the_same<masked<window>>();
  means_the_same<masked<tightest_first>>();
  means_the_same<masked<tightest_last>>();
  means_the_same<masked<valid>>();
  means_the_same<masked<valid_and_causal>>();
  means_the_same<masked<valid_for_each_query>>();
  means_the_same<masked<cached>>(offsets(6));
  means_the_same<masked<cached_causal>>(offsets(6));
  means_the_same<masked<widest_window>>();
  means_the_same<masked<cached_window>>(offsets(6));
  means_the_same<masked<cached_and_filled>>(offsets(6));
  means_the_same<masked<two_offsets>>(offsets(6));
  means_the_same<masked<offset_of_one_side>>(offsets(6));
  means_the_same<masked<several_lengths>>(offsets(6));
  means_the_same<everything>();
  means_the_same<one_query>();
}

BOOST_AUTO_TEST_CASE(attention_and_its_gradients_match_the_reference_on_every_target) {
  runs<plain>();
  runs<masked<causal>>();
  runs<masked<strictly_before>>();
  runs<masked<window>>();
  runs<masked<valid>>();
  runs<masked<valid_and_causal>>();
  runs<masked<valid_for_each_query>>();
  runs<masked<cached>>();
  runs<masked<cached_window>>();
  runs<masked<cached_and_filled>>();
  runs<masked<several_lengths>>();
  runs<everything>();
  runs<one_query>();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
