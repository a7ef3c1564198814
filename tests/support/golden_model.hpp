// A model against PyTorch's values: the reference interpreter reproduces them, and the lowered
// program matches the reference.
#pragma once

#include <string>
#include <vector>

#include "support/trial.hpp"
#include "weft/files/safetensors.hpp"

namespace weft::testing {

// Compares values with those that a file has.
void check_stored(const std::string& what, const std::vector<double>& got,
                  const std::vector<double>& stored);

// Checks a case of the file with the reference interpreter: inputs and parameters, by name and
// memory layout, the results that the model has too, and the gradient of "loss" for each parameter.
// Returns the values of inputs and parameters.
settings check_reference(const graph& forward, const graph& backward, const tensor_file& file,
                         const std::string& prefix);
template <class Model>
settings check_reference(const tensor_file& file, const std::string& prefix = {}) {
  return check_reference(*plain_graph<inference<Model>>(), *plain_graph<training<Model, "loss">>(),
                         file, prefix);
}

// The same, and in float32 on every target within the tolerance for whole models, 1e-4.
template <class Model>
void golden_trial(const tensor_file& file, const std::string& prefix = {}) {
  settings s = check_reference<Model>(file, prefix);
  s.tolerance = 1e-4;
  trial<inference<Model>>(s);
  trial<training<Model, "loss">>(s);
}

}  // namespace weft::testing
