// A random model, and the numbers that an evaluation which shares no code with weft has for it.
#pragma once

#include <boost/test/unit_test.hpp>
#include <string>

#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace weft::testing {

class random_model {
 public:
  // Reads the numbers of the model from a file that generate.py wrote.
  random_model(const std::string& file, const std::string& name);

  template <axis_like A>
  void set_length(std::size_t n) {
    inference_.lengths.set<A>(n);
    sampling_.lengths.set<A>(n);
  }

  // The program of the results, on every SIMD target: whole and in parts, with inputs in any
  // layout, with packed parameters, and with memory that the plan calls free spoiled.
  template <class Model, fixed_string... Results>
  void check_module(generated_code<inference<Model, Results...>> code = {}) {
    trial(source_of<inference<Model, Results...>>(), inference_, code.code);
  }
  // The same with dropouts that drop.
  template <class Model, fixed_string... Results>
  void check_sampling() {
    trial(source_of<sampling<Model, Results...>>(), sampling_, {});
  }
  // The same of the program that has gradients.
  template <class Model, fixed_string Loss>
  void check_trainer(generated_code<training<Model, Loss>> code = {}) {
    trial(source_of<training<Model, Loss>>(), sampling_, code.code);
  }

 private:
  settings inference_, sampling_;
};

}  // namespace weft::testing
