// The structure of graphs of gradients. The gradients' values are tested with each operation.
#include "weft/passes/differentiate.hpp"

#include <boost/test/unit_test.hpp>
#include <exception>

#include "passes/graphs.hpp"
#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using weft::op, weft::testing::count, weft::testing::kept, weft::testing::output_node;

struct Rows : weft::axis<3> {};
struct Columns : weft::axis<5> {};

struct shared {
  constexpr auto operator()(weft::scope s) const {
    auto p = s.param<"p", Rows>();
    auto unused = s.param<"unused", Columns, Rows>();
    auto x = s.input<"x", float, Rows>();
    auto y = s.input<"y", float, Rows>();
    auto loss = weft::sum<Rows>(p * x) + weft::sum<Rows>(y * p);
    return weft::results(weft::as<"loss">(loss), weft::as<"unused">(unused));
  }
};
constexpr weft::graph shared_gradients() {
  return weft::differentiate(weft::trace<shared>(), 0);
}
// An output for each parameter, in their order, after the results; with the parameter's axes.
static_assert(shared_gradients().output_count == 4);
static_assert(shared_gradients().outputs[0].kind == weft::output_kind::result);
static_assert(shared_gradients().outputs[2].kind == weft::output_kind::gradient);
static_assert(shared_gradients().outputs[2].leaf == 0);
static_assert(shared_gradients().outputs[3].leaf == 1);
static_assert(shared_gradients().name(shared_gradients().outputs[3].name) == "unused");
static_assert(output_node(shared_gradients(), 3).axes ==
              weft::axes_of(weft::shape<Columns, Rows>{}));
// Both uses of p add up: x + y.
static_assert(output_node(shared_gradients(), 2).kind == op::add);

struct of_inputs {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows, Columns>();
    auto p = s.param<"p", Columns>();
    return weft::as<"loss">(weft::sum<Rows>(weft::dot<Columns>(tanh(exp(x)), p)));
  }
};
constexpr weft::graph gradients_of_inputs() {
  return weft::simplify(weft::differentiate(weft::trace<of_inputs>(), 0));
}
// What depends on no parameter gets no gradient: there is no adjoint of tanh or exp.
static_assert(count(gradients_of_inputs(), op::tanh) == 1);
static_assert(count(gradients_of_inputs(), op::exp) == 1);
static_assert(count(gradients_of_inputs(), op::multiply) == 0);
static_assert(count(gradients_of_inputs(), op::dot) == 2);

}  // namespace

BOOST_AUTO_TEST_SUITE(differentiating)

BOOST_AUTO_TEST_CASE(gradients_of_a_shared_parameter_add_up_and_those_of_an_unused_one_are_zero) {
  namespace reference = weft::reference;
  const auto plain = kept(shared_gradients);
  const auto simple = kept([&] { return weft::simplify(*plain); });
  for (const auto* g : {plain.get(), simple.get()}) {
    const weft::testing::expectation e(*g, {});
    const auto& gradient = reference::gradient(*g, e.values(), "p").data;
    const auto& x = e.given().inputs.at("x");
    const auto& y = e.given().inputs.at("y");
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(gradient[i] == x[i] + y[i]);
    const auto& none = reference::gradient(*g, e.values(), "unused").data;
    BOOST_TEST((none == std::vector<double>(15)));
  }
}

BOOST_AUTO_TEST_CASE(the_forward_graph_stays_as_it_is) {
  const auto forward = kept(weft::trace<shared>);
  const auto g = kept(shared_gradients);
  BOOST_TEST(g->count > forward->count);
  for (int i = 0; i < forward->count; ++i)
    BOOST_TEST(weft::detail::same_node(g->nodes[i], forward->nodes[i]));
}

BOOST_AUTO_TEST_CASE(lowered_gradients_match_the_reference) {
  weft::testing::trial<weft::training<shared, "loss">>();
  weft::testing::trial<weft::training<of_inputs, "loss">>();
}

BOOST_AUTO_TEST_CASE(a_loss_with_axes_is_refused) {
  const auto g = kept(weft::trace<shared>);
  BOOST_CHECK_THROW(kept([&] { return weft::differentiate(*g, 1); }), std::exception);
}

BOOST_AUTO_TEST_SUITE_END()
