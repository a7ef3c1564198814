// Optimizers: elementwise updates of the block of parameters. A user-defined optimizer has the same
// two members: `states`, the number of state blocks, and a noexcept operator(). With several
// threads the operator is called concurrently, each time for a disjoint range of the parameters.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "weft/kernels/kernels.hpp"

namespace weft {

// The range of parameters that one call updates. All spans cover the same range, so state[s] has
// parameters.size() floats too; `state` has `states` entries, whose values are 0 before the first
// step. A range may include alignment padding.
struct update {
  std::span<float> parameters;       // to be changed
  std::span<const float> gradients;  // before they are scaled
  std::span<float* const> state;     // to be changed
  double gradient_scale = 1;         // multiplies every gradient: below 1 where the norm is clipped
  double learning_rate_scale = 1;    // factor from the schedule and the group of parameters
  double weight_decay_scale = 1;     // factor from the group
  std::int64_t step = 1;             // 1 in the first step
};

// Stochastic gradient descent with momentum, as torch.optim.SGD with dampening 0. With gradient g,
// parameter p, rate r = learning_rate * learning_rate_scale and velocity v: d = gradient_scale g +
// weight_decay weight_decay_scale p; v = momentum v + d; then p -= r v or, with nesterov, p -= r (d
// + momentum v). With momentum 0, p -= r d, and v is not used.
struct sgd {
  double learning_rate = 1e-3;  // before the factor of the schedule
  double momentum = 0;          // the factor of the velocity in each step
  double weight_decay = 0;      // coupled (an L2 penalty): times p, added to the gradient
  bool nesterov = false;        // whether p moves by d + momentum v instead of v

  static constexpr std::size_t states = 1;  // the velocity
  // One step for a range of parameters.
  void operator()(const update& u) const noexcept;
};

// Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2) and bias correction,
// as torch.optim.AdamW. At step t, with g = gradient_scale * gradient and rate r = learning_rate *
// learning_rate_scale: p *= 1 - r weight_decay weight_decay_scale; m = beta1 m + (1 - beta1) g; v =
// beta2 v + (1 - beta2) g^2; p -= r m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon).
struct adamw {
  double learning_rate = 1e-3;  // before the factor of the schedule
  double beta1 = 0.9;           // the factor of the first moment in each step
  double beta2 = 0.999;         // the factor of the second moment in each step
  double epsilon = 1e-8;        // added to the root of the second moment
  double weight_decay = 1e-2;   // decoupled: times the rate, the part of p that each step takes off

  static constexpr std::size_t states = 2;  // the first and second moments m and v
  // One step for a range of parameters.
  void operator()(const update& u) const noexcept;
};

namespace detail {

// These are in the library, since the arithmetic of users' files depends on their flags.

// The sum in this order.
double sum_of(std::span<const double> numbers) noexcept;

// Adds the gradients of the last of several batches to the sums, which the first sets, and then
// sets them to the mean.
void mean_of_batches(std::span<float> gradients, float* sums, int batches) noexcept;

struct clipping {
  double norm;   // the L2 norm of all gradients
  double scale;  // what they are multiplied by
  bool finite;   // whether the norm is
};
// By sums of squared gradients: see training_options::clip_norm.
clipping clip(std::span<const double> squares, std::optional<double> clip_norm) noexcept;
// Throws weft::error: the norm is not finite.
[[noreturn]] void refuse_norm(double norm);

}  // namespace detail

}  // namespace weft
#include "weft/header_end.hpp"
