// A random model, and the values of an evaluation that shares no code with weft.
#pragma once

#include <boost/test/unit_test.hpp>
#include <string>

#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace weft::testing {

class random_model {
 public:
  // Reads the values of the model from a file that generate.py wrote.
  random_model(const std::string& file, const std::string& name);

  template <axis_like A>
  void set_length(std::size_t n) {
    inference_.lengths.set<A>(n);
    sampling_.lengths.set<A>(n);
  }

  // Checks the program of the results on every SIMD target: whole and in partitions, with inputs in
  // any layout, with packed parameters, and with memory that the plan calls free filled with NaN.
  template <class Model, fixed_string... Results>
  void check_module(generated_code<inference<Model, Results...>> code = {}) {
    trial(source_of<inference<Model, Results...>>(), inference_, code.made);
  }
  // The same with dropout active.
  template <class Model, fixed_string... Results>
  void check_sampling() {
    trial(source_of<sampling<Model, Results...>>(), sampling_, {});
  }
  // The same for the program with gradients.
  template <class Model, fixed_string Loss>
  void check_trainer(generated_code<training<Model, Loss>> code = {}) {
    trial(source_of<training<Model, Loss>>(), sampling_, code.made);
  }

 private:
  settings inference_, sampling_;
};

}  // namespace weft::testing
