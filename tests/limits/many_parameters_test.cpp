// A model of thousands of parameters compiles, and is trained. What is compiled to run it is part
// of what is compiled to train it.
#include <boost/test/unit_test.hpp>

#include "weft/weft.hpp"

namespace {

constexpr int count = 4096;

struct Embed : weft::axis<4> {};

// The sum of the squares of x + w₀ + w₁ + ….
struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Embed>();
    for (int i = 0; i < count; ++i)
      x = x + (s / "layers" / i).param<"w", Embed>(weft::init::zeros());
    return weft::as<"loss">(weft::sum<Embed>(x * x));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(many_parameters, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(each_of_4096_parameters_gets_its_gradient) {
  weft::array<float, Embed> x;
  x(1) = 2;
  weft::parameters<model> parameters;
  parameters.get<"layers.4095.w", Embed>()(1) = 1;
  weft::trainer<model, weft::sgd> trainer(parameters, {.learning_rate = 0.25});
  BOOST_TEST(trainer.step(weft::arg<"x">(x)) == 9);
  for (std::size_t i = 0; i < count; ++i)
    BOOST_TEST(parameters[i].values[1] == (i + 1 == count) - 1.5f);
}

BOOST_AUTO_TEST_SUITE_END()
