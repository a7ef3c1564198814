// Attention biases: one indexed by relative position is looked up by the fused operation, the
// others are summed into one dense bias, and all have gradients.
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>

#include "passes/attended.hpp"
#include "support/central_differences.hpp"
#include "weft/weft.hpp"

namespace {

using weft::positions, weft::gather, weft::minimum, weft::maximum;
using namespace weft::testing::attention;

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
    const auto o = operands_in(s);
    const auto in = context_in(s, o);
    const auto products = weft::dot<HeadDim>(o.query, o.key) / weft::sqrt(HeadDim{});
    const auto scores = where(Mask()(in), products + Added()(in), -weft::infinity);
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
    const auto distance = 1 + positions<KeyPos>() - (positions<Pos>() - 1);
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
    const auto table = weft::dot<HeadDim>(in.query, in.s.param<"embedding", Distance, HeadDim>());
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
    const auto o = operands_in(s);
    const auto in = context_in(s, o);
    const auto scores =
        of_pairs()(in) + (weft::dot<HeadDim>(o.query, o.key) + all_distances()(in)) * 0.5f;
    return weft::dot<KeyPos>(weft::softmax<KeyPos>(scores), o.value);
  }
};
// The biases are added after the soft cap.
struct capped {
  constexpr auto operator()(weft::scope s) const {
    const auto o = operands_in(s);
    const auto in = context_in(s, o);
    const auto products = 2 * tanh(weft::dot<HeadDim>(o.query, o.key) / 2);
    const auto scores =
        where(causal()(in), products + clipped()(in) + of_heads()(in), -weft::infinity);
    return weft::dot<KeyPos>(weft::softmax<KeyPos>(scores), o.value);
  }
};
// A single query at an offset.
struct one_query {
  constexpr auto operator()(weft::scope s) const {
    auto q = s.input<"q", float, Batch, Heads, HeadDim>();
    auto k = s.input<"k", float, Batch, KeyPos, Heads, HeadDim>();
    const auto offset = s.input<"offset", std::int32_t, Batch>();
    const auto bias = gather<AnyDistance>(s.param<"table", Heads, AnyDistance>(),
                                          clamped<AnyDistance>(positions<KeyPos>() - offset + 9));
    const auto scores =
        where(positions<KeyPos>() <= offset, weft::dot<HeadDim>(q, k) + bias, -weft::infinity);
    return weft::dot<KeyPos>(weft::softmax<KeyPos>(scores), k);
  }
};

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

BOOST_AUTO_TEST_CASE(biases_are_looked_up_or_dense_and_preserve_the_loss_and_gradients) {
  fuses<biased<clipped>>("relative origin 2");
  fuses<biased<clipped, causal>>("[, 0] relative origin 2");
  fuses<biased<otherwise_clipped, valid_and_masked>>("mask lengths relative origin 2");
  fuses<biased<all_distances, causal>>("[, 0] relative origin 6");
  fuses<biased<all_distances_on_one_side>>("relative origin 7");
  fuses<biased<of_each_query>>("relative origin 2");
  fuses<biased<from_an_offset>>("offset relative origin 1");
  fuses<biased<from_an_offset, cached>>("[, 0] offset relative origin 1");
  fuses<biased<of_heads>>("bias");
  fuses<biased<of_pairs, causal>>("[, 0] bias");
  fuses<biased<of_keys>>("bias");
  fuses<biased<together<of_heads, clipped, of_pairs>>>("bias relative origin 2");
  fuses<biased<halved<together<of_heads, clipped, of_pairs>>>>("bias relative origin 2");
  fuses<scaled_together>("bias relative origin 6");
  fuses<capped>("[, 0] bias relative cap 2 origin 2");
  fuses<one_query>("offset lengths relative more 1 origin 9");
}

BOOST_AUTO_TEST_CASE(biases_that_do_not_match_the_relative_pattern_stay_dense) {
  fuses<biased<from_the_key_back>>("bias positions");
  becomes<biased<every_other_distance>>("bias positions");
  becomes<biased<by_place>>("bias positions");
  becomes<biased<of_each_key>>("bias positions");
  becomes<biased<clipped_within_the_table>>("bias positions");
  fuses<biased<beyond_the_table>>("bias positions");
  becomes<biased<as_many_as_a_run_has>>("bias positions");
  becomes<biased<of_unclipped_offsets>>("bias positions");
  fuses<biased<from_an_offset, causal>>("[, 0] bias positions");
  fuses<biased<clipped, cached>>("[, 0] bias offset positions");
  // Of two relative biases one is looked up, the other is dense.
  becomes<biased<together<clipped, all_distances>>>("bias relative origin 2 positions");
}

BOOST_AUTO_TEST_CASE(biased_attention_and_its_gradients_match_the_reference_on_every_target) {
  runs<biased<clipped, causal>>();
  runs<biased<of_each_query, causal>>();
  runs<biased<of_pairs, causal>>();
  runs<biased<halved<together<of_heads, clipped, of_pairs>>>>();
  runs<capped>();
  // Most keys are visible: otherwise gradients are too small for the error bounds.
  runs<biased<otherwise_clipped, valid_and_masked>>({3, 8});
  runs<biased<from_an_offset, cached>>({1, 3});
  runs<one_query>({1, 3});
}

BOOST_AUTO_TEST_CASE(gradients_of_biases_match_central_differences) {
  const auto at = weft::testing::lengths<Pos>(3);
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
    const auto keys = weft::rename<Pos, KeyPos>(x);
    const auto bias = gather<Range>(s.param<"table", Heads, Range>(),
                                    clamped<Range>(positions<KeyPos>() - positions<Pos>() + 16));
    const auto scores =
        where(weft::nn::causal<Pos, KeyPos>(), weft::dot<HeadDim>(x, keys) + bias, -weft::infinity);
    const auto y = weft::dot<KeyPos>(weft::softmax<KeyPos>(scores), keys);
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
