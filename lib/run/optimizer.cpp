#include "weft/run/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "weft/kernels/elementary.hpp"
#include "weft/run/error.hpp"
#include "weft/run/schedule.hpp"
#include "weft/run/training.hpp"

namespace weft {

void sgd::operator()(const update& u) const noexcept {
  kernels::sgd_kernel()({.parameter = u.parameters.data(),
                         .velocity = u.state[0],
                         .gradient = u.gradients.data(),
                         .size = u.parameters.size(),
                         .gradient_scale = static_cast<float>(u.gradient_scale),
                         .learning_rate = static_cast<float>(learning_rate * u.learning_rate_scale),
                         .momentum = static_cast<float>(momentum),
                         .weight_decay = static_cast<float>(weight_decay * u.weight_decay_scale),
                         .nesterov = nesterov,
                         .first = u.step == 1});
}

void adamw::operator()(const update& u) const noexcept {
  const double rate = learning_rate * u.learning_rate_scale;
  kernels::adamw_kernel()(
      {.parameter = u.parameters.data(),
       .first_moment = u.state[0],
       .second_moment = u.state[1],
       .gradient = u.gradients.data(),
       .size = u.parameters.size(),
       .gradient_scale = static_cast<float>(u.gradient_scale),
       .beta1 = beta1,
       .beta2 = beta2,
       .decay = static_cast<float>(1 - rate * (weight_decay * u.weight_decay_scale)),
       .step_size = static_cast<float>(rate / (1 - kernels::power(beta1, u.step))),
       .sqrt_correction2 = static_cast<float>(std::sqrt(1 - kernels::power(beta2, u.step))),
       .epsilon = static_cast<float>(epsilon)});
}

double warmup_cosine::operator()(std::int64_t step) const {
  if (step < warmup) return static_cast<double>(step + 1) / static_cast<double>(warmup);
  const double span = static_cast<double>(std::max<std::int64_t>(total - warmup, 1));
  const double progress = std::min(static_cast<double>(step - warmup) / span, 1.0);
  return floor + (1 - floor) * 0.5 * (1 + kernels::cosine_of_turns(progress / 2));
}

namespace detail {

double sum_of(std::span<const double> numbers) noexcept {
  double sum = 0;
  for (const double x : numbers) sum += x;
  return sum;
}

void mean_of_batches(std::span<float> gradients, float* sums, int batches) noexcept {
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    sums[i] = batches == 1 ? gradients[i] : sums[i] + gradients[i];
    gradients[i] = sums[i] / static_cast<float>(batches);
  }
}

clipping clip(std::span<const double> squares, std::optional<double> clip_norm) noexcept {
  const double norm = std::sqrt(sum_of(squares));
  return {norm, clip_norm ? std::min(1.0, *clip_norm / (norm + 1e-6)) : 1, std::isfinite(norm)};
}

std::vector<double> factors_of(const program& tables, const training_options& options) {
  std::vector<double> factors(2 * tables.parameters.size(), 1);
  for (std::size_t g = std::size(options.groups); g-- > 0;) {  // the first one stays
    const parameter_group& group = options.groups[g];
    bool used = group.pattern.empty();
    for (std::size_t i = 0; i < tables.parameters.size(); ++i) {
      if (!matches(group.pattern, tables.name(tables.parameters[i].name))) continue;
      used = true;
      factors[2 * i] = group.rate;
      factors[2 * i + 1] = group.decay;
    }
    if (!used)
      detail::raise("training_options: the pattern '" + group.pattern +
                    "' of a group stands for no parameter of the model");
  }
  return factors;
}

void refuse_norm(double norm) {
  detail::raise(
      "trainer: the norm of the gradients is " +
      std::string(std::isnan(norm) ? "not a number" : "infinite") +
      ", and no parameter was updated; training_options::error_if_nonfinite = false leaves "
      "out such steps without an error");
}

}  // namespace detail

}  // namespace weft
