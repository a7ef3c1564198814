// The kernels: what each promises. They are compiled in lib/ once per SIMD target.
#pragma once

#include <cstddef>

#include "weft/kernels/attention.hpp"
#include "weft/kernels/call.hpp"
#include "weft/kernels/update.hpp"

namespace weft::kernels {

// The kernels compiled for one SIMD target. Below, r is the result, i... an index of the loops.
struct table {
  // op::copy to op::where: r[i...] = f(inputs[i...]). A stride of 0 broadcasts. With links, the
  // last of those; the result has the type of that. dropout is for chains alone; an int32 input
  // without data is the numbers of the elements, sums of index * stride.
  void (*elementwise)(const call&) noexcept;

  // sum, max: over the loops in `over`, whose stride in the result is 0. An empty sum is 0, an
  // empty max -infinity. With a second input, of float32, sum is that of the products.
  void (*reduce)(const call&) noexcept;

  // softmax to rms_normalize_adjoint: each row, the loops in `over`, by itself. A softmax row whose
  // maximum is -infinity is 0 everywhere, such a log_softmax row -infinity. Inputs, those in
  // parentheses with or without data:
  //   softmax              x, (mask): of x * scale, of -infinity where the mask does not hold
  //   (rms_)normalize      x, (gain, (bias)), (addend): of x + addend, times the gain, plus the
  //                        bias
  //   their adjoints       x, g, (gain), (addend): of g * gain; the addend is added
  //   log_softmax_adjoint  y, g, (indices): with these, each row has one element of g, which is
  //                        that of the element at its index, and one index; the others' are 0. An
  //                        index outside of the row has none
  // Where the adjoint of a normalisation has an axis_extent, its rows are cut into so many blocks
  // of rows_per_partial (graph/row_sums.hpp), in their order, and axis_stride numbers behind the
  // result's first each block has a row: the sum of g * normalize(x) over the block's rows; behind
  // these rows, in such rows, the sums of g. A block without rows has zeros.
  void (*rowwise)(const call&) noexcept;

  // dot: r[i...] = then(scale * s + a[i...] + b[i...]), with s the sum of left * right over the
  // loops that the result has stride 0 in. Every loop has a stride other than 0 in at least two of
  // result, left and right, or extent 1. a and b are operands 3 and 4, broadcast by stride; one
  // without data is left out. `then` is copy, relu, gelu, gelu_tanh, tanh or sigmoid.
  // Where `packed` is not null, it is read in place of the operand that gives the columns.
  void (*dot)(const call&) noexcept;

  // Packs the operand of a dot that gives the columns (columns_operand, if can_be_packed) for later
  // calls with the same loops along that operand, on this target: packed_bytes(call, packed_as)
  // bytes, aligned to 64. No other operand is read.
  void (*pack_dot)(const call&, std::byte* packed) noexcept;

  // attention: its result and, where they are asked for, its statistics, as attention_call says. A
  // query that sees no key has zeros. The parts of a call are of its batch and blocks of queries.
  //
  // With u = 2^-23, d the depth, k the keys, and S the largest of sum |scale * query * key| +
  // |bias| over the keys that a query sees, its results are off by at most ((d + 13) S + 7 k / 128
  // + 141) u of sum |weights * value|.
  void (*attention)(const attention_call&) noexcept;

  // The gradients of an attention for query, key and value, as attention.hpp has them, from g and
  // what the forward kernel left in result and statistics. Needs attention_adjoint_scratch_bytes.
  // Parts share the batch loops that all three gradients have.
  void (*attention_adjoint)(const attention_call&) noexcept;

  // gather: r[i...] = table[i... + axis_stride * indices[i...]]; 0 for an index outside
  // [0, axis_extent).
  void (*gather)(const call&) noexcept;

  // scatter_add: zeros over the result's loops and the indexed axis, then r[i... + axis_stride *
  // indices[i...]] += g[i...] in the order of the loops; indices outside are left out.
  void (*scatter_add)(const call&) noexcept;

  // write: r[i... + axis_stride * at[i...]] = rows[i...], where loop p is the one in `over`, in
  // which r has stride axis_stride, and with count[i...], operand 3, where p < count[i...]. Rows
  // that would lie outside of [0, axis_extent) are left out. `at` and `count`, int32, have stride 0
  // in loop p.
  void (*write)(const call&) noexcept;

  // rotate: along the loop in `over` x and r have pairs, whose second number b lies axis_stride
  // numbers behind the first, a, at r[i...]; from one pair to the next it is one number, or two
  // where axis_stride is 1. a becomes a cosine[i...] - b sine[i...], b becomes b cosine[i...] + a
  // sine[i...]. Of the axis_extent numbers of a row, those behind the pairs are copied.
  void (*rotate)(const call&) noexcept;

  // rotate_adjoint: from such pairs of x and of g, the gradient for the cosine, r[i...] = ga a + gb
  // b, where the scalar is 0, and for the sine, gb a - ga b, where it is 1.
  void (*rotate_adjoint)(const call&) noexcept;

  // positions: int32 i along the one loop.
  void (*positions)(const call&) noexcept;

  // Zero bits over the loops.
  void (*zero)(const call&) noexcept;

  void (*sgd)(const sgd_step&) noexcept;
  void (*adamw)(const adamw_step&) noexcept;
  double (*sum_of_squares)(const float* x, std::size_t n) noexcept;
};

// For the best target that this machine runs. Cheap: a few loads. To be asked for once per run.
table best() noexcept;

}  // namespace weft::kernels
