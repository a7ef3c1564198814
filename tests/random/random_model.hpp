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

  template <an_axis A>
  void set_length(std::size_t n) {
    settings_.lengths.set<A>(n);
  }

  // The program of the results, on every SIMD target: whole and in parts, with inputs in any
  // layout, with packed parameters, and with memory that the plan calls free spoiled.
  template <class Model, text... Results>
  void check_module(generated_code<inference<Model, Results...>> code = {}) {
    check(source_of<inference<Model, Results...>>(), code.code);
  }
  // The same of the program that has gradients.
  template <class Model, text Loss>
  void check_trainer(generated_code<training<Model, Loss>> code = {}) {
    check(source_of<training<Model, Loss>>(), code.code);
  }

 private:
  void check(const run_time_source& of, program_code generated) const;

  settings settings_;
};

}  // namespace weft::testing
