// A program that is being built, and the limits of programs.
#pragma once

#include "weft/lower/program.hpp"

namespace weft {

// The number of elements in each table of a program. It is a template argument: g++ 12 takes two
// that are computed for the same one if only the places of zeros differ that no initializer has
// set.
struct program_counts {
#define WEFT_TABLE(type, name, most) int name = 0;
  WEFT_TABLES(WEFT_TABLE)
#undef WEFT_TABLE
  int constants = 0, text = 0;
  model_fault fault = model_fault::none;  // why there is no such program; none: there is
};

// As many as all instructions can have.
inline constexpr int max_operand_refs =
    kernels::max_operands * max_instructions +
    static_cast<int>(attention_adjoint_slots.size()) * max_attentions;

// Tables of maximal capacity; program_tables has copies of exact size.
struct program_builder : program_sizes {
#define WEFT_TABLE(type, name, most) type name[most]{};
  WEFT_TABLES(WEFT_TABLE)
#undef WEFT_TABLE
  std::byte constants[4 * max_nodes]{};
  char text[max_text]{};
  const axis_info* length_axes[max_lengths]{};
  program_counts count{};
};

}  // namespace weft
