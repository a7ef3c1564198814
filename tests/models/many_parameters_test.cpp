// A model of thousands of parameters compiles, runs and is trained.
#include <boost/test/unit_test.hpp>

#include "weft/weft.hpp"

namespace {

constexpr int count = 4096;

struct Embed : weft::axis<4> {};

// x + w₀ + w₁ + …, and the sum of its squares.
struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Embed>();
    for (int i = 0; i < count; ++i)
      x = x + (s / "layers" / i).param<"w", Embed>(weft::init::zeros());
    return weft::results(weft::as<"loss">(weft::sum<Embed>(x * x)), weft::as<"y">(x));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(many_parameters, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(a_model_of_4096_parameters_runs_and_each_gets_its_gradient) {
  weft::array<float, Embed> x;
  x(1) = 2;
  weft::parameters<model> parameters;
  parameters.get<"layers.4095.w", Embed>()(1) = 1;
  weft::module<model, "y"> net(parameters);
  BOOST_TEST(net(weft::arg<"x">(x)).get<"y">()(1) == 3);
  weft::trainer<model, weft::sgd> trainer(parameters, {.learning_rate = 0.25});
  BOOST_TEST(trainer.step(weft::arg<"x">(x)) == 9);
  for (std::size_t i = 0; i < count; ++i)
    BOOST_TEST(parameters[i].values[1] == (i + 1 == count) - 1.5f);
}

BOOST_AUTO_TEST_SUITE_END()
