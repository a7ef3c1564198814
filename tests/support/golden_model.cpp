#include "support/golden_model.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstddef>

#include "support/error_bound.hpp"

namespace weft::testing {

namespace {

// Whether the file's shape has the memory layout of the axes. It may merge consecutive axes, as
// [Heads, HeadDim, Embed] is stored as [Heads * HeadDim, Embed].
bool lies_as(const std::vector<std::size_t>& stored, const axis_list& axes) {
  int next = 0;
  for (const std::size_t extent : stored) {
    std::size_t joined = 1;
    while (next < axes.count && joined * axes.at[next]->extent <= extent)
      joined *= axes.at[next++]->extent;
    if (joined != extent) return false;
  }
  return next == axes.count;
}

}  // namespace

// The file's values are exact or rounded to float32, by at most half a unit in the last place.
void check_stored(const std::string& what, const std::vector<double>& got,
                  const std::vector<double>& stored) {
  BOOST_TEST_REQUIRE(got.size() == stored.size(), what);
  for (std::size_t i = 0; i < got.size(); ++i)
    BOOST_TEST(std::abs(got[i] - stored[i]) <= 1.001 * unit * std::abs(stored[i]) + 1e-12,
               what << "[" << i << "]: " << got[i] << ", PyTorch: " << stored[i]);
}

settings check_reference(const graph& forward, const graph& backward, const tensor_file& file,
                         const std::string& prefix) {
  reference::bindings given;
  for (int i = 0; i < forward.input_count; ++i) {
    const std::string name(forward.name(forward.inputs[i].name));
    given.inputs[name] = file[prefix + "input." + name].values<double>();
  }
  for (int i = 0; i < forward.parameter_count; ++i) {
    const std::string name(forward.name(forward.parameters[i].name));
    const auto& stored = file[prefix + "param." + name];
    BOOST_TEST(lies_as(stored.shape, forward.nodes[forward.parameters[i].node].axes), name);
    given.parameters[name] = stored.values<double>();
  }
  const auto values = reference::evaluate(forward, {}, given);
  for (int i = 0; i < forward.output_count; ++i) {
    const std::string name(forward.name(forward.outputs[i].name));
    check_stored(prefix + name, reference::result(forward, values, name).data,
                 file[prefix + "output." + name].values<double>());
  }
  const auto with_gradients = reference::evaluate(backward, {}, given);
  for (const auto& parameter : given.parameters) {
    const std::string& name = parameter.first;
    check_stored("gradient of " + prefix + name,
                 reference::gradient(backward, with_gradients, name).data,
                 file[prefix + "grad." + name].values<double>());
  }
  settings s;
  s.given.insert(given.inputs.begin(), given.inputs.end());
  s.given.insert(given.parameters.begin(), given.parameters.end());
  return s;
}

}  // namespace weft::testing
