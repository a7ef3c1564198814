// A model against PyTorch's numbers: the reference interpreter gives them, and what the model is
// lowered to gives what the reference does.
#pragma once

#include <string>
#include <vector>

#include "support/trial.hpp"
#include "weft/io/safetensors.hpp"

namespace weft::testing {

// Values against what a file has.
void check_stored(const std::string& what, const std::vector<double>& got,
                  const std::vector<double>& stored);

// Everything that a case of the file has: its inputs and parameters, by name and as they lie there,
// the results that the model has too, and the gradient of "loss" for each parameter. Gives the
// values of inputs and parameters.
settings check_reference(const graph& forward, const graph& backward, const tensor_file& file,
                         const std::string& prefix);
template <class Model>
settings check_reference(const tensor_file& file, const std::string& prefix = {}) {
  return check_reference(*plain_graph<inference<Model>>(), *plain_graph<training<Model, "loss">>(),
                         file, prefix);
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
