// Neighbours of contractions and rowwise operations are fused into them, elementwise operations
// form fusion groups, and neither happens where it would change other results.
#include "weft/passes/fuse.hpp"

#include <boost/test/unit_test.hpp>

#include "passes/graphs.hpp"
#include "support/trial.hpp"
#include "weft/lower/units.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/compare.hpp"
#include "weft/ops/dot.hpp"
#include "weft/ops/functions.hpp"
#include "weft/ops/gather.hpp"
#include "weft/ops/mask.hpp"
#include "weft/ops/normalize.hpp"
#include "weft/ops/reduce.hpp"
#include "weft/passes/assign_layouts.hpp"

namespace {

using weft::op;
using weft::testing::count, weft::testing::output_node, weft::testing::steps;

struct Rows : weft::axis<weft::up_to<17>> {};
struct In : weft::axis<20> {};
struct Out : weft::axis<33> {};
struct Heads : weft::axis<3> {};
struct Keys : weft::alias<Rows> {};

template <class Model>
const weft::graph& fused() {
  static auto const g = weft::testing::compiled_graph<weft::inference<Model>>();
  return *g;
}
template <class Model>
const weft::graph& fused_with_gradients() {
  static auto const g = weft::testing::compiled_graph<weft::training<Model, "loss">>();
  return *g;
}

// A linear layer with a scale, a bias, a residual and each activation.
template <op Last>
struct layer {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows, In>();
    auto residual = s.input<"residual", float, Rows, Out>();
    auto y = weft::dot<In>(x, s.param<"weight", Out, In>()) / 4;
    auto z = residual + (s.param<"bias", Out>() + y);
    if constexpr (Last == op::gelu) return gelu(z);
    if constexpr (Last == op::gelu_tanh) return gelu_tanh(z);
    if constexpr (Last == op::relu) return relu(z);
    if constexpr (Last == op::tanh) return tanh(z);
    if constexpr (Last == op::sigmoid) return sigmoid(z);
    if constexpr (Last == op::copy) return z;
  }
};
template <op Last>
bool is_one_contraction() {
  weft::graph const& g = fused<layer<Last>>();
  weft::node const n = output_node(g);
  return g.count == 5 && n.kind == op::dot && n.operands == 4 && n.scale == 0.25 &&
         n.epilogue == Last;
}

// The last operation of each must not be fused into its contraction.
struct kept_apart {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows, In>();
    auto weight = s.param<"weight", Out, In>();
    auto both = weft::dot<In>(x, weight);  // a result that is used again
    auto wider =
        weft::dot<In>(x, weight * 2) + s.param<"h", Heads>();  // has fewer axes than the sum
    auto ended =
        tanh(weft::dot<In>(x, weight * 3)) + s.param<"b", Out>();  // the activation comes first
    auto scaled_after = (weft::dot<In>(x, weight * 4) + s.param<"c", Out>()) * 2;
    auto by_tensor = weft::dot<In>(x, weight * 5) * s.param<"d", Out>();
    return weft::results(weft::as<"both">(both), weft::as<"sum">(both + s.param<"a", Out>()),
                         weft::as<"wider">(wider), weft::as<"ended">(ended),
                         weft::as<"scaled_after">(scaled_after), weft::as<"by_tensor">(by_tensor));
  }
};
bool nothing_is_lost() {
  weft::graph const& g = fused<kept_apart>();
  // Sums stay for `sum`, `wider` and `ended`; products for `scaled_after` and `by_tensor`: the
  // factors of the weights become scales.
  return count(g, op::dot) == 5 && count(g, op::add) == 3 && count(g, op::multiply) == 2;
}

// A third addend is not fused.
struct three_addends {
  constexpr auto operator()(weft::scope s) const {
    auto y = weft::dot<In>(s.input<"x", float, Rows, In>(), s.param<"weight", In, Out>());
    return y + s.param<"a", Out>() + s.param<"b", Out>() + s.param<"c", Out>();
  }
};

// A division by zero is not fused: its scale, 1 / 0, is not a constant expression.
struct by_zero {
  constexpr auto operator()(weft::scope s) const {
    return weft::dot<In>(s.input<"x", float, Rows, In>(), s.param<"weight", In, Out>()) / 0;
  }
};

// A sum of contractions, as in gradients: the first is an addend of the second.
struct contractions_added {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows, In>();
    return weft::dot<In>(x, s.param<"a", Out, In>()) + weft::dot<In>(x, s.param<"b", Out, In>());
  }
};

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
bool backward_is_lean() {
  weft::graph const& g = fused_with_gradients<attention>();
  return count(g, op::where) == 0 && count(g, op::divide) == 0 && count(g, op::dot) == 5;
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
    auto const distance = weft::positions<Keys>() - weft::positions<Rows>();
    auto const index = weft::minimum(weft::maximum(distance + 2, 0), 4);
    auto table = weft::dot<In>(q, s.param<"table", Distances, In>());
    auto scores = weft::dot<In>(q, k) + weft::gather<Distances>(table, index);
    auto mask = weft::positions<Keys>() <= weft::positions<Rows>();
    auto weights = weft::softmax<Keys>(where(mask, scores, -weft::infinity));
    auto sums = weft::segment_sum<Keys, Distances>(weights, index);
    return weft::results(weft::as<"loss">(
        weft::sum<Heads, Rows, Distances>(sums * s.input<"g", float, Heads, Rows, Distances>())));
  }
};
bool distances_lie_as_scores() {
  weft::graph const& g = fused_with_gradients<by_distance>();
  auto const scores = weft::axes_of(weft::shape<Heads, Rows, Keys>{});
  for (int i = 0; i < g.count; ++i)
    if (g.nodes[i].kind == op::gather && !(g.nodes[i].axes == scores)) return false;
  return count(g, op::gather) == 2 && count(g, op::scatter_add) == 2 && count(g, op::where) == 0;
}

// ---- rowwise operations

// Gain and bias of a normalisation, with any of the axes of a row.
struct affine {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows, Heads, In>();
    auto a = weft::layer_norm<In>(x, s.param<"gain", In>(), s.param<"bias", In>());
    auto b = weft::normalize<Heads, In>(x, 1e-3) * s.param<"g", Heads>() + s.param<"b", In>();
    auto gain_only = weft::normalize<In>(x, 1e-2) * s.param<"gain_only", Heads, In>();
    auto rms = weft::rms_norm<In>(x, s.param<"weight", In>());
    return weft::results(weft::as<"a">(a), weft::as<"b">(b), weft::as<"gain_only">(gain_only),
                         weft::as<"rms">(rms));
  }
};
bool affine_is_fused() {
  weft::graph const& g = fused<affine>();
  return steps(g) == 4 && output_node(g, 0).kind == op::normalize &&
         output_node(g, 0).operands == 3 && output_node(g, 1).operands == 3 &&
         output_node(g, 2).operands == 2 && output_node(g, 3).kind == op::rms_normalize &&
         output_node(g, 3).operands == 2;
}

// The sum before a normalisation is fused, also with a broadcast operand; a sum that is used
// elsewhere is not.
struct sums_before {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows, In>();
    auto const norm = [&](auto name, const auto& sum) {
      weft::scope const own = s / name;
      return weft::layer_norm<In>(sum, own.param<"gain", In>(), own.param<"bias", In>());
    };
    auto kept = x + s.input<"z", float, Rows, In>();
    return weft::results(weft::as<"row">(norm("a", x + s.input<"y", float, Rows, In>())),
                         weft::as<"broadcast">(norm("b", x + s.param<"p", In>())),
                         weft::as<"kept">(norm("c", kept)), weft::as<"sum">(kept));
  }
};
bool sums_are_fused() {
  weft::graph const& g = fused<sums_before>();
  return steps(g) == 4 && output_node(g, 0).operands == 4 && output_node(g, 1).operands == 4 &&
         output_node(g, 2).operands == 3;
}

// Not fused: a bias without a gain, and the gain of normalised values that are used elsewhere.
struct no_affine {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows, In>();
    auto normal = weft::normalize<In>(x);
    auto used = weft::normalize<In>(x, 1e-3);
    return weft::results(weft::as<"bias_only">(normal + s.param<"bias", In>()),
                         weft::as<"used">(used), weft::as<"gained">(used * s.param<"gain", In>()));
  }
};

// The backward pass of a block with a residual: the gain and the residual's gradient are fused into
// the adjoint, whose partial sums give the gradients of gain and bias. So only the gain needs the
// normalised values.
struct block {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.param<"x", Rows, In>();
    auto y = x + weft::layer_norm<In>(x, s.param<"gain", In>(), s.param<"bias", In>());
    auto z = y * s.input<"g", float, Rows, In>();
    return weft::results(weft::as<"loss">(weft::sum<Rows, In>(z)));
  }
};
bool adjoint_is_fused() {
  weft::graph const& g = fused_with_gradients<block>();
  bool found = false, affine = false;
  for (int i = 0; i < g.count; ++i) {
    found = found || (g.nodes[i].kind == op::normalize_adjoint && g.nodes[i].operands == 4);
    affine = affine || (g.nodes[i].kind == op::normalize && g.nodes[i].operands == 3);
  }
  // normalize; y; the loss; the gradients of bias, gain and x. That of y is g.
  return found && affine && count(g, op::norm_parameter_gradient) == 2 && steps(g) == 6 &&
         count(g, op::normalize_adjoint) == 1;
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
bool rms_adjoint_is_fused() {
  weft::graph const& g = fused_with_gradients<rms_block>();
  bool found = false, affine = false;
  for (int i = 0; i < g.count; ++i) {
    weft::node const& n = g.nodes[i];
    found = found || (n.kind == op::rms_normalize_adjoint && n.operands == 4);
    affine = affine || (n.kind == op::rms_normalize && n.operands == 3);
  }
  // y; the loss; the gradients of gain and x.
  return found && affine && count(g, op::norm_parameter_gradient) == 1 && steps(g) == 4;
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
// row, rows of a run-time length, and normalised values whose gradient is not only the gain's.
struct other_sums {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.param<"x", Rows, Heads, In>();
    auto gain = s.param<"shared", In>();
    auto y = weft::layer_norm<In>(x, gain, s.param<"a", In>());
    auto z = weft::layer_norm<In>(tanh(x), gain, s.param<"b", In>());
    auto heads = weft::layer_norm<In>(exp(x), s.param<"c", Heads, In>(), s.param<"d", Heads, In>());
    auto along = weft::layer_norm<Rows>(x, s.param<"e", Rows>(), s.param<"f", Rows>());
    auto normal = weft::normalize<In>(x, 1e-2);
    auto used = exp(normal) + tanh(normal * s.param<"h", In>());
    auto all = tanh(y) + tanh(z) + tanh(heads) + tanh(along) + used;
    auto given = all * s.input<"g", float, Rows, Heads, In>();
    return weft::results(weft::as<"loss">(weft::sum<Rows, Heads, In>(given)));
  }
};
// Two normalisations of one operand that share their gradient and differ in epsilon: the gradient
// of each gain comes from its own normalisation.
struct other_epsilon {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.param<"x", Rows, Heads, In>();
    auto small = weft::normalize<In>(x, 1e-5) * s.param<"a", In>();
    auto large = weft::normalize<In>(x, 0.5) * s.param<"b", In>();
    auto z = tanh(small + large) * s.input<"g", float, Rows, Heads, In>();
    return weft::results(weft::as<"loss">(weft::sum<Rows, Heads, In>(z)));
  }
};
bool only_whole_rows_are_summed() {
  weft::graph const& alone = fused_with_gradients<gain_alone>();
  weft::graph const& other = fused_with_gradients<other_sums>();
  return count(alone, op::norm_parameter_gradient) == 1 && count(alone, op::sum) == 1 &&
         count(other, op::norm_parameter_gradient) == 0;
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
bool picks_rows(const weft::graph& g) {
  for (int i = 0; i < g.count; ++i)
    if (g.nodes[i].kind == op::log_softmax_adjoint) return g.nodes[i].operands == 3;
  return false;
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
bool softmax_is_fused() {
  weft::graph const& g = fused<masked_softmax>();
  return count(g, op::where) == 0 && count(g, op::multiply) == 0 && count(g, op::divide) == 0 &&
         output_node(g, 0).operands == 2 && output_node(g, 0).scale == 0.25 &&
         output_node(g, 1).operands == 2 && output_node(g, 3).scale == 3;
}

// ---- fusion groups

// One group: values in it are used several times and differ in dtype, and inputs are broadcast.
struct one_chain {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows, Heads, In>();
    auto y = s.param<"y", In>();
    auto a = exp(x * y);
    return where(a < 1, a * a, tanh(a) / (y * y + 3));
  }
};
bool chained() {
  weft::graph const& g = fused<one_chain>();
  // y * y + 3 has fewer axes than the result: a group of its own.
  return steps(g) == 2 && output_node(g).kind == op::where && count(g, op::exp) == 1;
}

// Results, values that other operations use and values with other axes get groups of their own; so
// does what would exceed the inputs or operations of a group.
struct several_chains {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows, In>();
    auto result = exp(x) + 1;
    auto used = weft::sum<In>(tanh(x) * 2);
    auto many = x * s.param<"a", In>() * s.param<"b", In>() * s.param<"c", In>() *
                s.param<"d", In>() * s.param<"e", In>();
    auto longer = x;
    for (int i = 0; i < 10; ++i) longer = tanh(longer + x);
    return weft::results(weft::as<"result">(result), weft::as<"more">(result * x),
                         weft::as<"used">(used), weft::as<"many">(many),
                         weft::as<"longer">(longer));
  }
};

// The mask has type [Keys, Rows], but is laid out [Rows, Keys], as it is read.
struct masked {
  constexpr auto operator()(weft::scope s) const {
    auto scores = s.input<"scores", float, Heads, Rows, Keys>();
    return where(weft::positions<Keys>() <= weft::positions<Rows>(), scores, 0);
  }
};
struct mask_itself {
  constexpr auto operator()(weft::scope) const {
    return weft::positions<Keys>() <= weft::positions<Rows>();
  }
};
bool arranged() {
  weft::graph const& g = fused<masked>();
  for (int i = 0; i < g.count; ++i)
    if (g.nodes[i].kind == op::less_equal)
      return g.nodes[i].axes == weft::axes_of(weft::shape<Rows, Keys>{});
  return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fuse)

BOOST_AUTO_TEST_CASE(a_linear_layer_is_one_contraction_with_an_epilogue) {
  BOOST_TEST((is_one_contraction<op::gelu>()));
  BOOST_TEST((is_one_contraction<op::gelu_tanh>()));
  BOOST_TEST((is_one_contraction<op::relu>()));
  BOOST_TEST((is_one_contraction<op::tanh>()));
  BOOST_TEST((is_one_contraction<op::sigmoid>()));
  BOOST_TEST((is_one_contraction<op::copy>()));
  BOOST_TEST((count(fused<three_addends>(), op::add) == 1));
  BOOST_TEST((count(fused<contractions_added>(), op::add) == 0));
  BOOST_TEST((count(fused<contractions_added>(), op::dot) == 2));
}

BOOST_AUTO_TEST_CASE(shared_results_and_unsupported_epilogues_are_not_fused) {
  BOOST_TEST((nothing_is_lost()));
  BOOST_TEST((count(fused<by_zero>(), op::divide) == 1));
}

BOOST_AUTO_TEST_CASE(masks_gains_and_one_hot_gradients_are_fused_in_backward_passes) {
  BOOST_TEST((backward_is_lean()));
  BOOST_TEST((count(fused_with_gradients<masked_by_another>(), op::where) == 2));
  BOOST_TEST((distances_lie_as_scores()));
  BOOST_TEST((adjoint_is_fused()));
  BOOST_TEST((rms_adjoint_is_fused()));
  BOOST_TEST((only_whole_rows_are_summed()));
  BOOST_TEST((picks_rows(fused_with_gradients<classes>())));
  BOOST_TEST((count(fused_with_gradients<classes>(), op::scatter_add) == 0));
  BOOST_TEST((!picks_rows(fused_with_gradients<several_picked>())));
  BOOST_TEST((!picks_rows(fused_with_gradients<over_two_axes>())));
}

BOOST_AUTO_TEST_CASE(rowwise_operations_absorb_gains_biases_sums_masks_and_scales) {
  BOOST_TEST((affine_is_fused()));
  BOOST_TEST((sums_are_fused()));
  BOOST_TEST((steps(fused<no_affine>()) == 4));
  BOOST_TEST((softmax_is_fused()));
}

BOOST_AUTO_TEST_CASE(elementwise_operations_form_fusion_groups) {
  BOOST_TEST((chained()));
  BOOST_TEST((steps(fused<several_chains>()) == 2 + 2 + 2 + 3));
  BOOST_TEST((arranged()));
  // A result keeps its axis order.
  BOOST_TEST((output_node(fused<mask_itself>()).axes == weft::axes_of(weft::shape<Keys, Rows>{})));
}

BOOST_AUTO_TEST_CASE(fused_layers_match_the_reference) {
  for (std::size_t const rows : {0u, 1u, 3u, 17u}) {
    auto const at = weft::testing::lengths<Rows>(rows);
    weft::testing::trial<weft::inference<layer<op::gelu>>>(at);
    weft::testing::trial<weft::inference<layer<op::gelu_tanh>>>(at);
    weft::testing::trial<weft::inference<layer<op::relu>>>(at);
    weft::testing::trial<weft::inference<layer<op::tanh>>>(at);
    weft::testing::trial<weft::inference<layer<op::sigmoid>>>(at);
    weft::testing::trial<weft::inference<layer<op::copy>>>(at);
    weft::testing::trial<weft::inference<kept_apart>>(at);
    weft::testing::trial<weft::inference<three_addends>>(at);
    weft::testing::trial<weft::inference<contractions_added>>(at);
    weft::testing::trial<weft::inference<masked>>(at);
    weft::testing::trial<weft::inference<affine>>(at);
    weft::testing::trial<weft::inference<sums_before>>(at);
    weft::testing::trial<weft::inference<no_affine>>(at);
    weft::testing::trial<weft::inference<masked_softmax>>(at);
    weft::testing::trial<weft::inference<one_chain>>(at);
    weft::testing::trial<weft::inference<several_chains>>(at);
    weft::testing::trial<weft::training<block, "loss">>(at);
    weft::testing::trial<weft::training<classes, "loss">>(at);
    if (rows > 3) continue;  // error bounds are too wide to fail
    weft::testing::trial<weft::training<attention, "loss">>(at);
    weft::testing::trial<weft::training<gain_alone, "loss">>(at);
    weft::testing::trial<weft::training<rms_block, "loss">>(at);
    weft::testing::trial<weft::training<other_sums, "loss">>(at);
    weft::testing::trial<weft::training<other_epsilon, "loss">>(at);
    weft::testing::trial<weft::training<masked_by_another, "loss">>(at);
    weft::testing::trial<weft::training<by_distance, "loss">>(at);
  }
}

BOOST_AUTO_TEST_SUITE_END()
