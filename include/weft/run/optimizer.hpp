// Optimizers: each is a loop over the one block of parameters. An optimizer of the user's own has
// the same two members; where training goes on several threads, its operator is called by them at
// the same time, each time for other parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "weft/kernels/kernels.hpp"

namespace weft {

// What one call of an optimizer works on, some of the parameters: blocks of equal size. `state` has
// `states` blocks, zeros at first.
struct update {
  std::span<float> parameters;
  std::span<const float> gradients;
  std::span<float* const> state;
  double gradient_scale = 1;       // multiplies every gradient
  double learning_rate_scale = 1;  // of the schedule
  bool decays = true;              // does weight decay touch these parameters?
  std::int64_t step = 1;           // 1 in the first step
};

// Stochastic gradient descent, as torch.optim.SGD with dampening 0.
struct sgd {
  double learning_rate = 1e-3;
  double momentum = 0;
  double weight_decay = 0;  // coupled: added to the gradient
  bool nesterov = false;

  static constexpr std::size_t states = 1;  // the velocity
  void operator()(const kernels::table& kernels, const update& u) const noexcept;
};

// Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2), bias-corrected, as
// torch.optim.AdamW.
struct adamw {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 1e-2;

  static constexpr std::size_t states = 2;  // the moments
  void operator()(const kernels::table& kernels, const update& u) const noexcept;
};

}  // namespace weft
