// The primitive operations: the kinds of nodes of a graph.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft {

// The type of a tensor's elements. Booleans are stored as one byte, 0 or 1.
enum class dtype : std::uint8_t { float32, int32, boolean };

constexpr int bytes(dtype e) {
  return e == dtype::boolean ? 1 : 4;
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
  log,
  sqrt,
  tanh,
  erf,
  sin,
  cos,
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
  softmax_adjoint,          // (y, g), y the softmax
  log_softmax_adjoint,      // (y, g), y the log_softmax; fuse_rowwise.hpp: (y, g, indices)
  normalize_adjoint,        // (x, g)
  rms_normalize_adjoint,    // (x, g)
  norm_parameter_gradient,  // (a normalisation's adjoint); see partial_sums.hpp
  // Contraction.
  dot,
  // Fused attention, whose scores are never stored; see graph/attention.hpp.
  attention,
  attention_adjoint,
  // By index.
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
  // Parts of a scan; see graph/scan.hpp.
  carry,
  yield,
  scan_collect,
};

constexpr std::string_view name_of(op o) {
  constexpr std::string_view names[]{"input",
                                     "parameter",
                                     "state",
                                     "constant",
                                     "element_ids",
                                     "rename",
                                     "slice",
                                     "unfold",
                                     "split",
                                     "merge",
                                     "get_result",
                                     "scan_slice",
                                     "scan_result",
                                     "positions",
                                     "length",
                                     "copy",
                                     "cast",
                                     "negate",
                                     "exp",
                                     "log",
                                     "sqrt",
                                     "tanh",
                                     "erf",
                                     "sin",
                                     "cos",
                                     "sigmoid",
                                     "relu",
                                     "gelu",
                                     "gelu_tanh",
                                     "logical_not",
                                     "add",
                                     "subtract",
                                     "multiply",
                                     "divide",
                                     "maximum",
                                     "minimum",
                                     "less",
                                     "less_equal",
                                     "equal",
                                     "not_equal",
                                     "logical_and",
                                     "logical_or",
                                     "dropout",
                                     "relu_adjoint",
                                     "gelu_adjoint",
                                     "gelu_tanh_adjoint",
                                     "where",
                                     "sum",
                                     "max",
                                     "softmax",
                                     "log_softmax",
                                     "normalize",
                                     "rms_normalize",
                                     "softmax_adjoint",
                                     "log_softmax_adjoint",
                                     "normalize_adjoint",
                                     "rms_normalize_adjoint",
                                     "norm_parameter_gradient",
                                     "dot",
                                     "attention",
                                     "attention_adjoint",
                                     "gather",
                                     "scatter_add",
                                     "update_rows",
                                     "rotate",
                                     "rotate_adjoint",
                                     "concatenate",
                                     "pad",
                                     "fold",
                                     "carry",
                                     "yield",
                                     "scan_collect"};
  static_assert(std::size(names) == static_cast<std::size_t>(op::scan_collect) + 1);
  return names[static_cast<int>(o)];
}

constexpr bool is_leaf(op o) {
  return o <= op::element_ids;
}
constexpr bool is_view(op o) {
  return o >= op::rename && o <= op::scan_result;
}
constexpr bool is_elementwise(op o) {
  return o >= op::copy && o <= op::where;
}
constexpr int operands_of_elementwise(op o) {
  return o == op::where ? 3 : o < op::add ? 1 : 2;
}
constexpr bool is_comparison(op o) {
  return o >= op::less && o <= op::not_equal;
}
constexpr bool is_reduction(op o) {
  return o == op::sum || o == op::max;
}
constexpr bool is_rowwise(op o) {
  return o >= op::softmax && o <= op::rms_normalize_adjoint;
}
constexpr bool is_normalization(op o) {
  return o == op::normalize || o == op::rms_normalize;
}
constexpr op adjoint_of_normalization(op o) {
  return o == op::normalize ? op::normalize_adjoint : op::rms_normalize_adjoint;
}
constexpr bool is_adjoint_of_normalization(op o) {
  return o == op::normalize_adjoint || o == op::rms_normalize_adjoint;
}
constexpr op normalization_of_adjoint(op o) {
  return o == op::normalize_adjoint ? op::normalize : op::rms_normalize;
}
// Whether a normalisation or its adjoint subtracts the mean of each row.
constexpr bool subtracts_mean(op o) {
  return o == op::normalize || o == op::normalize_adjoint;
}

// Whether the result may be computed in place, in the buffer of operand `operand` of `operands`, if
// both have the same axes, strides and bytes per element. True only if the kernels of every SIMD
// target and generated code read each element of the operand before they write the result's element
// of the same index, and never after. The memory plan reuses no other operand of an intermediate.
constexpr bool reads_before_writing(op o, int operands, int operand) {
  // A fusion group keeps its intermediates in buffers of its own.
  if (is_elementwise(o)) return true;
  switch (o) {
    // The last pass over a row reads each operand's element before it writes the result's.
    case op::softmax:
    case op::log_softmax:
    case op::softmax_adjoint:
    case op::log_softmax_adjoint:
    case op::normalize_adjoint:
    case op::rms_normalize_adjoint:
      return true;
    // (x, gain, bias, y): x + y is written into the result's row before gain and bias are read.
    case op::normalize:
    case op::rms_normalize:
      return operands < 4 || operand == 0 || operand == 3;
    default:
      return false;
  }
}

}  // namespace weft
