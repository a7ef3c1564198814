#include "weft/run/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "weft/kernels/elementary.hpp"
#include "weft/run/error.hpp"
#include "weft/run/schedule.hpp"

namespace weft {

void sgd::operator()(const update& u) const noexcept {
  kernels::sgd_kernel()({.parameter = u.parameters.data(),
                         .velocity = u.state[0],
                         .gradient = u.gradients.data(),
                         .size = u.parameters.size(),
                         .gradient_scale = static_cast<float>(u.gradient_scale),
                         .learning_rate = static_cast<float>(learning_rate * u.learning_rate_scale),
                         .momentum = static_cast<float>(momentum),
                         .weight_decay = u.decays ? static_cast<float>(weight_decay) : 0.0f,
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
       .decay = u.decays ? static_cast<float>(1 - rate * weight_decay) : 1.0f,
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

clipping clip(std::span<const double> squares, std::optional<double> clip_norm) noexcept {
  const double norm = std::sqrt(sum_of(squares));
  return {norm, clip_norm ? std::min(1.0, *clip_norm / (norm + 1e-6)) : 1, std::isfinite(norm)};
}

void refuse_norm(double norm) {
  throw error("trainer: the norm of the gradients is " +
              std::string(std::isnan(norm) ? "not a number" : "infinite") +
              ", and no parameter was updated; training_options::error_if_nonfinite = false leaves "
              "out such steps without an error");
}

}  // namespace detail

}  // namespace weft
