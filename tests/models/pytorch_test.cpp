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

// Within the tolerance of the largest element: small elements are sums in which large ones cancel.
template <class Got>
void check_close(const std::string& what, const Got& got, const std::vector<float>& expected) {
  BOOST_TEST_REQUIRE(std::size(got) == expected.size(), what);
  float greatest = 0;
  for (float const e : expected) greatest = std::max(greatest, std::abs(e));
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    worst = std::max(worst, static_cast<double>(std::abs(got[i] - expected[i])));
  // A gradient that is 0 but for rounding (that of the keys' bias) has no scale of its own.
  BOOST_TEST(worst <= tolerance * static_cast<double>(std::max(greatest, 1e-2f)),
             what << ": off by " << worst << " of " << greatest);
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
    check_close("y", std::span(y.data(), y.size()), file["output.y"].f32);

    weft::trainer<golden::encoder_layer> trainer(parameters);
    BOOST_CHECK_CLOSE_FRACTION(static_cast<double>(trainer.gradients(cotangent)),
                               file["output.loss"].f64[0], tolerance);
    auto const gradients = trainer.gradients_of_parameters();
    for (std::size_t i = 0; i < gradients.count(); ++i) {
      std::string const name(gradients[i].name);
      check_close("gradient of " + name, gradients[i].values, file["grad." + name].f32);
    }
  });
}

BOOST_AUTO_TEST_CASE(char_lm_has_the_losses_of_ten_training_steps) {
  using model = char_lm::model<2>;
  golden::file const file(path("char_lm.safetensors"));
  weft::kernels::on_every_target([&](const auto&) {
    weft::trainer<model> trainer(weft::adamw{.learning_rate = 1e-3}, {.clip_norm = 1});
    auto const parameters = trainer.parameters();
    for (std::size_t i = 0; i < parameters.count(); ++i)
      for (std::size_t e = 0; e < parameters[i].values.size(); ++e)
        parameters[i].values[e] = golden::parameter(parameters[i].name, e);
    for (std::size_t step = 0; step < 10; ++step) {
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
      double squares = 0;
      for (float const x : parameters[i].values)
        squares += static_cast<double>(x) * static_cast<double>(x);
      BOOST_CHECK_CLOSE_FRACTION(
          squares, file["output.sums." + std::string(parameters[i].name)].f64[1], tolerance);
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
