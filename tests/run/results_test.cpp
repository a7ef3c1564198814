// Results of a run: they belong to the run, and can be copied.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <stdexcept>

#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using weft::arg;

struct Rows : weft::axis<weft::up_to<5>> {};
struct Columns : weft::axis<3> {};
struct Last : weft::axis<2> {};

// Returns only its input, its parameter and a slice of the input.
struct echo {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows, Columns>();
    auto p = s.param<"p", Columns>(weft::init::ones());
    return weft::results(weft::as<"x">(x), weft::as<"p">(p),
                         weft::as<"part">(weft::slice<Columns, Last, 1>(x)));
  }
};

struct threshold {
  constexpr auto operator()(weft::scope s) const {
    auto above = s.input<"x", float, Rows>() > s.input<"least", float>();
    return weft::results(weft::as<"floats">(where(above, 1.0, 0)),
                         weft::as<"integers">(where(above, 7, -7)));
  }
};

struct two_losses {
  constexpr auto operator()(weft::scope s) const {
    auto a = s.param<"a", Columns>(weft::init::ones());
    auto b = s.param<"b", Columns>(weft::init::ones());
    return weft::results(weft::as<"of_a">(weft::sum<Columns>(a * a)),
                         weft::as<"of_b">(weft::sum<Columns>(b * b)));
  }
};

struct one_name_twice {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows>();
    return weft::results(weft::as<"y">(x), weft::as<"y">(x + 1));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(results)

BOOST_AUTO_TEST_CASE(a_result_does_not_change_with_arguments_or_parameters) {
  weft::module<echo> net;
  weft::array<float, Rows, Columns> x(2);
  std::fill(x.begin(), x.end(), 1.0f);
  auto const r = net(arg<"x">(x));
  std::fill(x.begin(), x.end(), 9.0f);
  net.parameters().get<"p", Columns>()(0u) = 9;
  BOOST_TEST(r.get<"x">()(1u, 2u) == 1);
  BOOST_TEST(r.get<"part">()(1u, 1u) == 1);
  BOOST_TEST(r.get<"p">()(0u) == 1);
}

BOOST_AUTO_TEST_CASE(an_array_keeps_a_result_beyond_the_next_run) {
  weft::module<echo> net;
  weft::array<float, Rows, Columns> x(2), other(3);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i);
  weft::array<float, Rows, Last> const kept(net(arg<"x">(x)).get<"part">());
  net(arg<"x">(other));
  BOOST_TEST(kept.length<Rows>() == 2u);
  BOOST_TEST(kept(0u, 0u) == 1);
  BOOST_TEST(kept(1u, 1u) == 5);
}

BOOST_AUTO_TEST_CASE(an_input_without_axes_takes_a_scalar) {
  weft::module<threshold> net;
  std::vector<float> const x{1, 2, 3};
  auto const r = net(arg<"x">(x), arg<"least">(1.5f));
  BOOST_TEST(r.get<"floats">()(0u) == 0.0f);
  BOOST_TEST(r.get<"floats">()(2u) == 1.0f);
  BOOST_TEST(r.get<"integers">()(0u) == -7);
  BOOST_TEST(r.get<"integers">()(1u) == 7);
}

BOOST_AUTO_TEST_CASE(a_parameter_that_the_loss_does_not_depend_on_is_not_updated) {
  weft::parameters<two_losses> const p;
  weft::trainer<two_losses, weft::adamw, "of_b"> trainer(
      p, {.learning_rate = 0.1, .weight_decay = 0.5});
  trainer.step();
  auto const a = p.get<"a", Columns>();
  auto const b = p.get<"b", Columns>();
  BOOST_TEST(a(0u) == 1);
  BOOST_TEST(b(0u) < 1);
}

BOOST_AUTO_TEST_CASE(two_results_of_one_name_are_refused) {
  BOOST_CHECK_THROW(weft::testing::kept([] { return weft::trace<one_name_twice>(); }),
                    std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
