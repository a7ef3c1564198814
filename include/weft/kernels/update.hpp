// One optimizer step over a contiguous block of parameters.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>

#include "weft/language.hpp"

namespace weft::kernels {

// Stochastic gradient descent with momentum, as torch.optim.SGD: d = gradient * scale +
// weight_decay * parameter; velocity = momentum * velocity + d (velocity = d on the first step);
// parameter -= learning_rate * (nesterov ? d + momentum * velocity : velocity).
struct sgd_step {
  float* parameter = nullptr;
  float* velocity = nullptr;  // not read if momentum is 0
  const float* gradient = nullptr;
  std::size_t size = 0;
  float gradient_scale = 1;  // from clipping
  float learning_rate = 0;
  float momentum = 0;
  float weight_decay = 0;
  bool nesterov = false;
  bool first = false;
};

// AdamW (Loshchilov and Hutter 2019, algorithm 2), as torch.optim.AdamW: parameter *= 1 -
// learning_rate * weight_decay; m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
// parameter -= step_size * m / (sqrt(v) / sqrt_correction2 + epsilon), with step_size =
// learning_rate / (1 - beta1^t) and sqrt_correction2 = sqrt(1 - beta2^t).
struct adamw_step {
  float* parameter = nullptr;
  float* first_moment = nullptr;
  float* second_moment = nullptr;
  const float* gradient = nullptr;
  std::size_t size = 0;
  float gradient_scale = 1;
  double beta1 = 0, beta2 = 0;  // double: 1 - 0.999f is off by 1.3e-5 from PyTorch's
  float decay = 1;              // 1 - learning_rate * weight_decay
  float step_size = 0;
  float sqrt_correction2 = 1;
  float epsilon = 0;
};

}  // namespace weft::kernels
#include "weft/header_end.hpp"
