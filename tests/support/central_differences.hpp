// The gradients that differentiate gives, in double precision, against central differences.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>

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

// Each number of each parameter.
template <class Model>
void check_gradients(const settings& s = {}) {
  auto const g = plain_graph<training<Model, "loss">>::make();
  auto const forward = plain_graph<sampling<Model, "loss">>::make();
  settings values_alone = s;
  values_alone.tolerance = 1;  // nothing is compared in float32
  expectation const expected(*g, values_alone);
  reference::lengths const of = reference::complete(*g, s.lengths);
  reference::bindings changed = expected.given();
  auto const of_forward = reference::evaluate(*forward, s.lengths, expected.given());
  double noise = 0;  // each float of each node is rounded once, and counts about once in the loss
  for (int i = 0; i < forward->count; ++i) {
    int const body = loop_of(*forward, i);
    double const times = body > 0 ? static_cast<double>(of(forward->regions[body - 1].axis)) : 1;
    for (double const x : of_forward[static_cast<std::size_t>(i)].data)
      if (forward->nodes[i].type == element::float32 && std::isfinite(x))
        noise += times * std::abs(x) * std::numeric_limits<double>::epsilon();
  }

  for (int i = 0; i < g->parameter_count; ++i) {
    std::string const name(g->name(g->parameters[i].name));
    auto const gradient = reference::at_bound(reference::gradient(*g, expected.values(), name),
                                              g->nodes[g->parameters[i].node].axes, of);
    auto& values = changed.parameters.at(name);
    for (std::size_t j = 0; j < values.size(); ++j) {
      double const begin = values[j];
      auto const loss = [&](double p) {
        values[j] = p;
        auto const all = reference::evaluate(*forward, s.lengths, changed);
        values[j] = begin;
        return reference::result(*forward, all, "loss").data.at(0);
      };
      difference const d = central_difference(loss, begin, noise);
      BOOST_TEST(std::abs(d.slope - gradient.data[j]) <= d.tolerance,
                 name << "[" << j << "]: " << gradient.data[j] << ", differences give " << d.slope
                      << " within " << d.tolerance);
      BOOST_TEST(d.tolerance < 1e-5, "differences say too little about " << name);
    }
  }
}

// In double precision against differences, and in float32 on every target against the reference.
template <class Model>
void gradient_trial(const settings& s = {}) {
  check_gradients<Model>(s);
  trial<training<Model, "loss">>(s);
}

}  // namespace weft::testing
