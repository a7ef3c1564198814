// A model's whole way, from its definition to the numbers of a run, against the reference.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/audit.hpp"
#include "support/run_time.hpp"
#include "weft/kernels/reference/evaluate.hpp"
#include "weft/run/engine.hpp"
#include "weft/run/generated.hpp"

namespace weft::testing {

// How a trial is run: the lengths of bounded axes, and the ranges that inputs and parameters come
// from, by name, or their values. Floats come from [-1, 1), indices from the axis that they pick
// from, other integers from [-20, 20). States are as inputs.
struct settings {
  reference::lengths lengths;
  struct range {
    double low, high;
  };
  std::map<std::string, range, std::less<>> ranges;
  kernels::random_state random{};  // what dropouts draw from
  std::map<std::string, std::vector<double>, std::less<>> given{};
  // Of each output's largest element; 0: what error analysis allows. For models so deep that its
  // bounds say nothing.
  double tolerance = 0;
  // What comes out, where something else than the reference says it: for each result, each state
  // that is updated, and each gradient, by name, its numbers and how far from each float32 may be.
  struct outcome {
    std::vector<double> value, tolerance;
  };
  using outcomes = std::map<std::string, outcome, std::less<>>;
  std::optional<outcomes> results{}, states{}, gradients{};
};

// The lengths of bounded axes: lengths<Pos, Batch>(3, 2).
template <class... Axes, class... Lengths>
settings lengths(Lengths... n) {
  settings s;
  (s.lengths.set<Axes>(static_cast<std::size_t>(n)), ...);
  return s;
}

// How inputs lie in memory.
enum class arrangement { dense, padded, permuted };

// What a program should give.
class expectation {
 public:
  expectation(const graph& g, const settings& s);

  // Runs the program and compares each result and each gradient; with generated code, also on
  // packed parameters.
  void check(const program& p, program_code generated = {}) const;
  // Runs the program step by step, and compares results, gradients and states: no step reads what
  // the memory plan says is free, nor what it has overwritten itself.
  void check_plan(const program& p, const auditor& a) const;

  const reference::bindings& given() const { return given_; }
  const std::vector<reference::values>& values() const { return all_; }
  // How far float32 may be from the values of a node.
  double bound(int id) const { return bounds_[static_cast<std::size_t>(id)]; }

 private:
  std::vector<double> relative_bounds(double tolerance) const;
  void fill(const settings& s);
  std::vector<std::vector<double>> run(const program& p, program_code generated, arrangement how,
                                       bool compare, bool frozen = false,
                                       const auditor* audit = nullptr, int parts = 1) const;
  const node& input_node(std::string_view name) const;
  int output_node(role kind, std::string_view name) const;
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
// weft::training<Model, "loss">, on every SIMD target; as generated code, where that is given.
void trial(const run_time_source& of, const settings& s, program_code generated);
template <class Unit>
void trial(const settings& s = {}, generated_code<Unit> code = {}) {
  trial(source_of<Unit>(), s, code.code);
}

}  // namespace weft::testing
