// The reference interpreter and the gradients against PyTorch's results (tests/golden).
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "../../examples/char_lm/model.hpp"
#include "../support/golden_init.hpp"
#include "reference/evaluate.hpp"
#include "support/golden_file.hpp"
#include "weft/files/safetensors.hpp"
#include "weft/passes/differentiate.hpp"

namespace {

namespace reference = weft::reference;
namespace golden = weft::golden;

constexpr double single = 0x1p-24;  // half the distance from 1 to the next float

constexpr weft::graph char_lm_trained = weft::differentiate(weft::trace<char_lm::model<2>>(), 0);

// torch.optim.AdamW in double, over one parameter.
struct adamw {
  double learning_rate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0.01;
  std::vector<double> first_moment{}, second_moment{};

  void step(int t, std::vector<double>& p, const std::vector<double>& g, double gradient_scale) {
    first_moment.resize(p.size());
    second_moment.resize(p.size());
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double d = g[i] * gradient_scale;
      first_moment[i] = beta1 * first_moment[i] + (1 - beta1) * d;
      second_moment[i] = beta2 * second_moment[i] + (1 - beta2) * d * d;
      const double mean = first_moment[i] / (1 - std::pow(beta1, t));
      const double square = second_moment[i] / (1 - std::pow(beta2, t));
      p[i] -= learning_rate * (weight_decay * p[i] + mean / (std::sqrt(square) + epsilon));
    }
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(pytorch, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(the_reference_matches_pytorch_over_two_training_steps_of_char_lm) {
  constexpr std::size_t batch = 4, length = 32;
  const weft::graph& g = char_lm_trained;
  const weft::tensor_file file(weft::testing::golden_file("char_lm.safetensors"));
  const auto losses = file["output.losses"].values<double>();
  const auto norms = file["output.gradient_norms"].values<double>();
  reference::lengths lengths;
  lengths.set<char_lm::Batch>(batch).set<char_lm::Pos>(length);

  struct trained {
    std::string name;
    weft::axis_list axes{};
    adamw optimizer;
  };
  std::vector<trained> parameters;
  reference::bindings given;
  for (int i = 0; i < g.parameter_count; ++i) {
    const std::string name(g.name(g.parameters[i].name));
    parameters.push_back({name, g.nodes[g.parameters[i].node].axes, {}});
    const auto start = golden::parameter_values(name, parameters.back().axes.extent());
    given.parameters[name].assign(start.begin(), start.end());
  }
  for (int step = 0; step < 2; ++step) {
    const auto bytes = golden::tokens(step, batch, length);
    given.inputs["tokens"].assign(bytes.tokens.begin(), bytes.tokens.end());
    given.inputs["targets"].assign(bytes.targets.begin(), bytes.targets.end());
    const auto all = reference::evaluate(g, lengths, given);
    double norm = 0;
    for (const auto& p : parameters)
      for (const double d : reference::gradient(g, all, p.name).data) norm += d * d;
    norm = std::sqrt(norm);

    const auto at = static_cast<std::size_t>(step);
    BOOST_CHECK_CLOSE_FRACTION(reference::result(g, all, "loss").data[0], losses[at], 1e-10);
    BOOST_CHECK_CLOSE_FRACTION(norm, norms[at], 1e-10);

    // torch.nn.utils.clip_grad_norm_ to 1. Positions beyond the length have gradient 0, and decay.
    const double scale = std::min(1.0, 1.0 / (norm + 1e-6));
    for (auto& p : parameters)
      p.optimizer.step(
          step + 1, given.parameters[p.name],
          reference::at_bound(reference::gradient(g, all, p.name), p.axes, lengths).data, scale);
  }
}

BOOST_AUTO_TEST_CASE(adamw_steps_match_pytorch) {
  const weft::tensor_file file(weft::testing::golden_file("optimizer.safetensors"));
  std::vector<double> p = file["parameters"].values<double>();
  const std::vector<double> gradients = file["gradients"].values<double>();
  const std::vector<double> after = file["adamw.parameters"].values<double>();
  adamw optimizer{.learning_rate = 0.01};
  const auto size = static_cast<std::ptrdiff_t>(p.size());
  for (int step = 0; step < 5; ++step) {
    const auto now = gradients.begin() + step * size;
    optimizer.step(step + 1, p, {now, now + size}, 1);
    for (std::size_t i = 0; i < p.size(); ++i)  // PyTorch's are float32: a few roundings each step
      BOOST_CHECK_SMALL(p[i] - after[static_cast<std::size_t>(step * size) + i],
                        8 * (step + 1) * single * (std::abs(p[i]) + 0.01));
  }
}

BOOST_AUTO_TEST_SUITE_END()
