// Attention biases: one indexed by relative position is looked up by the fused operation, the
// others are summed into one dense bias, and all have gradients.
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "passes/attended.hpp"
#include "support/central_differences.hpp"
#include "weft/lower/cost.hpp"
#include "weft/ops/gather.hpp"

namespace {

using weft::op, weft::positions, weft::gather, weft::minimum, weft::maximum;
using weft::testing::count, weft::testing::output_node;
using namespace weft::testing::attention;
using option = weft::attention_option;

struct Distance : weft::axis<5> {};       // -2 to 2
struct AnyDistance : weft::axis<13> {};   // -6 to 6: of 7 positions
struct FewDistances : weft::axis<12> {};  // one too few
struct Bounded : weft::axis<weft::up_to<13>> {};

// What biases and masks are computed from.
struct context {
  weft::scope s;
  decltype(operands::query) query;
  weft::tensor<std::int32_t, weft::shape<Batch>> offset;
};
constexpr context context_in(weft::scope s, const operands& o) {
  return {s, o.query, s.input<"offset", std::int32_t, Batch>()};
}
template <class D, class I>
constexpr auto clamped(const I& index) {
  return minimum(maximum(index, 0), static_cast<std::int32_t>(D::extent) - 1);
}

// Attention with a bias added to the scores, under a mask.
struct everything_seen {
  constexpr auto operator()(const context&) const { return positions<KeyPos>() >= 0; }
};
template <class Added, class Mask = everything_seen>
struct biased {
  constexpr auto operator()(weft::scope s) const {
    auto const o = operands_in(s);
    auto const in = context_in(s, o);
    auto const products = weft::dot<HeadDim>(o.query, o.key) / weft::sqrt(HeadDim{});
    auto const scores = where(Mask()(in), products + Added()(in), -weft::infinity);
    return weft::dot<KeyPos>(weft::softmax<KeyPos>(scores), o.value);
  }
};

struct clipped {
  constexpr auto operator()(const context& in) const {
    return gather<Distance>(in.s.param<"table", Heads, Distance>(),
                            clamped<Distance>(positions<KeyPos>() - positions<Pos>() + 2));
  }
};
struct otherwise_clipped {  // one table for all heads
  constexpr auto operator()(const context& in) const {
    auto const distance = 1 + positions<KeyPos>() - (positions<Pos>() - 1);
    return gather<Distance>(in.s.param<"table", Distance>(), maximum(0, minimum(4, distance)));
  }
};
struct all_distances {
  constexpr auto operator()(const context& in) const {
    return gather<AnyDistance>(in.s.param<"any_table", Heads, AnyDistance>(),
                               positions<KeyPos>() - positions<Pos>() + 6);
  }
};
struct all_distances_on_one_side {
  constexpr auto operator()(const context& in) const {
    return gather<AnyDistance>(in.s.param<"table", AnyDistance, Heads>(),
                               minimum(positions<KeyPos>() - positions<Pos>() + 7, 12));
  }
};
// Shaw et al. 2018: the table has a row per query, computed from the query.
struct of_each_query {
  constexpr auto operator()(const context& in) const {
    auto const table = weft::dot<HeadDim>(in.query, in.s.param<"embedding", Distance, HeadDim>());
    return gather<Distance>(table, clamped<Distance>(positions<KeyPos>() - positions<Pos>() + 2));
  }
};
struct from_an_offset {
  constexpr auto operator()(const context& in) const {
    return gather<Distance>(
        in.s.param<"table", Heads, Distance>() +
            in.s.input<"more", float, Batch, Heads, Distance>(),
        clamped<Distance>(positions<KeyPos>() - (positions<Pos>() + in.offset) + 1));
  }
};
template <class... Added>
struct together {
  constexpr auto operator()(const context& in) const { return (Added()(in) + ...); }
};
template <class Added>
struct halved {
  constexpr auto operator()(const context& in) const { return Added()(in) / 2; }
};
struct of_heads {
  constexpr auto operator()(const context& in) const {
    return in.s.param<"of_heads", Heads, KeyPos>();
  }
};
struct of_pairs {
  constexpr auto operator()(const context& in) const {
    return in.s.param<"of_pairs", Pos, KeyPos>();
  }
};
struct of_keys {
  constexpr auto operator()(const context& in) const {
    return in.s.input<"of_keys", float, Batch, Heads, KeyPos>() * in.s.param<"slope", Heads>();
  }
};

struct causal {
  constexpr auto operator()(const context&) const { return weft::nn::causal<Pos, KeyPos>(); }
};
struct cached {
  constexpr auto operator()(const context& in) const {
    return positions<KeyPos>() <= positions<Pos>() + in.offset;
  }
};
struct valid_and_masked {
  constexpr auto operator()(const context& in) const {
    return positions<KeyPos>() < in.s.input<"lengths", std::int32_t, Batch>() &&
           in.s.input<"mask", bool, Heads, KeyPos>();
  }
};

// Dai et al. 2019: the relative bias is scaled together with QKᵀ; a dense bias is added to both.
struct scaled_together {
  constexpr auto operator()(weft::scope s) const {
    auto const o = operands_in(s);
    auto const in = context_in(s, o);
    auto const scores =
        of_pairs()(in) + (weft::dot<HeadDim>(o.query, o.key) + all_distances()(in)) * 0.5f;
    return weft::dot<KeyPos>(weft::softmax<KeyPos>(scores), o.value);
  }
};
// The biases are added after the soft cap.
struct capped {
  constexpr auto operator()(weft::scope s) const {
    auto const o = operands_in(s);
    auto const in = context_in(s, o);
    auto const products = 2 * tanh(weft::dot<HeadDim>(o.query, o.key) / 2);
    auto const scores =
        where(causal()(in), products + clipped()(in) + of_heads()(in), -weft::infinity);
    return weft::dot<KeyPos>(weft::softmax<KeyPos>(scores), o.value);
  }
};
// A single query at an offset.
struct one_query {
  constexpr auto operator()(weft::scope s) const {
    auto q = s.input<"q", float, Batch, Heads, HeadDim>();
    auto k = s.input<"k", float, Batch, KeyPos, Heads, HeadDim>();
    auto const offset = s.input<"offset", std::int32_t, Batch>();
    auto const bias = gather<AnyDistance>(s.param<"table", Heads, AnyDistance>(),
                                          clamped<AnyDistance>(positions<KeyPos>() - offset + 9));
    auto const scores =
        where(positions<KeyPos>() <= offset, weft::dot<HeadDim>(q, k) + bias, -weft::infinity);
    return weft::dot<KeyPos>(weft::softmax<KeyPos>(scores), k);
  }
};

template <class Model>
bool has_options(std::initializer_list<option> what, std::int64_t origin = 0) {
  weft::graph const& g = attended<Model>();
  weft::node const& n = output_node(g);
  unsigned bits = 0;
  for (option const o : what) bits |= weft::bit_of(o);
  return n.kind == op::attention && n.options == bits && relative_origin(n) == origin;
}
template <class Model>
bool is_looked_up() {
  weft::graph const& g = attended<Model>();
  return count(g, op::gather) == 0 && count(g, op::positions) == 0;
}

// Not the pattern of a relative bias, or at another offset than the band: these stay dense biases.
struct from_the_key_back {
  constexpr auto operator()(const context& in) const {
    return gather<Distance>(in.s.param<"table", Distance>(),
                            clamped<Distance>(positions<Pos>() - positions<KeyPos>() + 2));
  }
};
struct every_other_distance {
  constexpr auto operator()(const context& in) const {
    return gather<Distance>(
        in.s.param<"table", Distance>(),
        clamped<Distance>(positions<KeyPos>() + positions<KeyPos>() - positions<Pos>()));
  }
};
struct by_place {
  constexpr auto operator()(const context& in) const {
    return gather<Distance>(in.s.param<"table", Heads, Distance>(),
                            clamped<Distance>(positions<KeyPos>()));
  }
};
struct of_each_key {
  constexpr auto operator()(const context& in) const {
    return gather<Distance>(in.s.param<"table", KeyPos, Distance>(),
                            clamped<Distance>(positions<KeyPos>() - positions<Pos>()));
  }
};
struct clipped_within_the_table {
  constexpr auto operator()(const context& in) const {
    return gather<Distance>(in.s.param<"table", Distance>(),
                            minimum(maximum(positions<KeyPos>() - positions<Pos>(), 1), 4));
  }
};
struct beyond_the_table {
  constexpr auto operator()(const context& in) const {
    return gather<FewDistances>(in.s.param<"table", FewDistances>(),
                                positions<KeyPos>() - positions<Pos>() + 6);
  }
};
struct as_many_as_a_run_has {
  constexpr auto operator()(const context& in) const {
    return gather<Bounded>(in.s.param<"table", Bounded>(),
                           clamped<Bounded>(positions<KeyPos>() - positions<Pos>() + 6));
  }
};
struct of_unclipped_offsets {
  constexpr auto operator()(const context& in) const {
    return gather<AnyDistance>(in.s.param<"table", AnyDistance>(),
                               positions<KeyPos>() - (positions<Pos>() + in.offset) + 6);
  }
};

BOOST_AUTO_TEST_SUITE(biased_attention, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(relative_biases_are_looked_up_and_other_biases_are_dense_operands) {
  BOOST_TEST((has_options<biased<clipped>>({option::relative}, 2)));
  BOOST_TEST((is_looked_up<biased<clipped>>()));
  BOOST_TEST((has_options<biased<clipped, causal>>({option::relative}, 2)));
  BOOST_TEST((has_options<biased<otherwise_clipped, valid_and_masked>>(
      {option::mask, option::lengths, option::relative}, 2)));
  BOOST_TEST((is_looked_up<biased<otherwise_clipped, valid_and_masked>>()));
  BOOST_TEST((has_options<biased<all_distances, causal>>({option::relative}, 6)));
  BOOST_TEST((is_looked_up<biased<all_distances, causal>>()));
  BOOST_TEST((has_options<biased<all_distances_on_one_side>>({option::relative}, 7)));
  BOOST_TEST((has_options<biased<of_each_query>>({option::relative}, 2)));
  BOOST_TEST((is_looked_up<biased<of_each_query>>()));
  BOOST_TEST((has_options<biased<from_an_offset>>({option::offset, option::relative}, 1)));
  BOOST_TEST((has_options<biased<from_an_offset, cached>>({option::offset, option::relative}, 1)));
  BOOST_TEST((is_looked_up<biased<from_an_offset, cached>>()));
  BOOST_TEST((has_options<biased<of_heads>>({option::bias})));
  BOOST_TEST((has_options<biased<of_pairs, causal>>({option::bias})));
  BOOST_TEST((has_options<biased<of_keys>>({option::bias})));
  BOOST_TEST((has_options<biased<together<of_heads, clipped, of_pairs>>>(
      {option::bias, option::relative}, 2)));
  BOOST_TEST((is_looked_up<biased<halved<together<of_heads, clipped, of_pairs>>>>()));
  BOOST_TEST((has_options<scaled_together>({option::bias, option::relative}, 6)));
  BOOST_TEST((is_looked_up<scaled_together>()));
  BOOST_TEST((has_options<capped>({option::bias, option::relative}, 2)));
  BOOST_TEST((soft_cap_of(output_node(attended<capped>())) == 2));
  BOOST_TEST((has_options<one_query>({option::offset, option::lengths, option::relative}, 9)));
  BOOST_TEST((is_looked_up<one_query>()));
}

BOOST_AUTO_TEST_CASE(biases_that_do_not_match_the_relative_pattern_stay_dense) {
  BOOST_TEST((has_options<biased<from_the_key_back>>({option::bias})));
  BOOST_TEST((has_options<biased<every_other_distance>>({option::bias})));
  BOOST_TEST((has_options<biased<by_place>>({option::bias})));
  BOOST_TEST((has_options<biased<of_each_key>>({option::bias})));
  BOOST_TEST((has_options<biased<clipped_within_the_table>>({option::bias})));
  BOOST_TEST((has_options<biased<beyond_the_table>>({option::bias})));
  BOOST_TEST((has_options<biased<as_many_as_a_run_has>>({option::bias})));
  BOOST_TEST((has_options<biased<of_unclipped_offsets>>({option::bias})));
  BOOST_TEST((has_options<biased<from_an_offset, causal>>({option::bias})));
  BOOST_TEST((has_options<biased<clipped, cached>>({option::bias, option::offset})));
  // Of two relative biases one is looked up, the other is dense.
  BOOST_TEST(
      (has_options<biased<together<clipped, all_distances>>>({option::bias, option::relative}, 2)));
}

BOOST_AUTO_TEST_CASE(fusing_biased_attention_preserves_its_loss_and_gradients) {
  means_the_same<biased<clipped>>();
  means_the_same<biased<clipped, causal>>();
  means_the_same<biased<otherwise_clipped, valid_and_masked>>(offsets(6));
  means_the_same<biased<all_distances, causal>>();
  means_the_same<biased<all_distances_on_one_side>>();
  means_the_same<biased<of_each_query>>();
  means_the_same<biased<from_an_offset>>(offsets(6));
  means_the_same<biased<from_an_offset, cached>>(offsets(6));
  means_the_same<biased<of_heads>>();
  means_the_same<biased<of_pairs, causal>>();
  means_the_same<biased<of_keys>>();
  means_the_same<biased<together<of_heads, clipped, of_pairs>>>();
  means_the_same<biased<halved<together<of_heads, clipped, of_pairs>>>>();
  means_the_same<scaled_together>();
  means_the_same<capped>();
  means_the_same<one_query>(offsets(6));
  means_the_same<biased<from_the_key_back>>();
  means_the_same<biased<beyond_the_table>>();
  means_the_same<biased<from_an_offset, causal>>(offsets(6));
  means_the_same<biased<clipped, cached>>(offsets(6));
}

BOOST_AUTO_TEST_CASE(biased_attention_and_its_gradients_match_the_reference_on_every_target) {
  runs<biased<clipped, causal>>();
  runs<biased<all_distances>>();
  runs<biased<of_each_query, causal>>();
  runs<biased<of_pairs, causal>>();
  runs<biased<of_keys>>();
  runs<biased<halved<together<of_heads, clipped, of_pairs>>>>();
  runs<scaled_together>();
  runs<capped>();
  // Most keys are visible: otherwise gradients are too small for the error bounds.
  runs<biased<otherwise_clipped, valid_and_masked>>({3, 8});
  runs<biased<from_an_offset, cached>>({1, 3});
  runs<one_query>({1, 3});
}

BOOST_AUTO_TEST_CASE(gradients_of_biases_match_central_differences) {
  auto const at = weft::testing::lengths<Pos>(3);
  weft::testing::gradient_trial<trainable<biased<clipped, causal>>>(at);
  weft::testing::gradient_trial<trainable<biased<of_each_query, causal>>>(at);
  weft::testing::gradient_trial<trainable<capped>>(at);
}

BOOST_AUTO_TEST_SUITE_END()

// N positions with a learned table of relative biases.
template <std::size_t N>
struct sequence {
  struct Pos : weft::axis<N> {};
  struct KeyPos : weft::alias<Pos> {};
  struct Range : weft::axis<33> {};
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos, Heads, HeadDim>() * s.param<"gain", HeadDim>();
    auto const keys = weft::rename<Pos, KeyPos>(x);
    auto const bias = gather<Range>(s.param<"table", Heads, Range>(),
                                    clamped<Range>(positions<KeyPos>() - positions<Pos>() + 16));
    auto const scores =
        where(weft::nn::causal<Pos, KeyPos>(), weft::dot<HeadDim>(x, keys) + bias, -weft::infinity);
    auto const y = weft::dot<KeyPos>(weft::softmax<KeyPos>(scores), keys);
    return weft::results(weft::as<"loss">(weft::mean<Pos, Heads, HeadDim>(y * y)));
  }
};
// The workspace grows linearly with the number of positions: nothing is stored per pair of them.
template <std::size_t N>
constexpr std::size_t growth = weft::training_cost<sequence<2 * N>>.workspace_bytes -
                               weft::training_cost<sequence<N>>.workspace_bytes;
static_assert(growth<1024> == 2 * growth<512>);
static_assert(weft::training_cost<sequence<2048>>.workspace_bytes < 2048 * 2048 * sizeof(float));
static_assert(weft::cost<sequence<2048>>.workspace_bytes < 2048 * 2048 * sizeof(float) / 4);

}  // namespace
