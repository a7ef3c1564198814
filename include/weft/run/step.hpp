// What weft_add_model (CMake) generates for the instructions of a program.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/kernels/kernels.hpp"

namespace weft {

// A function that does what an instruction's kernel does, for the same calls, whole: it ignores
// their partition.
struct generated_step {
  kernels::kernel_function run = nullptr;  // null: the kernel is meant
  bool reads_packed = false;               // a contraction: whether it reads a packed rhs
  bool pays_unpacked = true;               // whether it is faster than the kernel without that
  bool packs = false;                      // whether each run packs an rhs, in the scratch
};

// Those of all instructions of a program, for one SIMD target; or none.
struct generated_steps {
  const generated_step* of = nullptr;
  int lanes = 0, vectors = 0;  // of the layout of packed operands that they read

  bool reads(const detail::packed_layout& l) const {
    return l.lanes == lanes && l.vectors == vectors;
  }
};

}  // namespace weft
#include "weft/header_end.hpp"
