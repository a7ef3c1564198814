#include "weft/run/optimizer.hpp"

#include <cmath>

namespace weft {

void sgd::operator()(const kernels::table& kernels, const update& u) const noexcept {
  kernels.sgd({.parameter = u.parameters.data(),
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

void adamw::operator()(const kernels::table& kernels, const update& u) const noexcept {
  double const rate = learning_rate * u.learning_rate_scale;
  auto const step = static_cast<double>(u.step);
  kernels.adamw({.parameter = u.parameters.data(),
                 .first_moment = u.state[0],
                 .second_moment = u.state[1],
                 .gradient = u.gradients.data(),
                 .size = u.parameters.size(),
                 .gradient_scale = static_cast<float>(u.gradient_scale),
                 .beta1 = beta1,
                 .beta2 = beta2,
                 .decay = u.decays ? static_cast<float>(1 - rate * weight_decay) : 1.0f,
                 .step_size = static_cast<float>(rate / (1 - std::pow(beta1, step))),
                 .sqrt_correction2 = static_cast<float>(std::sqrt(1 - std::pow(beta2, step))),
                 .epsilon = static_cast<float>(epsilon)});
}

}  // namespace weft
