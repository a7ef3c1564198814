// Whole models, lowered and run on every SIMD target, against PyTorch's numbers (tests/golden).
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>

#include "examples/char_lm/model.hpp"
#include "kernels/targets.hpp"
#include "support/encoder_layer.hpp"
#include "support/golden_init.hpp"
#include "support/safetensors.hpp"

namespace {

namespace golden = weft::golden;

std::string path(const char* file) {
  return std::string(WEFT_TEST_DATA) + "/" + file;
}

// What the project asks of whole models.
constexpr double tolerance = 1e-4;

double greatest(const std::vector<float>& values) {
  double most = 0;
  for (float const x : values) most = std::max(most, static_cast<double>(std::abs(x)));
  return most;
}

// Within the tolerance of the largest element: small elements are sums in which large ones cancel.
template <class Got>
void check_close(const std::string& what, const Got& got, const std::vector<float>& expected,
                 double scale) {
  BOOST_TEST_REQUIRE(std::size(got) == expected.size(), what);
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    worst = std::max(worst, static_cast<double>(std::abs(got[i] - expected[i])));
  BOOST_TEST(worst <= tolerance * scale, what << ": off by " << worst << " of " << scale);
}

// The gradient for a bias of the keys is 0 but for rounding, since it moves all scores of a query
// alike; it has no scale of its own. Its terms are as large as those of the queries' bias.
std::string of_like_terms(std::string name) {
  if (auto const at = name.find("key.bias"); at != std::string::npos) name.replace(at, 3, "query");
  return name;
}

weft::parameters<golden::encoder_layer> stored_parameters(const golden::file& file) {
  weft::parameters<golden::encoder_layer> p;
  for (std::size_t i = 0; i < p.count(); ++i) {
    std::string const name(p[i].name);
    auto const& from = file[name == "x" ? "input.x" : "param." + name];
    BOOST_TEST_REQUIRE(std::ranges::equal(from.shape, p[i].extents), name);
    std::ranges::copy(from.f32, p[i].values.begin());
  }
  return p;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pytorch)

BOOST_AUTO_TEST_CASE(an_encoder_layer_gives_its_output_and_gradients) {
  golden::file const file(path("encoder_layer.safetensors"));
  auto const cotangent = weft::arg<"cotangent">(file["input.cotangent"].f32);
  weft::kernels::on_every_target([&](const auto&) {
    auto const parameters = stored_parameters(file);
    weft::module<golden::encoder_layer, "y"> net(parameters);
    auto const y = net().get<"y">();
    check_close("y", std::span(y.data(), y.size()), file["output.y"].f32,
                greatest(file["output.y"].f32));

    weft::trainer<golden::encoder_layer> trainer(parameters);
    BOOST_CHECK_CLOSE_FRACTION(static_cast<double>(trainer.gradients(cotangent)),
                               file["output.loss"].f64[0], tolerance);
    auto const gradients = trainer.gradients_of_parameters();
    for (std::size_t i = 0; i < gradients.count(); ++i) {
      std::string const name(gradients[i].name);
      check_close("gradient of " + name, gradients[i].values, file["grad." + name].f32,
                  greatest(file["grad." + of_like_terms(name)].f32));
    }
  });
}

BOOST_AUTO_TEST_CASE(char_lm_has_the_losses_of_ten_training_steps) {
  using model = char_lm::model<2>;
  constexpr double learning_rate = 1e-3;
  constexpr std::size_t steps = 10;
  golden::file const file(path("char_lm.safetensors"));
  weft::kernels::on_every_target([&](const auto&) {
    weft::trainer<model> trainer(weft::adamw{.learning_rate = learning_rate}, {.clip_norm = 1});
    auto const parameters = trainer.parameters();
    for (std::size_t i = 0; i < parameters.count(); ++i)
      for (std::size_t e = 0; e < parameters[i].values.size(); ++e)
        parameters[i].values[e] = golden::parameter(parameters[i].name, e);
    for (std::size_t step = 0; step < steps; ++step) {
      auto const bytes = golden::tokens(static_cast<int>(step), 4, 32);
      using ids = weft::view<const std::int32_t, weft::shape<char_lm::Batch, char_lm::Pos>>;
      float const loss = trainer.step(weft::arg<"tokens">(ids(bytes.tokens.data(), 4, 32)),
                                      weft::arg<"targets">(ids(bytes.targets.data(), 4, 32)));
      BOOST_CHECK_CLOSE_FRACTION(static_cast<double>(loss), file["output.losses"].f64[step],
                                 tolerance);
      BOOST_CHECK_CLOSE_FRACTION(trainer.gradient_norm(), file["output.gradient_norms"].f64[step],
                                 tolerance);
    }
    for (std::size_t i = 0; i < parameters.count(); ++i) {
      double squares = 0, sizes = 0;
      for (float const x : parameters[i].values) {
        squares += static_cast<double>(x) * static_cast<double>(x);
        sizes += static_cast<double>(std::abs(x));
      }
      double const expected = file["output.sums." + std::string(parameters[i].name)].f64[1];
      // AdamW steps along a gradient of nothing but rounding too, about as far as its rate.
      std::string const name(parameters[i].name);
      double const astray = of_like_terms(name) == name ? 0 : 2 * steps * learning_rate * sizes;
      BOOST_TEST(std::abs(squares - expected) <= tolerance * expected + astray,
                 name << ": " << squares << ", expected " << expected);
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
