// Gradients of the differentiate pass, in double precision, against central differences.
#pragma once

#include <cmath>

#include "support/trial.hpp"

namespace weft::testing {

// The derivative of a loss by one scalar.
struct difference {
  double slope, tolerance;
};

// (L(p + h) - L(p - h)) / 2h has an error of h²/6 L'''(p) and higher terms, and L's rounding errors
// divided by h. With 2h the former is four times as large, so the difference of the two is three
// times the error at h; `noise` bounds the latter.
template <class Loss>
difference central_difference(const Loss& loss, double p, double noise) {
  constexpr double h = 1e-5;
  const double at_h = (loss(p + h) - loss(p - h)) / (2 * h);
  const double at_2h = (loss(p + 2 * h) - loss(p - 2 * h)) / (4 * h);
  return {at_h, std::abs(at_2h - at_h) + noise / h};
}

// Checks each element of each parameter, given the graph of a loss and that with its gradients. If
// the graph of the loss has a result "exp", it is a term of the loss, the only one that parameters
// with names like "exp.x" are in: their differences are those of the term. So what is wrong with
// one term is said of its parameters alone.
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
// The same for a loss whose terms are results.
template <class Model>
void gradient_trial_of_terms(const settings& s = {}) {
  check_gradients(*plain_graph<sampling<Model>>(), *plain_graph<training<Model, "loss">>(), s);
  trial<training<Model, "loss">>(s);
}

}  // namespace weft::testing
