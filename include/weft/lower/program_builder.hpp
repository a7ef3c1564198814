// A program that is being built, and the limits of programs.
#pragma once

#include <stdexcept>

#include "weft/lower/program.hpp"

namespace weft {

// Not constexpr: where constant evaluation reaches one, the compiler prints its name as the error.
inline void the_model_has_more_axes_with_lengths_known_at_run_time_than_max_lengths() {
  throw std::length_error(
      "lower: the model has more axes with lengths known at run time than max_lengths");
}
inline void the_model_has_more_inputs_than_max_inputs() {
  throw std::length_error("lower: the model has more inputs than max_inputs");
}
inline void an_operation_has_more_than_8_axes_in_all() {
  throw std::length_error("lower: an operation has more than 8 axes in all");
}
inline void the_model_has_more_attentions_than_max_attentions() {
  throw std::length_error("lower: the model has more attentions than max_attentions");
}
inline void the_model_has_more_uses_of_indices_than_max_index_checks() {
  throw std::length_error("lower: the model has more uses of indices than max_index_checks");
}
inline void the_model_has_more_writes_than_max_writes() {
  throw std::length_error("lower: the model has more writes than max_writes");
}

// The number of elements in each table of a program. It is a template argument: g++ 12 takes two
// that are computed for the same one if only the places of zeros differ that no initializer has
// set.
struct program_counts {
  int instructions = 0, inputs = 0, parameters = 0, states = 0, writes = 0, results = 0,
      lengths = 0, rules = 0, index_checks = 0, requirements = 0, shifts = 0, loops = 0,
      attentions = 0, fused_ops = 0, constants = 0, text = 0;
};

// Tables of maximal capacity; program_tables has copies of exact size.
struct program_builder : program_sizes {
  instruction instructions[2 * max_nodes]{};
  input_ref inputs[max_leaves]{};
  parameter_ref parameters[max_leaves]{};
  state_ref states[max_states]{};
  bounds_check writes[max_writes]{};
  result_ref results[max_outputs]{};
  length_ref lengths[max_lengths]{};
  length_rule_ref rules[max_rules]{};
  index_check index_checks[max_index_checks]{};
  min_length requirements[max_nodes]{};
  shift_ref shifts[max_nodes]{};
  loop_ref loops[max_regions]{};
  attention_ref attentions[max_attentions]{};
  kernels::fused_op fused_ops[max_nodes]{};
  std::byte constants[4 * max_nodes]{};
  char text[max_text]{};
  const axis_info* length_axes[max_lengths]{};
  program_counts count{};
};

}  // namespace weft
