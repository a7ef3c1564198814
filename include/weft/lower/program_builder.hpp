// A program that is being built, and the limits of programs.
#pragma once

#include "weft/lower/program.hpp"

namespace weft {

// The number of elements in each table of a program. It is a template argument: g++ 12 takes two
// that are computed for the same one if only the places of zeros differ that no initializer has
// set.
struct program_counts {
  int instructions = 0, operands = 0, inputs = 0, parameters = 0, states = 0, writes = 0,
      results = 0, lengths = 0, rules = 0, index_checks = 0, requirements = 0, shifts = 0,
      loops = 0, attentions = 0, fused_ops = 0, constants = 0, text = 0;
  model_fault fault = model_fault::none;  // why there is no such program; none: there is
};

// As many as all instructions can have.
inline constexpr int max_operand_refs =
    kernels::max_operands * max_instructions +
    static_cast<int>(attention_adjoint_slots.size()) * max_attentions;

// Tables of maximal capacity; program_tables has copies of exact size.
struct program_builder : program_sizes {
  instruction instructions[max_instructions]{};
  operand_ref operands[max_operand_refs]{};
  input_ref inputs[max_inputs]{};
  parameter_ref parameters[max_parameters]{};
  state_ref states[max_states]{};
  bounds_check writes[max_writes]{};
  result_ref results[max_results]{};
  length_ref lengths[max_lengths]{};
  length_rule_ref rules[max_rules]{};
  index_check index_checks[max_index_checks]{};
  min_length requirements[max_nodes]{};
  shift_ref shifts[max_shifts]{};
  loop_ref loops[max_regions]{};
  lowered_attention attentions[max_attentions]{};
  kernels::fused_op fused_ops[max_nodes]{};
  std::byte constants[4 * max_nodes]{};
  char text[max_text]{};
  const axis_info* length_axes[max_lengths]{};
  program_counts count{};
};

}  // namespace weft
