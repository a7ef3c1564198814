// Runs programs on numbers that are made by exact arithmetic, and gives the hashes of what they
// compute.
#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "reference/tensors.hpp"
#include "support/run_time.hpp"
#include "weft/kernels/call.hpp"
#include "weft/run/step.hpp"
#include "weft/weights/precision.hpp"

namespace weft::testing {

// Which numbers inputs and parameters have.
struct number_options {
  float scale = 1;   // floats are in [-scale, scale), where it is a power of two
  bool any = false;  // or of all magnitudes, with NaN, infinities and subnormals among them
  int integers = 7;  // integers are less than that, and not negative; with `any` both
};

// How a program is run.
struct run_options {
  reference::lengths lengths{};
  number_options numbers{};
  std::optional<precision> frozen{};
  generated_steps (*generated)() noexcept = nullptr;
};

// The operations that instructions of programs compute.
using operations = std::bitset<op_count>;

// What a unit, weft::inference<Model>, weft::sampling<Model> or weft::training<Model, "loss">,
// lowers to.
class subject {
 public:
  explicit subject(const run_time_source& of);
  template <class Unit>
  static subject of() {
    return subject(source_of<Unit>());
  }

  // The hash of each result of a run on the best SIMD target, of its states, and of its gradients,
  // by name.
  std::map<std::string, std::uint64_t> run(const run_options& how = {}) const;
  // One hash of all of them.
  std::uint64_t hash(const run_options& how = {}) const;
  void add_to(operations& covered) const;

 private:
  std::unique_ptr<const graph> plain_, compiled_;
  std::shared_ptr<const run_time_program> lowered_;
};

}  // namespace weft::testing
