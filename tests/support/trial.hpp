// A model, from its definition to the results of a run, against the reference.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/evaluate.hpp"
#include "support/audit.hpp"
#include "support/run_time.hpp"
#include "weft/run/engine.hpp"
#include "weft/run/generated.hpp"

namespace weft::testing {

// What makes generated steps for the best SIMD target; or null.
using made_steps = generated_steps (*)() noexcept;

// Settings of a trial: the lengths of bounded axes and, by name, the ranges of inputs and
// parameters, or their values. By default floats come from [-1, 1), indices from the axis that they
// index, other integers from [-20, 20). States are as inputs.
struct settings {
  reference::lengths lengths;
  struct range {
    double low, high;
  };
  std::map<std::string, range, std::less<>> ranges;
  kernels::random_state random{};  // the random state of dropouts
  std::map<std::string, std::vector<double>, std::less<>> given{};
  // The tolerance relative to each element, and in roundings of its output's largest element, for
  // models too deep for the bounds of error analysis to be meaningful; 0: those bounds.
  double tolerance = 0, roundings = 64;
  // The expected results, updated states and gradients, by name, if they are not the reference's:
  // the values and the tolerance of each in float32.
  struct outcome {
    std::vector<double> value, tolerance;
  };
  using outcomes = std::map<std::string, outcome, std::less<>>;
  std::optional<outcomes> results{}, states{}, gradients{};
  bool every_target = true;  // or the best one alone
};

// The lengths of bounded axes: lengths<Pos, Batch>(3, 2).
template <class... Axes, class... Lengths>
settings lengths(Lengths... n) {
  settings s;
  (s.lengths.set<Axes>(static_cast<std::size_t>(n)), ...);
  return s;
}

// Memory layouts of inputs.
enum class arrangement { dense, padded, permuted };

// The expected outputs of a program.
class expectation {
 public:
  expectation(const graph& g, const settings& s);

  // Runs the program on every SIMD target, or the best one alone: by generated code if that is
  // given, with several strides of the inputs, and with packed parameters. With an auditor also
  // instruction by instruction: no instruction reads what the memory plan says is free, nor what it
  // has overwritten itself. On the first target of a family of targets each result, state and
  // gradient is compared with what is expected, on the others with the bits of the first.
  void check(const program& p, made_steps generated = {}, const auditor* a = nullptr,
             bool every_target = true) const;

  const reference::bindings& given() const { return given_; }
  const std::vector<reference::values>& values() const { return all_; }
  // The error bound of float32 for the values of a node.
  double bound(int id) const { return bounds_[static_cast<std::size_t>(id)]; }

 private:
  // The values of the results, then of the states, then of the gradients.
  using outputs = std::vector<std::vector<double>>;

  std::vector<double> bounds_of_roundings() const;
  void fill(const settings& s);
  std::vector<std::uint64_t> run_all(const program& p, made_steps generated, const auditor* a,
                                     bool compare) const;
  outputs run(const program& p, made_steps generated, arrangement how, bool compare,
              bool frozen = false, const auditor* audit = nullptr, int parts = 1) const;
  const node& input_node(std::string_view name) const;
  int output_node(output_kind kind, std::string_view name) const;
  void check_result(const result_ref& r, const std::string& name, const engine& e,
                    const std::vector<double>& got) const;
  void check_state(const std::string& name, const std::vector<double>& got) const;
  void check_gradient(const std::string& name, const std::vector<double>& got) const;

  const graph& g_;
  const settings& settings_;
  reference::lengths of_;
  reference::bindings given_;
  std::vector<reference::values> all_;
  std::vector<double> bounds_;
};

// Runs what Unit lowers to, weft::inference<Model, ...>, weft::sampling<Model, ...> or
// weft::training<Model, "loss">, on every SIMD target unless the settings say otherwise; as
// generated code, where that is given.
void trial(const run_time_source& of, const settings& s, made_steps generated);
template <class Unit>
void trial(const settings& s = {}, generated_code<Unit> code = {}) {
  trial(source_of<Unit>(), s, code.made);
}

}  // namespace weft::testing
