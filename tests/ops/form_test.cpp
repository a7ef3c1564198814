// Axes of one element, stacks, and what stops gradients.
#include <boost/test/unit_test.hpp>
#include <tuple>

#include "passes/graphs.hpp"
#include "support/axes.hpp"
#include "support/central_differences.hpp"
#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using weft::as, weft::squeeze, weft::stack, weft::unsqueeze, weft::unstack, weft::testing::lengths,
    weft::testing::trial, weft::testing::One, weft::testing::Two, weft::testing::Three,
    weft::testing::Four, weft::testing::Five;

struct Pos : weft::axis<weft::up_to<6>> {};

struct forms {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Two, Pos, Four, Three>();
    auto one = s.input<"one", float, Three, One>();
    auto i = s.input<"i", std::int32_t, One, Pos>();
    auto flags = s.input<"flags", bool, One>();
    auto e = exp(x);
    auto [a, b, c, d] = unstack<Four>(e);
    auto [p, q] = unstack<Two>(x);
    auto narrow = squeeze<One>(one);
    return weft::results(
        as<"a">(a), as<"gates">(a * b + c * d), as<"second">(q), as<"swapped">(stack<Two>(q, p)),
        as<"of_others">(stack<Four>(d, a, x.g ? c : b, exp(b))), as<"single">(stack<One>(p)),
        as<"scalars">(stack<Three>(weft::sum<Pos, Two, Four, Three>(x), weft::max<Three>(narrow),
                                   weft::length<Pos>())),
        as<"narrow">(narrow), as<"wide">(unsqueeze<One>(x)), as<"ints">(squeeze<One>(i) + 1),
        as<"flag">(squeeze<One>(flags)), as<"wide_sum">(unsqueeze<One>(e) + one),
        as<"back">(squeeze<One>(unsqueeze<One>(e))), as<"stopped">(weft::stop_gradient(e) * x));
  }
};

struct gradients {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.param<"x", Four, Five>();
    auto w = s.input<"w", float, Five, Three>();
    auto [a, b, c, d] = unstack<Four>(x);
    auto y = stack<Three>(a * b, squeeze<One>(unsqueeze<One>(c) * d), exp(b));
    return as<"loss">(weft::sum<Three, Five, One>(y * unsqueeze<One>(w)));
  }
};

// In the body of a scan with two carries.
struct lstm {
  constexpr auto operator()(weft::scope s) const {
    using weft::sigmoid, weft::tanh;
    auto x = s.param<"x", Five, Four, Two>();
    auto u = s.param<"u", Four, Two>();
    auto zeros = weft::broadcast<Two>(weft::constant(0.0f));
    auto all = weft::scan<Five>(std::tuple{zeros, zeros}, x, [&](auto h, auto c, auto x_t) {
      auto [i, f, g, o] = unstack<Four>(x_t + u * h);
      auto cell = sigmoid(f) * c + sigmoid(i) * tanh(g);
      auto hidden = sigmoid(o) * tanh(cell);
      return weft::next(hidden, cell).with(stack<Three>(hidden, cell, hidden * h));
    });
    return as<"loss">(weft::sum<Five, Three, Two>(all.all));
  }
};

// One fused loop reads all gates where they are.
struct gates {
  constexpr auto operator()(weft::scope s) const {
    auto [i, f, g, o] = unstack<Four>(s.input<"x", float, Two, Four, Five>());
    return i * f + g * o;
  }
};
static_assert(weft::testing::steps(weft::inference<gates>::make()) == 1);

struct stopped {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.param<"x", Five>();
    auto unused = s.param<"unused", Five>();
    return as<"loss">(weft::sum<Five>(weft::stop_gradient(x * x + unused) * x));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(form)

BOOST_AUTO_TEST_CASE(stacks_and_axes_of_one_element_match_the_reference) {
  for (const int pos : {0, 1, 6}) trial<weft::inference<forms>>(lengths<Pos>(pos));
}

BOOST_AUTO_TEST_CASE(slices_of_an_axis_are_its_elements_and_stack_back_to_it) {
  struct model {
    constexpr auto operator()(weft::scope s) const {
      auto x = s.input<"x", float, Five, Four>();
      auto [a, b, c, d] = unstack<Four>(x);
      return weft::results(as<"c">(c), as<"stacked">(stack<Four>(a, b, c, d)));
    }
  };
  weft::array<float, Five, Four> x;
  for (std::size_t k = 0; k < 20; ++k) x(k / 4, k % 4) = static_cast<float>(k);
  weft::module<model> net;
  const auto y = net(weft::arg<"x">(x));
  for (std::size_t k = 0; k < 20; ++k) {
    BOOST_TEST(y.get<"c">()(k / 4) == x(k / 4, 2));
    BOOST_TEST(y.get<"stacked">()(k % 4, k / 4) == x(k / 4, k % 4));
  }
}

BOOST_AUTO_TEST_CASE(stacks_have_the_gradients_that_differences_give) {
  weft::testing::gradient_trial<gradients>();
  weft::testing::gradient_trial<lstm>();
}

BOOST_AUTO_TEST_CASE(no_gradient_passes_where_it_is_stopped) {
  weft::trainer<stopped> t;
  const auto x = t.parameters().find("x").values;
  t.compute_gradients();
  for (std::size_t i = 0; i < 5; ++i) {
    const float unused = t.parameters().find("unused").values[i];
    BOOST_TEST(t.gradients().find("x").values[i] == x[i] * x[i] + unused);
    BOOST_TEST(t.gradients().find("unused").values[i] == 0);
  }
}

BOOST_AUTO_TEST_SUITE_END()
