// Neighbours of contractions are fused into them, elementwise operations form fusion groups, and
// neither happens where it would change other results.
#include "weft/passes/fuse.hpp"

#include <boost/test/unit_test.hpp>

#include "passes/graphs.hpp"
#include "support/operands.hpp"
#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using weft::op, weft::testing::count, weft::testing::fused, weft::testing::output_node,
    weft::testing::steps;

struct Rows : weft::axis<weft::up_to<17>> {};
struct In : weft::axis<20> {};
struct Out : weft::axis<33> {};
struct Heads : weft::axis<3> {};
struct Keys : weft::alias<Rows> {};

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
void is_one_contraction() {
  const weft::graph& g = fused<layer<Last>>();
  const weft::node n = output_node(g);
  BOOST_TEST(g.count == 5);
  BOOST_TEST(n.kind == op::dot);
  BOOST_TEST(weft::testing::operand_count(n) == 4);
  BOOST_TEST(n.scale == 0.25);
  BOOST_TEST(n.epilogue == Last);
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
void nothing_is_lost() {
  const weft::graph& g = fused<kept_apart>();
  // Sums stay for `sum`, `wider` and `ended`; products for `scaled_after` and `by_tensor`: the
  // factors of the weights become scales.
  BOOST_TEST(count(g, op::dot) == 5);
  BOOST_TEST(count(g, op::add) == 3);
  BOOST_TEST(count(g, op::multiply) == 2);
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

// One group: values in it are used several times and differ in dtype, and inputs are broadcast.
struct one_chain {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows, Heads, In>();
    auto y = s.param<"y", In>();
    auto a = exp(x * y);
    return where(a < 1, a * a, tanh(a) / (y * y + 3));
  }
};
void chained() {
  const weft::graph& g = fused<one_chain>();
  // y * y + 3 has fewer axes than the result: a group of its own.
  BOOST_TEST(steps(g) == 2);
  BOOST_TEST(output_node(g).kind == op::where);
  BOOST_TEST(count(g, op::exp) == 1);
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
}  // namespace

BOOST_AUTO_TEST_SUITE(fuse)

BOOST_AUTO_TEST_CASE(a_linear_layer_is_one_contraction_with_an_epilogue) {
  is_one_contraction<op::gelu>();
  is_one_contraction<op::gelu_tanh>();
  is_one_contraction<op::relu>();
  is_one_contraction<op::tanh>();
  is_one_contraction<op::sigmoid>();
  is_one_contraction<op::copy>();
  BOOST_TEST(count(fused<three_addends>(), op::add) == 1);
  BOOST_TEST(count(fused<contractions_added>(), op::add) == 0);
  BOOST_TEST(count(fused<contractions_added>(), op::dot) == 2);
}

BOOST_AUTO_TEST_CASE(shared_results_and_unsupported_epilogues_are_not_fused) {
  nothing_is_lost();
  BOOST_TEST(count(fused<by_zero>(), op::divide) == 1);
}

BOOST_AUTO_TEST_CASE(elementwise_operations_form_fusion_groups) {
  chained();
  BOOST_TEST(steps(fused<several_chains>()) == 2 + 2 + 2 + 3);
  BOOST_TEST((weft::testing::first_node(fused<masked>(), op::less_equal).axes ==
              weft::axes_of(weft::shape<Rows, Keys>{})));
  // A result keeps its axis order.
  BOOST_TEST((output_node(fused<mask_itself>()).axes == weft::axes_of(weft::shape<Keys, Rows>{})));
}

BOOST_AUTO_TEST_CASE(fused_layers_match_the_reference) {
  using weft::inference, weft::testing::trial;
  for (const std::size_t rows : {0u, 1u, 3u, 17u}) {
    const auto at = weft::testing::lengths<Rows>(rows);
    trial<inference<layer<op::gelu>>>(at);
    trial<inference<layer<op::gelu_tanh>>>(at);
    trial<inference<layer<op::relu>>>(at);
    trial<inference<layer<op::tanh>>>(at);
    trial<inference<layer<op::sigmoid>>>(at);
    trial<inference<layer<op::copy>>>(at);
    trial<inference<kept_apart>>(at);
    trial<inference<three_addends>>(at);
    trial<inference<contractions_added>>(at);
    trial<inference<masked>>(at);
    trial<inference<one_chain>>(at);
    trial<inference<several_chains>>(at);
  }
}

BOOST_AUTO_TEST_SUITE_END()
