// A model against PyTorch's numbers: the reference interpreter gives them, and what the model is
// lowered to gives what the reference does.
#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "support/trial.hpp"
#include "weft/io/safetensors.hpp"

namespace weft::testing {

// Does the file's shape lie in memory as the axes do? It may join axes that follow one another, as
// [Heads, HeadDim, Embed] is stored [Heads * HeadDim, Embed].
inline bool lies_as(const std::vector<std::size_t>& stored, const axis_list& axes) {
  int next = 0;
  for (std::size_t const extent : stored) {
    std::size_t joined = 1;
    while (next < axes.count && joined * axes.at[next]->extent <= extent)
      joined *= axes.at[next++]->extent;
    if (joined != extent) return false;
  }
  return next == axes.count;
}

// Stored as float32, which rounds to half a unit in the last place, or as what it is.
inline void check_stored(const std::string& what, const std::vector<double>& got,
                         const std::vector<double>& stored) {
  BOOST_TEST_REQUIRE(got.size() == stored.size(), what);
  for (std::size_t i = 0; i < got.size(); ++i)
    BOOST_TEST(std::abs(got[i] - stored[i]) <= 1.001 * unit * std::abs(stored[i]) + 1e-12,
               what << "[" << i << "]: " << got[i] << ", PyTorch: " << stored[i]);
}

// Everything that a case of the file has: its inputs and parameters, by name and as they lie there,
// the results that the model has too, and the gradient of "loss" for each parameter. Gives the
// values of inputs and parameters.
template <class Model>
settings check_reference(const tensor_file& file, const std::string& prefix = {}) {
  auto const forward = plain_graph<inference<Model>>::make();
  auto const backward = plain_graph<training<Model, "loss">>::make();
  reference::bindings given;
  for (int i = 0; i < forward->input_count; ++i) {
    std::string const name(forward->name(forward->inputs[i].name));
    given.inputs[name] = file[prefix + "input." + name].values<double>();
  }
  for (int i = 0; i < forward->parameter_count; ++i) {
    std::string const name(forward->name(forward->parameters[i].name));
    auto const& stored = file[prefix + "param." + name];
    BOOST_TEST(lies_as(stored.shape, forward->nodes[forward->parameters[i].node].axes), name);
    given.parameters[name] = stored.values<double>();
  }
  auto const values = reference::evaluate(*forward, {}, given);
  for (int i = 0; i < forward->output_count; ++i) {
    std::string const name(forward->name(forward->outputs[i].name));
    check_stored(prefix + name, reference::result(*forward, values, name).data,
                 file[prefix + "output." + name].values<double>());
  }
  auto const with_gradients = reference::evaluate(*backward, {}, given);
  for (auto const& parameter : given.parameters) {
    std::string const& name = parameter.first;
    check_stored("gradient of " + prefix + name,
                 reference::gradient(*backward, with_gradients, name).data,
                 file[prefix + "grad." + name].values<double>());
  }
  settings s;
  s.given.insert(given.inputs.begin(), given.inputs.end());
  s.given.insert(given.parameters.begin(), given.parameters.end());
  return s;
}

// The same, and in float32 on every target within what the project asks of whole models.
template <class Model>
void golden_trial(const tensor_file& file, const std::string& prefix = {}) {
  settings s = check_reference<Model>(file, prefix);
  s.tolerance = 1e-4;
  trial<inference<Model>>(s);
  trial<training<Model, "loss">>(s);
}

}  // namespace weft::testing
