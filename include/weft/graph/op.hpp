// The primitive operations, which are the kinds of nodes of a graph.
#pragma once
#include "weft/header_begin.hpp"

#include <cstdint>

#include "weft/bfloat16.hpp"

namespace weft {

// The type of a tensor's elements. Booleans are stored as one byte, 0 or 1; see bfloat16.hpp.
enum class dtype : std::uint8_t { float32, int32, boolean, bfloat16 };

constexpr int bytes(dtype e) {
  return e == dtype::boolean ? 1 : e == dtype::bfloat16 ? 2 : 4;
}

enum class op : std::uint8_t {
  // Leaves: nothing is computed.
  input,
  parameter,
  state,  // its value before the run
  constant,
  element_ids,  // of a dropout's operand, see ops/dropout.hpp; never stored
  // Views of the operand's buffer, with other axes or strides.
  rename,
  within,         // the operand, whose elements have to be lengths of an axis, or indices into it
  stop_gradient,  // the operand, to which no gradient passes
  slice,
  unfold,  // sliding windows along an axis, as a new axis (im2col)
  split,
  merge,        // copies if the operand's strides cannot be coalesced
  get_result,   // one result of an operation with several
  scan_slice,   // the operand at the current step of a scan
  scan_result,  // the carry after the last step
  // Sources.
  positions,  // 0, 1, 2, … along an axis
  length,     // the product of some axes' lengths, as float32
  // Elementwise, one operand.
  copy,  // also broadcasts
  cast,
  negate,
  exp,
  expm1,  // exp(x) - 1
  log,
  log1p,  // log(1 + x)
  sqrt,
  tanh,
  erf,
  sin,
  cos,
  round,  // to the nearest integer, ties to even
  sigmoid,
  relu,
  gelu,
  gelu_tanh,
  logical_not,
  // Elementwise, two operands.
  add,
  subtract,
  multiply,
  divide,
  maximum,
  minimum,
  pow,
  less,
  less_equal,
  equal,
  not_equal,
  logical_and,
  logical_or,
  dropout,            // (x, element_ids)
  relu_adjoint,       // (x, g)
  gelu_adjoint,       // (x, g)
  gelu_tanh_adjoint,  // (x, g)
  // Elementwise, three operands.
  where,  // (condition, then, else)
  // Reductions over axes.
  sum,
  max,
  // Rowwise: along axes, independently for each row.
  softmax,
  log_softmax,
  normalize,                // (x - mean) / sqrt(variance + epsilon)
  rms_normalize,            // x / sqrt(mean of x² + epsilon)
  cumulative_sum,           // of the elements up to this one
  reverse_cumulative_sum,   // of the elements from this one on
  softmax_adjoint,          // (y, g), y the softmax
  log_softmax_adjoint,      // (y, g), y the log_softmax; fuse_rowwise.hpp: (y, g, indices)
  normalize_adjoint,        // (x, g)
  rms_normalize_adjoint,    // (x, g)
  norm_parameter_gradient,  // (a normalization's adjoint); see attributes.hpp
  // Contraction.
  dot,
  // Fused attention, whose scores are never stored; see graph/attention.hpp.
  attention,
  attention_adjoint,
  // By index.
  top_k,        // (x): the indices of the greatest elements along an axis
  gather,       // (table, indices)
  scatter_add,  // (g, indices): the adjoint of gather
  update_rows,  // (buffer, rows, start, [count]): writes rows into the buffer
  // Rotary embedding: pairs of elements along an axis are rotated; see ops/rotate.hpp.
  rotate,          // (x, cosine, sine)
  rotate_adjoint,  // (x, g): the gradient of the cosine or of the sine
  // Assembling tensors.
  concatenate,
  pad,   // the operand at an offset, zeros elsewhere: the adjoint of slice
  fold,  // the sum of overlapping windows (col2im): the adjoint of unfold
  // Parts of a scan; see graph/graph.hpp.
  carry,
  yield,
  scan_collect,
};

inline constexpr int max_rank = 8;  // axes of one tensor, and loops of one operation

// The entry of an operation in the table; see graph/ops.hpp.
template <op>
struct op_entry;

}  // namespace weft
#include "weft/header_end.hpp"
