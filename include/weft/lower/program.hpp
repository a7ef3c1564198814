// A lowered model: the instructions of a run, with their tables, as plain data; one that is being
// built, and the limits of programs.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "weft/graph/graph.hpp"
#include "weft/graph/static_array.hpp"
#include "weft/kernels/attention.hpp"
#include "weft/kernels/call.hpp"
#include "weft/kernels/kernel.hpp"
#include "weft/kernels/kernels.hpp"
#include "weft/passes/memory_plan.hpp"

namespace weft {

static_assert(max_rank == kernels::max_loops);

// The limits of one program, see graph.hpp.
inline constexpr int max_instructions = 49152;
inline constexpr int max_attentions = 2048;
inline constexpr int max_shifts = 8192;  // of offsets by lengths known at run time only
inline constexpr int max_index_checks = 1024;
inline constexpr int max_writes = 1024;  // bounds checks of updates
inline constexpr int max_lengths = 64;   // axes whose lengths are known at run time

// An extent in elements: `most` if it is fixed, else the run's length in a slot.
struct extent_ref {
  std::size_t most;
  std::int16_t length;  // 1 + the slot of the run's length; 0: fixed
  constexpr bool fixed() const { return length == 0; }
  constexpr std::size_t slot() const { return static_cast<std::size_t>(length - 1); }
  constexpr std::size_t in(const std::size_t* lengths) const {
    return fixed() ? most : lengths[slot()];
  }
};

// Adds to an operand's offset the run's length in a slot, or the scan's current index along its
// axis, times a stride in elements.
struct shift_ref {
  std::int16_t slot;
  std::ptrdiff_t stride;
};

// The address of an operand of an instruction: an offset in bytes in a block of memory, in an input
// or in a parameter; strides in elements.
struct operand_ref {
  block where;
  std::int16_t leaf;  // the index of the input or the parameter
  dtype type;
  std::int8_t shift_count;
  std::size_t offset;
  std::ptrdiff_t stride[max_rank];
  int first_shift;  // index in program::shifts
};

inline constexpr std::int16_t current_step = -1;  // instead of a slot

inline constexpr operand_ref absent{block::none, 0, dtype::float32, 0, 0, {}, 0};

// The attributes of an attention or its adjoint: see kernels::attention_attributes.
struct lowered_attention {
  std::int64_t lowest, highest, length_more, distances, origin;
  kernels::dropout_params drop;
};

// One call of a kernel; what is not explained here is as in kernels::call.
struct instruction {
  kernel run;
  op kind;
  std::int8_t loops;
  std::int8_t operands;
  int first_operand;  // index in program::operands; they are in the order of the kernel's call
  unsigned over;
  extent_ref extent[max_rank];
  double scalar;
  double scale;
  op epilogue;
  std::int8_t fused_count;  // size of the fusion group in program::fused_ops; 0: only `kind`
  int first_fused;
  extent_ref axis;
  std::ptrdiff_t axis_stride;
  packed_extent packed;  // dot, gather: offset of its packed operand, see packed_size
  int node;
  std::int8_t rhs;         // dot, gather: the operand that can be packed
  std::int16_t attention;  // index in program::attentions
  std::int16_t check;      // 1 + that of its computed indices in program::index_checks; 0: none

  static constexpr packed_extent nowhere{SIZE_MAX, SIZE_MAX, SIZE_MAX};
  constexpr bool packs() const { return packed.floats != nowhere.floats; }
};

// An input, which the caller passes.
struct input_ref {
  name_ref name;
  dtype type;
  std::int8_t rank;
  extent_ref extent[max_rank];
  name_ref axis_name[max_rank];
  bool is_index;        // whether there is an index_check of it
  std::size_t staging;  // offset in the workspace of a copy with the planned strides
};

// Indices into an axis are less than its length, lengths of it at most that, and a write along it
// ends there; none is negative. Of an input the elements from `first` on, `extent` of them along
// each of its axes, are checked before a run; what is computed, by the instruction that uses it.
enum class checked_as : std::uint8_t { index, length, write };
struct index_check {
  std::int16_t input;  // -1: computed
  checked_as of;
  extent_ref axis;
  name_ref axis_name;
  std::size_t first[max_rank];
  extent_ref extent[max_rank];
};

// The operands of an instruction, of which a call of its kernel has one each.
template <class Tables>
constexpr auto* operands_of(Tables& tables, const instruction& s) {
  if constexpr (std::is_array_v<decltype(tables.operands)>)
    return tables.operands + s.first_operand;
  else
    return tables.operands.begin() + s.first_operand;
}

namespace detail {

template <class Tables>
constexpr bool computes_indices(const Tables& tables) {
  for (const index_check& check : tables.index_checks)
    if (check.input < 0) return true;
  return false;
}

}  // namespace detail

struct parameter_ref {
  name_ref name;
  initializer init;
  std::size_t offset;  // bytes
  std::int8_t rank;
  std::size_t extent[max_rank];
  std::size_t size;  // elements
  // Whether an instruction reads it other than packed: as the rhs of a contraction, or by gathering
  // rows from what such a contraction has packed, or from a table that only gathers read.
  bool read_as_floats;
  // The first instruction for which its rows are packed, as the columns of the rhs, or as those of
  // such a table; -1: none.
  int rows_packed_by;
};

struct result_ref {
  name_ref name;
  std::int8_t rank;
  extent_ref extent[max_rank];
  operand_ref at;
};

// A graph's length_rule, with slots for axes.
struct length_rule_ref {
  std::int16_t target;
  std::int8_t source_count;
  std::int16_t sources[max_rank];
  std::int64_t add, multiply, divide;
  bool rounds_down;
};

// The smallest length in a run for a slice to lie inside its operand; less throws weft::error.
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

// int32 values of an input or a state that the host reads before a run, in loops over some axes.
struct host_scalar {
  bool is_known;
  std::int16_t input;          // -1: a state
  std::int8_t axis[max_rank];  // inputs: the axis of each loop; -1: none
  std::size_t offset;          // states: bytes, in the workspace
  std::ptrdiff_t stride[max_rank];
  name_ref name;
};

// The bounds of an update_rows, which are checked before a run: 0 <= count <= rows and, if `at` is
// known, 0 <= at and at + count <= room; otherwise weft::error. If `count` is not known, it is
// rows.
struct bounds_check {
  std::int8_t loops;
  extent_ref extent[max_rank];
  host_scalar at, count;
  extent_ref rows, room;
  name_ref rows_name, room_name;
};

// Instructions [first, last), which are executed once for each index along an axis; in a program,
// in the order of their instructions.
struct loop_ref {
  int first, last;
  const axis_info* axis;
  extent_ref length;
  bool backwards;
};

struct length_ref {
  name_ref name;
  std::size_t most, least;
  const axis_info* axis;  // that defines the length
};

// Sizes in bytes.
struct program_sizes {
  std::size_t parameter_bytes;
  std::size_t gradient_bytes;
  std::size_t state_bytes;
  std::size_t workspace_bytes;  // states, intermediates, staged inputs, scratch
  // The scratch of one thread, and where weights are packed: in float32, in bfloat16, in others.
  std::size_t scratch_bytes, frozen_scratch_bytes[3];
  packed_extent packed;    // of all packed operands
  std::size_t once_bytes;  // of the workspace: the results of run-invariant instructions
  // Of the workspace without its scratch, which is its end.
  constexpr std::size_t scratch_offset() const { return workspace_bytes - scratch_bytes; }
  // Of the scratch of a frozen module.
  constexpr std::size_t frozen_scratch(precision as) const {
    return frozen_scratch_bytes[as == precision::float32             ? 0
                                : as <= precision::bfloat16_products ? 1
                                                                     : 2];
  }
  // The number of run-invariant instructions; they are the first, and are executed once before all
  // runs, with every length at its bound.
  int once;
  std::uint64_t fingerprint;  // of the graph: see fingerprint.hpp
};

// The tables of a program, but for its constants and its text: TABLE(type, name, most) for each. A
// macro, as a program, one that is being built, and their copies have a member for each.
#define WEFT_TABLES(TABLE)                             \
  TABLE(instruction, instructions, max_instructions)   \
  TABLE(operand_ref, operands, max_operand_refs)       \
  TABLE(input_ref, inputs, max_inputs)                 \
  TABLE(parameter_ref, parameters, max_parameters)     \
  TABLE(state_ref, states, max_states)                 \
  TABLE(bounds_check, writes, max_writes)              \
  TABLE(result_ref, results, max_results)              \
  TABLE(length_ref, lengths, max_lengths)              \
  TABLE(length_rule_ref, rules, max_rules)             \
  TABLE(index_check, index_checks, max_index_checks)   \
  TABLE(min_length, requirements, max_nodes)           \
  TABLE(shift_ref, shifts, max_shifts)                 \
  TABLE(loop_ref, loops, max_regions)                  \
  TABLE(lowered_attention, attentions, max_attentions) \
  TABLE(kernels::fused_op, fused_ops, max_nodes)

// A program as views of its tables, which outlive it.
struct program : program_sizes {
  array_view<std::byte> constants;
  std::string_view text;
#define WEFT_TABLE(type, name, most) array_view<type> name;
  WEFT_TABLES(WEFT_TABLE)
#undef WEFT_TABLE
  // By kernel: the entries of those that the instructions run, so that only these are linked. Null
  // for others.
  const kernels::kernel_entry* kernels = nullptr;

  constexpr std::string_view name(name_ref r) const {
    return text.substr(static_cast<std::size_t>(r.begin), static_cast<std::size_t>(r.size));
  }
};

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
#include "weft/header_end.hpp"
