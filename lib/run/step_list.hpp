// What an engine executes: for each instruction a function and its call.
#pragma once

#include <cstddef>
#include <vector>

#include "weft/run/engine.hpp"

namespace weft {

// Why an execution of an instruction is not simply a call, as bits.
enum : unsigned {
  moves = 1,   // its operands move with the enclosing loop's iteration
  checks = 2,  // it uses computed indices, which are checked
};

struct engine::step {
  kernels::kernel_function run;
  unsigned needs;
  bool has_parts;  // whether its work can be partitioned
  kernels::operand* operands;
  kernels::call call;
};

struct engine::step_list {
  std::vector<step> of;  // of each instruction
  std::vector<kernels::operand> operands;
  // The operands that are in inputs.
  struct input_operand {
    kernels::operand* to;
    const operand_ref* from;
  };
  std::vector<input_operand> in_inputs;

  step& operator[](int i) { return of[static_cast<std::size_t>(i)]; }
  int size() const { return static_cast<int>(of.size()); }
};

}  // namespace weft
