#include "support/central_differences.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

namespace weft::testing {

namespace {

// The result whose differences give the gradients of a parameter.
std::string term_of(const graph& forward, const std::string& parameter) {
  const std::string term = parameter.substr(0, parameter.find('.'));
  for (int i = 0; i < forward.output_count; ++i)
    if (forward.outputs[i].kind == output_kind::result &&
        forward.name(forward.outputs[i].name) == term)
      return term;
  return "loss";
}

}  // namespace

void check_gradients(const graph& forward, const graph& with_gradients, const settings& s) {
  const graph& g = with_gradients;
  settings values_alone = s;
  values_alone.tolerance = 1;  // nothing is compared in float32
  const expectation expected(g, values_alone);
  const reference::lengths of = reference::complete(g, s.lengths);
  reference::bindings changed = expected.given();
  const auto of_forward = reference::evaluate(forward, s.lengths, expected.given());
  double noise =
      0;  // each float of each node is rounded once, with a weight of about one in the loss
  for (int i = 0; i < forward.count; ++i) {
    const int body = loop_of(forward, i);
    const double times = body > 0 ? static_cast<double>(of(forward.regions[body - 1].axis)) : 1;
    for (const double x : of_forward[static_cast<std::size_t>(i)].data)
      // A constant has no rounding error.
      if (forward.nodes[i].type == dtype::float32 && forward.nodes[i].kind != op::constant &&
          std::isfinite(x))
        noise += times * std::abs(x) * std::numeric_limits<double>::epsilon();
  }

  for (int i = 0; i < g.parameter_count; ++i) {
    const std::string name(g.name(g.parameters[i].name)), term = term_of(forward, name);
    const auto gradient = reference::at_bound(reference::gradient(g, expected.values(), name),
                                              g.nodes[g.parameters[i].node].axes, of);
    auto& values = changed.parameters.at(name);
    for (std::size_t j = 0; j < values.size(); ++j) {
      const double begin = values[j];
      const auto loss = [&](double p) {
        values[j] = p;
        const auto all = reference::evaluate(forward, s.lengths, changed);
        values[j] = begin;
        return reference::result(forward, all, term).data.at(0);
      };
      const difference d = central_difference(loss, begin, noise);
      BOOST_TEST(std::abs(d.slope - gradient.data[j]) <= d.tolerance,
                 name << "[" << j << "]: " << gradient.data[j] << ", differences give " << d.slope
                      << " within " << d.tolerance);
      // Relative, as near a pole: a small factor by which frequencies are divided.
      BOOST_TEST(d.tolerance < 1e-5 * std::max(std::abs(gradient.data[j]), 1.0),
                 "differences say too little about " << name << ", within " << d.tolerance);
    }
  }
}

}  // namespace weft::testing
