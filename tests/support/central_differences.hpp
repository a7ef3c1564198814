// The gradients that differentiate gives, in double precision, against central differences.
#pragma once

#include <cmath>

#include "support/trial.hpp"

namespace weft::testing {

// The derivative of a loss by one number.
struct difference {
  double slope, tolerance;
};

// (L(p + h) - L(p - h)) / 2h is off by h²/6 L'''(p) and higher terms, and by what L's rounding
// makes of a division by h. With 2h it is off by four times the first, so the distance of the two
// is three times the one at h; `noise` bounds the second.
template <class Loss>
difference central_difference(const Loss& loss, double p, double noise) {
  constexpr double h = 1e-5;
  double const at_h = (loss(p + h) - loss(p - h)) / (2 * h);
  double const at_2h = (loss(p + 2 * h) - loss(p - 2 * h)) / (4 * h);
  return {at_h, std::abs(at_2h - at_h) + noise / h};
}

// Each number of each parameter: of the graph of a loss, and of that with its gradients.
void check_gradients(const graph& forward, const graph& with_gradients, const settings& s);
template <class Model>
void check_gradients(const settings& s = {}) {
  check_gradients(*plain_graph<sampling<Model, "loss">>(), *plain_graph<training<Model, "loss">>(),
                  s);
}

// In double precision against differences, and in float32 on every target against the reference.
template <class Model>
void gradient_trial(const settings& s = {}) {
  check_gradients<Model>(s);
  trial<training<Model, "loss">>(s);
}

}  // namespace weft::testing
