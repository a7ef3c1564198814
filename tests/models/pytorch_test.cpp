// Whole models, lowered and run on every SIMD target, against PyTorch's results (tests/golden).
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>

#include "examples/char_lm/model.hpp"
#include "kernels/targets.hpp"
#include "support/golden_file.hpp"
#include "support/golden_init.hpp"
#include "support/greater_error.hpp"
#include "weft/files/safetensors.hpp"

namespace {

namespace golden = weft::golden;
using weft::testing::greater_error;

// Relative tolerances: four times the largest differences of any SIMD target, which
// `--log_level=message` shows.
constexpr double of_losses = 4e-7, of_norms = 3e-6, of_squares = 1e-5;

// The gradient of a bias of the keys is 0 but for rounding, since it shifts all scores of a query
// equally.
bool has_bias_of_keys(const std::string& name) {
  return name.ends_with("in_proj_bias");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pytorch)

BOOST_AUTO_TEST_CASE(char_lm_matches_pytorch_over_ten_training_steps) {
  using model = char_lm::model<2>;
  constexpr double learning_rate = 1e-3;
  constexpr std::size_t steps = 10;
  const weft::tensor_file file(weft::testing::golden_file("char_lm.safetensors"));
  const auto losses = file["output.losses"].values<double>();
  const auto norms = file["output.gradient_norms"].values<double>();
  weft::kernels::on_every_target([&](const auto&) {
    double losses_off = 0, norms_off = 0, squares_off = 0;
    weft::trainer<model> trainer(weft::adamw{.learning_rate = learning_rate}, {.clip_norm = 1});
    const auto parameters = trainer.parameters();
    for (std::size_t i = 0; i < parameters.count(); ++i)
      for (std::size_t e = 0; e < parameters[i].values.size(); ++e)
        parameters[i].values[e] = golden::parameter(parameters[i].name, e);
    for (std::size_t step = 0; step < steps; ++step) {
      const auto bytes = golden::tokens(static_cast<int>(step), 4, 32);
      using ids = weft::view<const std::int32_t, weft::shape<char_lm::Batch, char_lm::Pos>>;
      const float loss = trainer.step(weft::arg<"tokens">(ids(bytes.tokens.data(), 4, 32)),
                                      weft::arg<"targets">(ids(bytes.targets.data(), 4, 32)));
      losses_off =
          greater_error(losses_off, std::abs(static_cast<double>(loss) / losses[step] - 1));
      norms_off = greater_error(norms_off, std::abs(trainer.gradient_norm() / norms[step] - 1));
    }
    for (std::size_t i = 0; i < parameters.count(); ++i) {
      double squares = 0, sizes = 0;
      for (const float x : parameters[i].values) {
        squares += static_cast<double>(x) * static_cast<double>(x);
        sizes += static_cast<double>(std::abs(x));
      }
      const double expected =
          file["output.sums." + std::string(parameters[i].name)].values<double>()[1];
      // AdamW follows even a gradient of pure rounding noise, by about the learning rate per step.
      const std::string name(parameters[i].name);
      const double astray = has_bias_of_keys(name) ? 2 * steps * learning_rate * sizes : 0;
      const double off = std::abs(squares - expected);
      squares_off = greater_error(squares_off, std::max(off - astray, 0.0) / expected);
      BOOST_TEST(off <= of_squares * expected + astray,
                 name << ": " << squares << ", expected " << expected);
    }
    BOOST_TEST_MESSAGE("off by " << losses_off << " in losses, " << norms_off << " in norms, "
                                 << squares_off << " in parameters");
    BOOST_TEST(losses_off <= of_losses);
    BOOST_TEST(norms_off <= of_norms);
  });
}

BOOST_AUTO_TEST_SUITE_END()
