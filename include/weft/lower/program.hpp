// A lowered model: what a run does, step by step, as plain tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "weft/graph/graph.hpp"
#include "weft/graph/static_array.hpp"
#include "weft/kernels/attention.hpp"
#include "weft/kernels/call.hpp"
#include "weft/passes/plan.hpp"

namespace weft {

static_assert(max_rank == kernels::max_loops);

inline constexpr int max_inputs = 64;        // of one program
inline constexpr int max_attentions = 1024;  // of one program
inline constexpr int max_writes = 256;       // of one program, that have places of their own
inline constexpr int max_lengths = 32;  // axes of one model whose lengths are known at run time

// A number of elements: `most`, or what the run has in the slot.
struct extent_ref {
  std::size_t most;
  std::int16_t length;  // the slot of the run's length and one; 0 where it is always `most`
  constexpr bool fixed() const { return length == 0; }
  constexpr std::size_t slot() const { return static_cast<std::size_t>(length - 1); }
  constexpr std::size_t in(const std::size_t* lengths) const {
    return fixed() ? most : lengths[slot()];
  }
};

// Adds to an operand's offset the length in a slot, or the current step of the loop, times a
// stride.
struct shift_ref {
  std::int16_t slot;
  std::ptrdiff_t stride;
};

// Where one operand of a step lies.
struct operand_ref {
  block where;
  std::int16_t input;
  dtype type;
  std::int8_t shift_count;
  std::size_t offset;
  std::ptrdiff_t stride[max_rank];
  std::int16_t first_shift;  // in the program's table of shifts
};

inline constexpr std::int16_t current_step = -1;  // in the place of a slot

enum class kernel : std::uint8_t {
  elementwise,
  reduce,
  rowwise,
  dot,
  gather,
  scatter_add,
  positions,
  zero,
  update_rows,
  length,
  attention,
  attention_adjoint,
  rotate,
  rotate_adjoint
};

// What an attention or its adjoint has beside its step; kernels/attention.hpp says what each is.
// Operands are over the step's loops.
struct attention_ref {
  operand_ref query, key, value, mask, bias, offset, lengths, relative, numbers;
  operand_ref result, statistics;
  operand_ref g, query_gradient, key_gradient, value_gradient, bias_gradient, relative_gradient;
  bool has_mask, has_bias, has_offset, has_lengths, has_relative;
  bool has_bias_gradient, has_relative_gradient;
  std::int64_t lowest, highest, length_more, distances, origin;
  kernels::dropping drop;
};

struct instruction {
  kernel run;
  op kind;
  std::int8_t loops;
  std::int8_t operands;
  unsigned over;
  extent_ref extent[max_rank];
  operand_ref operand[kernels::max_operands];
  double scalar;
  double scale;
  op epilogue;
  std::int8_t fused_count;  // a chain of elementwise operations, in the program's table of links
  std::int16_t first_fused;
  extent_ref axis;
  std::ptrdiff_t axis_stride;
  std::size_t
      packed;  // a dot's parameter in the block of packed ones; not_packed where it has none
  int node;
  std::int16_t attention;  // in the program's table of these
};

inline constexpr std::size_t not_packed = SIZE_MAX;

// Bytes, or an offset, in the block of packed parameters.
constexpr std::size_t packed_size(std::size_t in_float32, precision as) {
  return in_float32 / (bytes_of(precision::float32) / bytes_of(as));
}

// What a caller gives.
struct input_ref {
  name_ref name;
  dtype type;
  std::int8_t rank;
  extent_ref extent[max_rank];
  name_ref axis_name[max_rank];
  extent_ref indexes_axis;     // where it is an index: the elements of the axis that it picks from
  name_ref indexes_axis_name;  // empty where it is none
  std::size_t staging;         // offset in the workspace of a copy with the planned strides
};

struct parameter_ref {
  name_ref name;
  initializer init;
  std::size_t offset;  // bytes
  std::int8_t rank;
  std::size_t extent[max_rank];
  std::size_t size;  // elements
};

struct result_ref {
  name_ref name;
  std::int8_t rank;
  extent_ref extent[max_rank];
  operand_ref at;
};

// A graph's length_rule, by slots.
struct length_rule_ref {
  std::int16_t target;
  std::int8_t source_count;
  std::int16_t sources[max_rank];
  std::int64_t add, multiply, divide;
  bool rounds_down;
};

// A length that a run must have at least, for a slice to lie inside its operand.
struct min_length {
  std::int16_t slot;
  std::size_t least;
};

struct state_ref {
  name_ref name;
  dtype type;
  std::size_t offset;  // bytes, in the workspace
  std::int8_t rank;
  std::size_t extent[max_rank];
  std::size_t bytes;
};

// An int32 that is known before a run, an input's or a state's, in loops over some axes.
struct host_scalar {
  bool is_known;
  std::int16_t input;          // -1: a state's
  std::int8_t axis[max_rank];  // inputs: the place of the loop's axis among theirs; -1 for none
  std::size_t offset;          // states: as their operands
  std::ptrdiff_t stride[max_rank];
  name_ref name;
};

// What the rows of a write have to keep: `count` of them, or all where it is not known, are at most
// as many as there are, and from `at` on, if that is known, there is room for them.
struct bounds_check {
  std::int8_t loops;
  extent_ref extent[max_rank];
  host_scalar at, count;
  extent_ref rows, room;
  name_ref rows_name, room_name;
};

// Steps [first, last) of the program, which are carried out once for each element of an axis.
struct loop_ref {
  int first, last;
  const axis_info* axis;
  extent_ref length;
  bool backwards;
};

struct length_ref {
  name_ref name;
  std::size_t most, least;
};

// In bytes, and an offset in the workspace.
struct program_sizes {
  std::size_t parameter_bytes;
  std::size_t gradient_bytes;
  std::size_t state_bytes;
  std::size_t workspace_bytes;  // states, intermediates, scratch, staged inputs
  std::size_t scratch_offset;
  std::size_t scratch_bytes;  // of one thread
  std::size_t packed_bytes;   // in float32, as the offsets of steps; bfloat16 takes half of both
  std::size_t once_bytes;     // of the workspace: what is computed once, before all runs
  int once;                   // so many steps come before all runs, with every length at its bound
};

// The tables of a program; they outlive it.
struct program : program_sizes {
  array_view<instruction> instructions;
  array_view<input_ref> inputs;
  array_view<parameter_ref> parameters;
  array_view<state_ref> states;
  array_view<bounds_check> writes;
  array_view<result_ref> results;
  array_view<length_ref> lengths;
  array_view<length_rule_ref> rules;
  array_view<min_length> requirements;
  array_view<shift_ref> shifts;
  array_view<loop_ref> loops;  // in the order of their steps
  array_view<attention_ref> attentions;
  array_view<kernels::fused_op> links;
  array_view<std::byte> constants;
  std::string_view text;

  constexpr std::string_view name(name_ref r) const {
    return text.substr(static_cast<std::size_t>(r.begin), static_cast<std::size_t>(r.size));
  }
};

}  // namespace weft
