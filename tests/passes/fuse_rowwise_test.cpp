// Neighbours of rowwise operations are fused into them, in forward and backward passes, and not
// where it would change other results.
#include <boost/test/unit_test.hpp>

#include "passes/graphs.hpp"
#include "support/operands.hpp"
#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using weft::op;
using weft::testing::count, weft::testing::first_node, weft::testing::fused,
    weft::testing::fused_with_gradients, weft::testing::operand_count, weft::testing::output_node,
    weft::testing::steps;

struct Rows : weft::axis<weft::up_to<17>> {};
struct In : weft::axis<20> {};
struct Out : weft::axis<33> {};
struct Heads : weft::axis<3> {};
struct Keys : weft::alias<Rows> {};

// Gain and bias of a normalization, with any of the axes of a row.
struct affine {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows, Heads, In>();
    auto a = weft::layer_norm<In>(x, s.param<"gain", In>(), s.param<"bias", In>());
    auto b = weft::normalize<Heads, In>(x, {.epsilon = 1e-3}) * s.param<"g", Heads>() +
             s.param<"b", In>();
    auto gain_only = weft::normalize<In>(x, {.epsilon = 1e-2}) * s.param<"gain_only", Heads, In>();
    auto rms = weft::rms_norm<In>(x, s.param<"weight", In>());
    return weft::results(weft::as<"a">(a), weft::as<"b">(b), weft::as<"gain_only">(gain_only),
                         weft::as<"rms">(rms));
  }
};
void affine_is_fused() {
  const weft::graph& g = fused<affine>();
  BOOST_TEST(steps(g) == 4);
  BOOST_TEST(output_node(g, 0).kind == op::normalize);
  BOOST_TEST(operand_count(output_node(g, 0)) == 3);
  BOOST_TEST(operand_count(output_node(g, 1)) == 3);
  BOOST_TEST(operand_count(output_node(g, 2)) == 2);
  BOOST_TEST(output_node(g, 3).kind == op::rms_normalize);
  BOOST_TEST(operand_count(output_node(g, 3)) == 2);
}

// The sum before a normalization is fused, also with a broadcast operand; a sum that is used
// elsewhere is not.
struct sums_before {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows, In>();
    const auto norm = [&](auto name, const auto& sum) {
      const weft::scope own = s / name;
      return weft::layer_norm<In>(sum, own.param<"gain", In>(), own.param<"bias", In>());
    };
    auto kept = x + s.input<"z", float, Rows, In>();
    return weft::results(weft::as<"row">(norm("a", x + s.input<"y", float, Rows, In>())),
                         weft::as<"broadcast">(norm("b", x + s.param<"p", In>())),
                         weft::as<"kept">(norm("c", kept)), weft::as<"sum">(kept));
  }
};
void sums_are_fused() {
  const weft::graph& g = fused<sums_before>();
  BOOST_TEST(steps(g) == 4);
  BOOST_TEST(operand_count(output_node(g, 0)) == 4);
  BOOST_TEST(operand_count(output_node(g, 1)) == 4);
  BOOST_TEST(operand_count(output_node(g, 2)) == 3);
}

// Not fused: a bias without a gain, and the gain of normalized values that are used elsewhere.
struct no_affine {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows, In>();
    auto normal = weft::normalize<In>(x);
    auto used = weft::normalize<In>(x, {.epsilon = 1e-3});
    return weft::results(weft::as<"bias_only">(normal + s.param<"bias", In>()),
                         weft::as<"used">(used), weft::as<"gained">(used * s.param<"gain", In>()));
  }
};

// The backward pass of a block with a residual: the gain and the residual's gradient are fused into
// the adjoint, whose partial sums give the gradients of gain and bias. So only the gain needs the
// normalized values.
struct block {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.param<"x", Rows, In>();
    auto y = x + weft::layer_norm<In>(x, s.param<"gain", In>(), s.param<"bias", In>());
    auto z = y * s.input<"g", float, Rows, In>();
    return weft::results(weft::as<"loss">(weft::sum<Rows, In>(z)));
  }
};
void adjoint_is_fused() {
  const weft::graph& g = fused_with_gradients<block>();
  // normalize; y; the loss; the gradients of bias, gain and x. That of y is g.
  BOOST_TEST(steps(g) == 6);
  BOOST_TEST(operand_count(first_node(g, op::normalize)) == 3);
  BOOST_TEST(count(g, op::normalize_adjoint) == 1);
  BOOST_TEST(operand_count(first_node(g, op::normalize_adjoint)) == 4);
  BOOST_TEST(count(g, op::norm_parameter_gradient) == 2);
}

// The same with an RMS norm: it has no bias, and the residual takes that operand.
struct rms_block {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.param<"x", Rows, In>();
    auto y = x + weft::rms_norm<In>(x, s.param<"gain", In>());
    auto z = y * s.input<"g", float, Rows, In>();
    return weft::results(weft::as<"loss">(weft::sum<Rows, In>(z)));
  }
};
void rms_adjoint_is_fused() {
  const weft::graph& g = fused_with_gradients<rms_block>();
  // rms_normalize; the loss; the gradients of gain and x.
  BOOST_TEST(steps(g) == 4);
  BOOST_TEST(operand_count(first_node(g, op::rms_normalize)) == 3);
  BOOST_TEST(operand_count(first_node(g, op::rms_normalize_adjoint)) == 4);
  BOOST_TEST(count(g, op::norm_parameter_gradient) == 1);
}

// Rows over two axes, without a bias.
struct gain_alone {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.param<"x", Rows, Heads, In>();
    auto y = weft::normalize<Heads, In>(x) * s.param<"gain", Heads, In>();
    auto z = tanh(y) * s.input<"g", float, Rows, Heads, In>();
    return weft::results(weft::as<"loss">(weft::sum<Rows, Heads, In>(z)));
  }
};
// Without partial sums: gradients of a shared gain, gradients that are not reduced to the axes of a
// row, rows of a run-time length, and normalized values whose gradient is not only the gain's.
struct other_sums {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.param<"x", Rows, Heads, In>();
    auto gain = s.param<"shared", In>();
    auto y = weft::layer_norm<In>(x, gain, s.param<"a", In>());
    auto z = weft::layer_norm<In>(tanh(x), gain, s.param<"b", In>());
    auto heads = weft::layer_norm<In>(exp(x), s.param<"c", Heads, In>(), s.param<"d", Heads, In>());
    auto along = weft::layer_norm<Rows>(x, s.param<"e", Rows>(), s.param<"f", Rows>());
    auto normal = weft::normalize<In>(x, {.epsilon = 1e-2});
    auto used = exp(normal) + tanh(normal * s.param<"h", In>());
    auto all = tanh(y) + tanh(z) + tanh(heads) + tanh(along) + used;
    auto given = all * s.input<"g", float, Rows, Heads, In>();
    return weft::results(weft::as<"loss">(weft::sum<Rows, Heads, In>(given)));
  }
};
// Two normalizations of one operand that share their gradient and differ in epsilon: the gradient
// of each gain comes from its own normalization.
struct other_epsilon {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.param<"x", Rows, Heads, In>();
    auto small = weft::normalize<In>(x, {.epsilon = 1e-5}) * s.param<"a", In>();
    auto large = weft::normalize<In>(x, {.epsilon = 0.5}) * s.param<"b", In>();
    auto z = tanh(small + large) * s.input<"g", float, Rows, Heads, In>();
    return weft::results(weft::as<"loss">(weft::sum<Rows, Heads, In>(z)));
  }
};
void only_whole_rows_are_summed() {
  const weft::graph& alone = fused_with_gradients<gain_alone>();
  const weft::graph& other = fused_with_gradients<other_sums>();
  BOOST_TEST(count(alone, op::norm_parameter_gradient) == 1);
  BOOST_TEST(count(alone, op::sum) == 1);
  BOOST_TEST(count(other, op::norm_parameter_gradient) == 0);
}

// The backward pass of cross-entropy scatters nothing into zeros, unless a row has several indices,
// or a row over several axes has an index along one of them.
struct classes {
  constexpr auto operator()(weft::scope s) const {
    auto logits = weft::dot<In>(s.input<"x", float, Rows, Heads, In>(), s.param<"w", In, Out>());
    auto loss = weft::cross_entropy<Out>(logits, s.input<"target", std::int32_t, Rows>());
    return weft::results(weft::as<"loss">(weft::sum<Rows, Heads>(loss)));
  }
};
struct several_picked {
  constexpr auto operator()(weft::scope s) const {
    auto y = weft::log_softmax<Out>(s.param<"logits", Heads, Out>());
    auto picked = weft::gather<Out>(y, s.input<"target", std::int32_t, Rows, Heads>());
    return weft::results(weft::as<"loss">(weft::sum<Rows, Heads>(picked)));
  }
};
struct over_two_axes {
  constexpr auto operator()(weft::scope s) const {
    auto y = weft::log_softmax<Heads, Out>(s.param<"logits", Rows, Heads, Out>());
    auto picked = weft::gather<Out>(y, s.input<"target", std::int32_t, Rows>());
    return weft::results(weft::as<"loss">(weft::sum<Rows, Heads>(picked)));
  }
};
template <class Model>
void has_adjoint_operands(int operands) {
  const weft::node& n = first_node(fused_with_gradients<Model>(), op::log_softmax_adjoint);
  BOOST_TEST(n.kind == op::log_softmax_adjoint);
  BOOST_TEST(operand_count(n) == operands);
}

// Masked and scaled scores.
struct masked_softmax {
  constexpr auto operator()(weft::scope s) const {
    constexpr float none = -weft::infinity;
    auto scores = s.input<"scores", float, Rows, Heads, Keys>();
    auto causal = weft::positions<Keys>() <= weft::positions<Rows>();
    auto mask = s.input<"mask", bool, Rows, Heads, Keys>();
    return weft::results(weft::as<"causal">(weft::softmax<Keys>(where(causal, scores / 4, none))),
                         weft::as<"any">(weft::softmax<Heads, Keys>(where(mask, scores, none))),
                         weft::as<"across">(weft::softmax<Heads>(where(mask, scores * -2, none))),
                         weft::as<"scaled">(weft::softmax<Keys>(scores * 3)));
  }
};
void softmax_is_fused() {
  const weft::graph& g = fused<masked_softmax>();
  BOOST_TEST(count(g, op::where) == 0);
  BOOST_TEST(count(g, op::multiply) == 0);
  BOOST_TEST(count(g, op::divide) == 0);
  BOOST_TEST(operand_count(output_node(g, 0)) == 2);
  BOOST_TEST(output_node(g, 0).scale == 0.25);
  BOOST_TEST(operand_count(output_node(g, 1)) == 2);
  BOOST_TEST(output_node(g, 3).scale == 3);
}

// Attention that is not fused, as its weights are used elsewhere: the backward pass needs no
// operation of its own for the mask and the scale of the scores.
struct attention {
  constexpr auto operator()(weft::scope s) const {
    auto q = s.param<"q", Rows, In>();
    auto k = s.param<"k", Keys, In>();
    auto mask = weft::positions<Keys>() <= weft::positions<Rows>();
    auto scores = weft::dot<In>(q, k) / weft::sqrt(In{});
    auto weights = weft::softmax<Keys>(where(mask, scores, -weft::infinity));
    auto y = weft::dot<Keys>(weights, s.input<"v", float, Keys, Out>());
    return weft::results(
        weft::as<"loss">(weft::sum<Rows, Out>(y * s.input<"g", float, Rows, Out>()) +
                         weft::sum<Rows, Keys>(weights * s.input<"h", float, Rows, Keys>())));
  }
};
void backward_is_lean() {
  const weft::graph& g = fused_with_gradients<attention>();
  BOOST_TEST(count(g, op::where) == 0);
  BOOST_TEST(count(g, op::divide) == 0);
  BOOST_TEST(count(g, op::dot) == 5);
}

// Masked with a finite value instead of -infinity: the mask is not fused.
struct masked_by_another {
  constexpr auto operator()(weft::scope s) const {
    auto scores = s.param<"scores", Rows, Keys>();
    auto mask = weft::positions<Keys>() <= weft::positions<Rows>();
    auto weights = weft::softmax<Keys>(where(mask, scores, -8));
    return weft::results(
        weft::as<"loss">(weft::sum<Rows, Keys>(weights * s.input<"g", float, Rows, Keys>())));
  }
};

// Scores with a gathered relative bias: its indices, of type [Keys, Rows], change neither the axis
// order of the scores nor that of their gradient, into which the mask is fused.
struct Distances : weft::axis<5> {};
struct by_distance {
  constexpr auto operator()(weft::scope s) const {
    auto q = s.param<"q", Heads, Rows, In>();
    auto k = s.param<"k", Heads, Keys, In>();
    const auto distance = weft::positions<Keys>() - weft::positions<Rows>();
    const auto index = weft::minimum(weft::maximum(distance + 2, 0), 4);
    auto table = weft::dot<In>(q, s.param<"table", Distances, In>());
    auto scores = weft::dot<In>(q, k) + weft::gather<Distances>(table, index);
    auto mask = weft::positions<Keys>() <= weft::positions<Rows>();
    auto weights = weft::softmax<Keys>(where(mask, scores, -weft::infinity));
    auto sums = weft::segment_sum<Keys, Distances>(weights, index);
    return weft::results(weft::as<"loss">(
        weft::sum<Heads, Rows, Distances>(sums * s.input<"g", float, Heads, Rows, Distances>())));
  }
};
void distances_lie_as_scores() {
  const weft::graph& g = fused_with_gradients<by_distance>();
  const auto scores = weft::axes_of(weft::shape<Heads, Rows, Keys>{});
  for (int i = 0; i < g.count; ++i)
    if (g.nodes[i].kind == op::gather) BOOST_TEST((g.nodes[i].axes == scores));
  BOOST_TEST(count(g, op::gather) == 2);
  BOOST_TEST(count(g, op::scatter_add) == 2);
  BOOST_TEST(count(g, op::where) == 0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fuse_rowwise, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(masks_gains_and_one_hot_gradients_are_fused_in_backward_passes) {
  backward_is_lean();
  BOOST_TEST(count(fused_with_gradients<masked_by_another>(), op::where) == 2);
  distances_lie_as_scores();
  adjoint_is_fused();
  rms_adjoint_is_fused();
  only_whole_rows_are_summed();
  has_adjoint_operands<classes>(3);  // the third has the indices
  BOOST_TEST(count(fused_with_gradients<classes>(), op::scatter_add) == 0);
  has_adjoint_operands<several_picked>(2);
  has_adjoint_operands<over_two_axes>(2);
}

BOOST_AUTO_TEST_CASE(rowwise_operations_absorb_gains_biases_sums_masks_and_scales) {
  affine_is_fused();
  sums_are_fused();
  BOOST_TEST(steps(fused<no_affine>()) == 4);
  softmax_is_fused();
}

BOOST_AUTO_TEST_CASE(fused_rows_match_the_reference) {
  using weft::inference, weft::training, weft::testing::trial;
  for (const std::size_t rows : {0u, 1u, 3u, 17u}) {
    const auto at = weft::testing::lengths<Rows>(rows);
    trial<inference<affine>>(at);
    trial<inference<sums_before>>(at);
    trial<inference<no_affine>>(at);
    trial<inference<masked_softmax>>(at);
    trial<training<block, "loss">>(at);
    trial<training<classes, "loss">>(at);
    if (rows > 3) continue;  // error bounds are too wide to fail
    trial<training<attention, "loss">>(at);
    trial<training<gain_alone, "loss">>(at);
    trial<training<rms_block, "loss">>(at);
    trial<training<other_sums, "loss">>(at);
    trial<training<other_epsilon, "loss">>(at);
    trial<training<masked_by_another, "loss">>(at);
    trial<training<by_distance, "loss">>(at);
  }
}

BOOST_AUTO_TEST_SUITE_END()
